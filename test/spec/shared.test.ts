import { expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { ownerOf } from "../../src/core/loop/effects.ts";
import { restOf } from "../../src/core/loop/decide.ts";
import { taskState } from "../../src/core/state.ts";
import { inboxOf } from "../../src/core/views/inbox.ts";
import { submission, type Submitted } from "../../src/core/loop/submission.ts";
import type { Task } from "../../src/core/plan.ts";
import { UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
import type { Settings } from "../../src/core/settings.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "./given.ts";

const RUN = "run-1";
const [one, two] = [task("one"), task("two")];
const NOW = Date.UTC(2026, 0, 2);

const SHARED: Partial<Settings> = {
  shared: true,
  lanes: 1_000,
  keepGoing: true,
  worktrees: { base: "main", merge: "squash" },
};
const shared = (more: Partial<Settings> = {}): Event => runStarted({ ...SHARED, ...more });

const taken = ({ id }: Task, worker: string, lease: number, from: string | null = null): Event => ({
  type: "task.taken",
  run: RUN,
  task: id,
  worker,
  lease,
  from,
});

const opened = ({ id }: Task, worker: string): Event => ({
  type: "worktree.opened",
  run: RUN,
  task: id,
  root: `/${worker}/${id}`,
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

/** As far as the agent's start. */
const begun = (iteration: number, of: Task, worker: string): readonly Event[] => [
  taken(of, worker, iteration),
  opened(of, worker),
  iterationStarted(iteration, of, { worker }),
];

test("each effect has one owner: who holds the task, who merges, who keeps the rest", () => {
  const spec = given(
    shared(),
    tasksObserved(one, two),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "none"),
  );
  const owners = spec.effects.map((effect) => [effect.key, ownerOf(effect, spec.state)]);
  expect(owners).toEqual([
    ["evidence:1", "one"],
    ["iterate:two", "two"],
  ]);
});

test("a taken task's agent is nobody's any more: the iteration is closed, and the next one follows", () => {
  const spec = given(shared(), tasksObserved(one), ...begun(4, one, "a"), taken(one, "b", 9, "a"));
  spec.wants("close-orphan:4");
  expect(taskState(spec.state, "one").holder).toEqual({ worker: "b", lease: 9 });
  const closed = spec.andThen(
    iterationEnded(4, one, "none", { ending: { is: "interrupted" } }),
    evidence(4, one, []),
  );
  closed.decides({ type: "verdict.reached", verdict: "failed" });
  closed.andThen().wants("iterate:one");
});

test("what an agent claimed of work that nobody pushed is lost with its worker, wherever it is gone on with", () => {
  const ended = [shared(), tasksObserved(one), ...begun(1, one, "a"), iterationEnded(1, one, "complete")];
  for (const worker of ["a", "b"])
    given(...ended, taken(one, worker, 2, "a"), evidence(1, one, ["a.ts"])).decides({
      type: "verdict.reached",
      verdict: "failed",
    });
});

test("what was pushed is judged by whoever goes on", () => {
  given(
    shared(),
    tasksObserved(one),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "complete"),
    evidence(1, one, ["a.ts"]),
    taken(one, "b", 2, "a"),
  ).decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
});

test("a task over which three workers in a row vanished waits for a person", () => {
  const vanished = (iteration: number): readonly Event[] => [
    ...begun(iteration, one, `w${iteration}`),
    taken(one, "next", 100 + iteration, `w${iteration}`),
  ];
  const closed = (iteration: number): readonly Event[] => [
    iterationEnded(iteration, one, "none", { ending: { is: "interrupted" } }),
    evidence(iteration, one, []),
    {
      ...about(one, iteration),
      type: "verdict.reached",
      verdict: "failed",
      reasons: [],
      madeProgress: false,
      retryAt: null,
      exitSignal: null,
    },
  ];
  const twice = [shared(), tasksObserved(one), ...vanished(1), ...closed(1), ...vanished(2), ...closed(2)];
  given(...twice).wants("iterate:one");
  const thrice = given(...twice, ...vanished(3)).wants("close-orphan:3");
  const { state } = thrice;
  expect(taskState(state, "one").blockedReason).toBe(
    "3 workers in a row could not go on with it; the last one: w3 vanished",
  );
  given(...twice, ...vanished(3), ...closed(3)).wants();
  const unblocked = given(...twice, ...vanished(3), ...closed(3), {
    type: "task.unblocked",
    task: "one",
    reason: "the disk is larger now",
    timeoutMs: null,
    by: "person",
  });
  unblocked.wants("iterate:one");
});

test("a task with which three workers could not go on waits for a person, whatever is open of it", () => {
  const drop = (worker: string): readonly Event[] => [
    taken(one, worker, 1),
    { type: "task.dropped", run: RUN, task: "one", worker, why: "the disk is full" },
  ];
  const begins = [shared(), tasksObserved(one), ...begun(1, one, "a"), iterationEnded(1, one, "none")];
  given(...begins, ...drop("a"), ...drop("b")).wants("evidence:1");
  const blocked = given(...begins, ...drop("a"), ...drop("b"), ...drop("c")).wants();
  expect(taskState(blocked.state, "one").blockedReason).toBe(
    "3 workers in a row could not go on with it; the last one: c: the disk is full",
  );
});

test("an iteration that was judged shows that workers can go on with it", () => {
  const { state } = given(
    shared(),
    tasksObserved(one),
    ...begun(1, one, "a"),
    taken(one, "b", 2, "a"),
    iterationEnded(1, one, "none", { ending: { is: "interrupted" } }),
    evidence(1, one, []),
  )
    .andThen(iterationStarted(2, one), iterationEnded(2, one, "none"), evidence(2, one, ["a.ts"]))
    .andThen();
  expect(taskState(state, "one").drops).toBe(0);
});

test("a session goes on only where it was begun", () => {
  const ended = [
    ...begun(1, one, "a"),
    iterationEnded(1, one, "none", { sessionId: "s1" }),
    evidence(1, one, ["a.ts"]),
  ];
  const spec = given(shared(), tasksObserved(one), ...ended).andThen();
  expect(spec.nextSession(one)).toBeNull();
});

test("a shared run waits where one alone would end, and ends when everything is done", () => {
  const asked: Event = {
    ...about(one, 1),
    type: "question.asked",
    question: "which?",
    options: [],
    default: null,
    deadlineAt: null,
  };
  const spec = given(
    shared(),
    tasksObserved(one),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "none"),
    evidence(1, one, ["a.ts"]),
  ).andThen(asked);
  spec.wants();
  expect(restOf(spec.state, NOW)).toMatchObject({ outcome: "undecided" });
  const answered = spec.andThen({ type: "question.answered", task: "one", answer: "this", by: "person" });
  answered.wants("iterate:one");
  expect(restOf(answered.state, NOW)).toBeNull();
  given(shared(), tasksObserved(task("one", { done: true }))).ends("completed");
  given(shared(), tasksObserved(one), { type: "stop.requested", run: RUN, urgency: "after-iteration" }).ends(
    "stopped",
  );
});

test("with a budget the first iteration goes alone, and what runs beside counts as the dearest so far", () => {
  const budget = { ...settings().limits, budget: { run: 1, task: null, day: null } };
  const first = given(shared({ limits: budget }), tasksObserved(one, two), ...begun(1, one, "a"));
  first.wants("iterate:one");
  const cost = (usd: number) => ({ usage: { ...UNKNOWN_USAGE, costUsd: usd } });
  const known = first
    .andThen(iterationEnded(1, one, "none", cost(0.3)), evidence(1, one, ["a.ts"]))
    .andThen(iterationStarted(2, one));
  known.wants("iterate:one", "iterate:two");
  const dear = first.andThen(iterationEnded(1, one, "none", cost(0.6)), evidence(1, one, ["a.ts"])).andThen();
  expect(restOf(dear.state, NOW)).toMatchObject({ outcome: "limited" });
});

const submitted = (tasks: readonly Task[], more: Partial<Settings> = {}): Submitted => ({
  run: "run-2",
  settings: settings({ ...SHARED, ...more }),
  plan: { source: settings(more).source, tasks },
  pid: 1,
  version: "0",
  head: null,
});
const other: Partial<Settings> = { source: { kind: "checklist", label: "OTHER.md", path: "OTHER.md" } };
const types = (answer: ReturnType<typeof submission>): readonly string[] =>
  "events" in answer ? answer.events.map(({ type }) => type) : [];

test("tasks that are submitted begin a run, and a second time nothing", () => {
  const answer = submission(given().state, submitted([one]), NOW);
  expect(answer.is).toBe("begun");
  expect(types(answer)).toEqual(["run.started", "tasks.observed"]);
  const spec = given(shared(), tasksObserved(one));
  expect(submission(spec.state, submitted([one]), NOW)).toEqual({ is: "known" });
});

test("further tasks join the run that is under way; those of another source wait", () => {
  const spec = given(shared(), tasksObserved(one));
  const answer = submission(spec.state, submitted([one, two]), NOW);
  expect([answer.is, types(answer)]).toEqual(["added", ["tasks.observed"]]);
  expect(submission(spec.state, submitted([two], other), NOW).is).toBe("refused");
});

test("what is done stays done, also a goal that is submitted again", () => {
  const goal = { source: { kind: "goal", label: "Do one", path: null } } as const;
  for (const more of [{}, goal]) {
    const done = given(
      shared(more),
      { type: "tasks.observed", run: RUN, plan: { source: { ...settings(), ...more }.source, tasks: [one] } },
      ...begun(1, one, "a"),
      iterationEnded(1, one, "complete"),
      evidence(1, one, ["a.ts"]),
    )
      .andThen()
      .andThen(
        { ...about(one, 1), type: "merge.prepared", from: "h0", to: "h1" },
        { ...about(one, 1), type: "task.merged", from: "h0", to: "h1" },
        { type: "worktree.removed", run: RUN, task: "one" },
        { type: "run.ended", run: RUN, outcome: "completed", reason: "every task is done" },
      );
    expect(submission(done.state, submitted([one], more), NOW)).toEqual({ is: "known" });
  }
});

test("a task of another list is to do, whatever the last list had done under its id", () => {
  const merged = given(
    shared(),
    tasksObserved(one),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "complete"),
    evidence(1, one, ["a.ts"]),
  )
    .andThen()
    .andThen(
      { ...about(one, 1), type: "task.merged", from: "h0", to: "h1" },
      { type: "worktree.removed", run: RUN, task: "one" },
      { type: "run.ended", run: RUN, outcome: "completed", reason: "every task is done" },
    );
  const answer = submission(merged.state, submitted([one], other), NOW);
  expect(answer.is).toBe("begun");
  merged.andThen(...("events" in answer ? answer.events : [])).wants("iterate:one");
});

test("a merge that is held up is tried again when its tasks are submitted again", () => {
  const held = given(
    shared(),
    tasksObserved(one),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "complete"),
    evidence(1, one, ["a.ts"]),
  )
    .andThen()
    .andThen({ ...about(one, 1), type: "merge.held", why: "main is protected" });
  const answer = submission(held.state, submitted([one]), NOW);
  expect([answer.is, types(answer)]).toEqual(["begun", ["run.ended", "run.started", "tasks.observed"]]);
  expect(inboxOf(held.state)).toMatchObject([{ task: "one", kind: "blocked" }]);
});

test("a run that nobody can go on with is over when tasks are submitted anew", () => {
  const exhausted = given(
    shared({ limits: { ...settings().limits, maxIterations: 1 } }),
    tasksObserved(one),
    ...begun(1, one, "a"),
    iterationEnded(1, one, "none"),
    evidence(1, one, ["a.ts"]),
  ).andThen();
  const answer = submission(exhausted.state, submitted([one]), NOW);
  expect([answer.is, types(answer)]).toEqual(["begun", ["run.ended", "run.started", "tasks.observed"]]);
});
