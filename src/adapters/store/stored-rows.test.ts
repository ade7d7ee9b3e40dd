import { expect, test } from "vitest";
import { EVENT_VERSION } from "../../core/events.ts";
import { upcast } from "./stored-rows.ts";

test("an event of today's version is left as it is", () => {
  const event = { type: "task.reset", task: "a" };
  expect(upcast(EVENT_VERSION, event)).toEqual(event);
});

test("an event of a newer version is refused with both versions", () => {
  expect(() => upcast(EVENT_VERSION + 1, {})).toThrow(
    expect.objectContaining({
      code: "state-unusable",
      message: expect.stringContaining(
        `their version is ${EVENT_VERSION + 1}, this ralph knows ${EVENT_VERSION}`,
      ),
    }),
  );
});

test("in a run of version 2 nobody was ended for being idle, and its other limits stay", () => {
  const run = { type: "run.started", settings: { agent: "demo", limits: { maxStuck: 7 } } };
  expect(upcast(2, run)).toMatchObject({
    settings: { agent: "demo", limits: { maxStuck: 7, idleMs: 0 } },
  });
});

test("before version 3 people answered and unblocked everything, and questions had no deadline", () => {
  expect(upcast(2, { type: "question.answered", task: "a", answer: "this" })).toMatchObject({ by: "person" });
  expect(upcast(2, { type: "task.unblocked", task: "a", reason: "", timeoutMs: null })).toMatchObject({
    by: "person",
  });
  expect(upcast(2, { type: "question.asked", task: "a", question: "?", options: [] })).toMatchObject({
    default: null,
    deadlineAt: null,
  });
});

test("in a run of version 2 nothing unblocked itself, and tasks of all levels had the same limit", () => {
  expect(upcast(2, { type: "run.started", settings: {} })).toMatchObject({
    settings: { adaptiveIterations: false, unblock: { autoSuggest: false, maxAutoAttempts: 0 } },
  });
});
