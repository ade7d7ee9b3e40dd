import { expect, test } from "vitest";
import { statusOf } from "../../src/core/loop/task-status.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const one = task("one");
const two = task("two");
const RUN = "run-1";
const cancelled = { type: "task.cancelled", run: RUN, task: "one" } as const;
const stopped = [
  iterationEnded(1, one, "none", { ending: { is: "stopped" } }),
  evidence(1, one, []),
] as const;

test("the agent of a cancelled task is not wanted any longer", () => {
  const running = [runStarted(), tasksObserved(one, two), iterationStarted(1, one)];
  given(...running).wants("iterate:one");
  given(...running, cancelled).wants();
});

test("the others go on, and the run ends as if it had not been there", () => {
  const after = given(runStarted(), tasksObserved(one, two), iterationStarted(1, one), cancelled, ...stopped)
    .decides({ type: "verdict.reached", verdict: "failed" })
    .andThen();
  expect(statusOf(after.state, one)).toBe("cancelled");
  after.wants("iterate:two");
  const marked = { type: "task.marked", run: RUN, task: "two", commit: null, parent: null } as const;
  after
    .andThen(iterationStarted(2, two), iterationEnded(2, two, "complete"), evidence(2, two, ["two.ts"]))
    .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" })
    .andThen(marked)
    .ends("completed");
});

test("what was all there was ends the run as stopped", () => {
  given(runStarted(), tasksObserved(one), iterationStarted(1, one), cancelled, ...stopped)
    .decides({ type: "verdict.reached" })
    .andThen()
    .ends("stopped");
});

test("a later run takes it up again, the same run does not", () => {
  const before = [runStarted(), tasksObserved(one), cancelled];
  given(...before, runResumed()).ends("stopped");
  given(...before, { type: "run.ended", run: RUN, outcome: "stopped", reason: "" }, runStarted({}, "run-2"), {
    ...tasksObserved(one),
    run: "run-2",
  } as never).wants("iterate:one");
});
