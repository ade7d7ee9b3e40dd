import { expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { statusOf } from "../../src/core/loop/task-status.ts";
import type { Task } from "../../src/core/plan.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const RUN = "run-1";
const [one, two, three] = [task("one"), task("two"), task("three", { dependsOn: ["one"] })];

const lanes = (count: number): Event =>
  runStarted({ lanes: count, keepGoing: true, worktrees: { base: "main", merge: "squash" } });

const opened = ({ id }: Task): Event => ({
  type: "worktree.opened",
  run: RUN,
  task: id,
  root: `/beside/${id}`,
  branch: `ralph/${id}`,
  base: "main",
  merge: "squash",
  copied: [],
});

const about = ({ id }: Task, iteration: number): { run: string; task: string; iteration: number } => ({
  run: RUN,
  task: id,
  iteration,
});

/** Worked on and claimed, with something to show. */
const worked = (iteration: number, of: Task): readonly Event[] => [
  opened(of),
  iterationStarted(iteration, of, { lane: iteration }),
  iterationEnded(iteration, of, "complete"),
  evidence(iteration, of, [`${of.id}.ts`]),
];

test("as many tasks are worked on as there are lanes, and none before what it depends on", () => {
  given(lanes(2), tasksObserved(one, two, three)).wants("iterate:one", "iterate:two");
  given(lanes(8), tasksObserved(one, two, three)).wants("iterate:one", "iterate:two");
});

test("accepted work is not done before the base has it, and what depends on it waits", () => {
  const accepted = given(lanes(2), tasksObserved(one, three), ...worked(1, one))
    .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" })
    .andThen()
    .wants("merge:one");
  expect(statusOf(accepted.state, one)).toBe("doing");
  const merged = accepted.andThen(
    { ...about(one, 1), type: "merge.prepared", from: "h0", to: "h1" },
    { ...about(one, 1), type: "task.merged", from: "h0", to: "h1" },
  );
  expect(statusOf(merged.state, one)).toBe("done");
  merged.wants("remove-worktree:one", "iterate:three");
});

test("merges come one at a time, a begun one first", () => {
  const both = given(lanes(2), tasksObserved(one, two), ...worked(1, one))
    .andThen()
    .andThen(...worked(2, two))
    .andThen();
  expect(both.effects.filter(({ kind }) => kind === "merge-task")).toMatchObject([{ task: "one" }]);
  const begun = both.andThen({ ...about(two, 2), type: "merge.prepared", from: "h0", to: "h2" });
  expect(begun.effects.filter(({ kind }) => kind === "merge-task")).toMatchObject([{ task: "two" }]);
});

test("what does not merge goes back to its agent, with the conflict in front of the prompt", () => {
  const back = given(lanes(1), tasksObserved(one), ...worked(1, one)).andThen({
    ...about(one, 1),
    type: "merge.failed",
    base: "main",
    conflicts: ["shared.txt"],
    gates: [],
  });
  back.wants("iterate:one");
  expect(back.nextPrompt(one)).toMatch(/^[^]{0,600}does not merge into main: conflicts in shared\.txt/);
});

test("whoever was at work while the operator's checkout changed is told where to work", () => {
  const changed = given(
    lanes(2),
    tasksObserved(one, two),
    opened(one),
    opened(two),
    iterationStarted(1, one),
    iterationStarted(2, two, { lane: 2 }),
    iterationEnded(1, one, "unfinished"),
    { ...about(one, 1), type: "checkout.changed", beside: ["two"], head: null, paths: ["astray.txt"] },
    evidence(1, one, ["one.ts"]),
  ).andThen(iterationEnded(2, two, "unfinished"), evidence(2, two, ["two.ts"]));
  const after = changed.andThen();
  expect(after.nextPrompt(one)).toMatch(/checkout: astray\.txt[^]*work only in \/beside\/one/);
  expect(after.nextPrompt(two)).toMatch(/checkout: astray\.txt[^]*work only in \/beside\/two/);
});
