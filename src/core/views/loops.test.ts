import { expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import { activeLoops, loopEntry } from "./status.ts";

const A = task("a", { promise: "A_IS_DONE" });
const BEGUN = [runStarted(), tasksObserved(A, task("b")), iterationStarted(1, A)];

test("a loop is listed with what its agent has to print", () => {
  expect(activeLoops(given(...BEGUN).state).map(loopEntry)).toEqual([
    {
      task_id: "a",
      stage: "build",
      iteration: 1,
      max_iterations: 30,
      started_at: "2026-01-01T00:00:00.002Z",
      completion_promise: "A_IS_DONE",
    },
  ]);
});

test("of a run that has ended nothing is active", () => {
  const ended = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "" } as const;
  expect(activeLoops(given(...BEGUN, ended).state)).toEqual([]);
  expect(activeLoops(given().state)).toEqual([]);
});

test("it began with its first iteration, and is active while the next one is waited for", () => {
  const failure = { class: "transient", message: "503" } as const;
  const second = [iterationStarted(2, A), iterationEnded(2, A, "none", { failure }), evidence(2, A, [])];
  const first = given(...BEGUN, iterationEnded(1, A, "none"), evidence(1, A, ["x.ts"]));
  const waiting = first.andThen(...second).andThen();
  const began = { startedAt: Date.UTC(2026, 0, 1) + 2 };
  expect(activeLoops(first.andThen(iterationStarted(2, A)).state)).toMatchObject([
    { iteration: 2, ...began },
  ]);
  expect(waiting.state.iterations).toEqual([]);
  expect(activeLoops(waiting.state)).toMatchObject([{ task: "a", iteration: 1, ...began }]);
});
