import { expect, test } from "vitest";
import {
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import { keyValues, providersOf, type Span, spanIdOf, traceIdOf } from "./otlp.ts";
import { RunTelemetry } from "./run-telemetry.ts";

const A = task("a");

function history(worker?: string): readonly Event[] {
  const by = worker === undefined ? {} : { worker };
  return [
    runStarted(),
    tasksObserved(A),
    iterationStarted(1, A, by),
    iterationEnded(1, A, "none"),
    {
      type: "verdict.reached",
      run: runOf(iterationStarted(1, A)),
      task: "a",
      iteration: 1,
      verdict: "continue",
      reasons: [],
      madeProgress: true,
      retryAt: null,
      exitSignal: null,
    },
    {
      type: "run.ended",
      run: runOf(iterationStarted(1, A)),
      outcome: "exhausted",
      reason: "no more",
      ...by,
    },
  ];
}

function runOf(event: Event): string {
  return "run" in event && event.run !== null ? event.run : "";
}

/** What one process makes of a history. */
function told(events: readonly Event[], worker?: string): { spans: readonly Span[]; metrics: string } {
  const telemetry = new RunTelemetry((agent) => agent, worker);
  const spans: Span[] = [];
  let state = EMPTY_STATE;
  for (const [index, event] of events.entries()) {
    const recorded: Recorded = { ...event, position: index + 1, at: 1_000 * index };
    state = evolve(state, recorded);
    spans.push(...telemetry.see(recorded, state));
  }
  return { spans, metrics: JSON.stringify(telemetry.collect(0, 1)) };
}

test("a run is the root, a task lies below it, an iteration below that", () => {
  const { spans } = told(history());
  expect(spans.map(({ name }) => name)).toEqual([
    "iteration 1",
    expect.stringMatching(/^invoke_agent /),
    "signals",
    "verdict",
    "ralph run",
    "task a",
  ]);
  const root = spans.find(({ name }) => name === "ralph run");
  expect(root?.parentId).toBeNull();
  expect(spans.find(({ name }) => name === "task a")?.parentId).toBe(root?.spanId);
});

test("of a run that workers share everybody tells their own part, and together they tell it once", () => {
  const own = told(history("one"), "one");
  const others = told(history("one"), "two");
  expect(own.spans).toHaveLength(6);
  expect(others.spans).toEqual([]);
  expect(own.metrics).toContain("ralph.iterations");
  expect(others.metrics).toBe("[]");
});

test("ids are the same in every process, and differ for different things", () => {
  expect(told(history()).spans).toEqual(told(history()).spans);
  const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  expect(traceIdOf(uuid)).toBe("0f8fad5bd9cb469fa16570867728950e");
  expect(traceIdOf("not a uuid")).toMatch(/^[0-9a-f]{32}$/);
  const ids = Array.from({ length: 5_000 }, (_, number) => spanIdOf(uuid, "iteration", number, "verdict"));
  expect(new Set(ids).size).toBe(5_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
});

test("providers have the names of the conventions where these have some", () => {
  const agent = (name: string, format: string) => ({ name, format }) as never;
  const providerOf = providersOf([agent("claude", "claude"), agent("mine", "codex"), agent("odd", "text")]);
  expect(["claude", "mine", "odd", "unknown"].map(providerOf)).toEqual([
    "anthropic",
    "openai",
    "odd",
    "unknown",
  ]);
});

test("attributes are written as the protocol has them, and what is unknown is left out", () => {
  const attributes = { s: "x", i: 3, d: 1.5, b: false, none: null, gone: undefined, usd: { double: 2 } };
  expect(keyValues(attributes)).toEqual([
    { key: "s", value: { stringValue: "x" } },
    { key: "i", value: { intValue: "3" } },
    { key: "d", value: { doubleValue: 1.5 } },
    { key: "b", value: { boolValue: false } },
    { key: "usd", value: { doubleValue: 2 } },
  ]);
});
