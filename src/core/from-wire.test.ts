import { expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
  TESTS_GATE,
} from "../../test/spec/given.ts";
import type { Event } from "./events.ts";
import { fromWire, toWire } from "./wire.ts";

const ONE = task("one");
const gate = { ...TESTS_GATE, env: { my_key: "1", NODE_ENV: "test" } };

test.each([
  [runStarted({ gates: [gate] })],
  [tasksObserved(ONE)],
  [iterationStarted(1, ONE)],
  [iterationEnded(1, ONE, { is: "undecided", question: "?", options: [], default: null, deadlineMs: 1 })],
  [evidence(1, ONE, ["a_b.ts"], { putBack: ["x"] })],
  [gatesChecked(1, ONE, { baseline: null })],
  [{ type: "task.reset", task: "one" }],
  [{ type: "steer.given", task: null, id: "m1", text: "be brief" }],
  [{ type: "breaker.moved", run: null, from: "OPEN", to: "HALF_OPEN", reason: "", head: null }],
  [{ type: "interventions.reset" }],
  [{ type: "wait.started", run: "r", until: Date.UTC(2026, 5, 1) + 7, why: "limit" }],
  [{ type: "calls.exhausted", run: "r", until: Number.MAX_VALUE }],
] satisfies [Event][])("what was exported comes back as it was: %j", (event) => {
  const recorded = { ...event, position: 7, at: Date.UTC(2026, 0, 1) + 123 };
  const wire: unknown = JSON.parse(JSON.stringify({ ...toWire(recorded), v: 2 }));
  const stored: unknown = JSON.parse(JSON.stringify(event));
  expect(fromWire(wire)).toEqual({ position: 7, at: recorded.at, v: 2, data: stored });
});

test("times are readable on the wire", () => {
  const until = Date.UTC(2026, 5, 1);
  const waiting = { type: "wait.started", run: "r", until, why: "", position: 1, at: 0 } as const;
  expect(toWire(waiting)).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    until: "2026-06-01T00:00:00.000Z",
  });
});

test.each([
  [null, "object"],
  [[], "object"],
  [{ at: "2026-01-01T00:00:00Z", type: "x" }, "position"],
  [{ position: 1, type: "x" }, "at"],
  [{ position: 1, at: "soon", type: "x" }, "at"],
  [{ position: 1, at: "2026-01-01T00:00:00Z" }, "type"],
  [{ position: 1, at: "2026-01-01T00:00:00Z", type: "x", v: "two" }, "v"],
])("what is no event is named: %j", (value, word) => {
  expect(fromWire(value)).toContain(word);
});
