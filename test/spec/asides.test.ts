import { describe, expect, test } from "vitest";
import type { Event, EventOf } from "../../src/core/events.ts";
import { workInWords } from "../../src/core/views/explain-words.ts";
import type { Settings } from "../../src/core/settings.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "./given.ts";

const RUN = "run-1";
const [one, two] = [task("one"), task("two")];

const git = { commit: "ralph", hooks: false, unaccepted: "aside" } as const;
const starts = (more: Partial<Settings> = {}): Event => runStarted({ git, keepGoing: true, ...more });
const about = { run: RUN, task: "one" } as const;

/** The first task has work on the branch, and makes no claim. */
const worked: readonly Event[] = [
  iterationStarted(1, one),
  iterationEnded(1, one, "none"),
  evidence(1, one, ["one.ts"]),
];
const says = (claim: "blocked" | "undecided"): readonly Event[] => [
  iterationStarted(1, one),
  iterationEnded(1, one, claim),
  evidence(1, one, ["one.ts"]),
];

const workedOnTwo: readonly Event[] = [
  iterationStarted(2, two),
  iterationEnded(2, two, "none"),
  evidence(2, two, ["two.ts"]),
];

const aside = "ralph/aside/one";
const leaving: Event = {
  ...about,
  type: "work.leaving",
  aside,
  branch: "main",
  base: "h0",
  head: "h1",
  left: [],
};
const left: Event = { ...about, type: "work.left", aside };
const returning = (to: string, from = "h0"): Event => ({
  ...about,
  type: "work.returning",
  branch: "main",
  from,
  to,
});
const returned: Event = { ...about, type: "work.returned" };
const refused: Event = { ...about, type: "work.refused", aside, why: "it conflicts with later work in a.ts" };
const unblocked: Event = {
  type: "task.unblocked",
  task: "one",
  reason: "try",
  timeoutMs: null,
  by: "person",
};
const marked = (of: string, commit: string | null, parent: string | null): Event => ({
  type: "task.marked",
  run: RUN,
  task: of,
  commit,
  parent,
});
const published: Event = {
  type: "letter.published",
  task: "one",
  kind: "blocked",
  file: "blocked.txt",
  sha256: "",
};
const withdrawn: Event = { type: "letter.withdrawn", task: "one", file: "blocked.txt" };

const begun = given(starts(), tasksObserved(one, two), ...worked).andThen();
const blocked = given(starts(), tasksObserved(one, two), ...says("blocked")).andThen(published);
const isAside = given(starts(), tasksObserved(one, two), ...says("blocked")).andThen(
  published,
  leaving,
  left,
);

describe("work that was not accepted leaves the operator's branch", () => {
  test("when its task is blocked, before another one begins", () => {
    blocked.wants("set-aside:one");
    blocked.andThen(leaving).wants("set-aside:one").andThen(left).wants("iterate:two");
  });

  test("when its task asks", () => {
    const asks = given(starts(), tasksObserved(one, two), ...says("undecided")).andThen({
      ...published,
      kind: "decide",
      file: "decide.txt",
    });
    asks.wants("set-aside:one");
  });

  test("when its task is used up, has failed, or was cancelled", () => {
    const reasons: readonly Event[] = [
      { ...about, type: "task.exhausted", iteration: 1, iterations: 1, why: "" } as never,
      { ...about, type: "task.failed", iteration: 1, reason: "" } as never,
      { ...about, type: "task.cancelled" },
    ];
    for (const reason of reasons) begun.andThen(reason).wants("set-aside:one");
  });

  test("when its agent is suspended, and nobody stands in for it", () => {
    begun
      .andThen(
        {
          ...about,
          iteration: 1,
          type: "agent.suspended",
          agent: "stub",
          reason: "",
          stuckCount: 3,
        } as never,
        { ...about, iteration: 1, type: "task.blocked", reason: "the agent stub was suspended" },
        published,
      )
      .wants("set-aside:one");
  });

  test("when a person takes its task off the list", () => {
    begun.andThen(tasksObserved(two)).wants("set-aside:one");
  });

  test("when another task begins before it is done", () => {
    begun.andThen(tasksObserved(task("urgent", { priority: 1 }), one)).wants("iterate:one");
    given(starts({ onlyTasks: ["two"] }), tasksObserved(one, two), ...worked)
      .andThen()
      .wants("set-aside:one")
      .andThen(leaving, left)
      .wants("iterate:two");
  });

  test("its own next iteration goes on with it", () => {
    begun.wants("iterate:one");
    begun.andThen(runResumed({ git, keepGoing: true })).wants("iterate:one");
  });

  test("not when the run is stopped, is killed, or has reached a limit of its own", () => {
    begun.andThen({ type: "stop.requested", run: RUN, urgency: "after-iteration" }).ends("stopped");
    const limits = { ...settings().limits, maxIterations: 1 };
    given(starts({ limits }), tasksObserved(one, two), ...worked)
      .andThen()
      .ends("exhausted");
    const budget = { ...settings().limits, budget: { run: 0.01, task: null, day: null } };
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 1 };
    given(
      starts({ limits: budget }),
      tasksObserved(one, two),
      iterationStarted(1, one),
      iterationEnded(1, one, "none", { usage: { ...usage } as never }),
      evidence(1, one, ["one.ts"]),
    )
      .andThen()
      .andThen()
      .ends("limited");
    // Killed while its agent worked.
    given(starts(), tasksObserved(one, two), iterationStarted(1, one), runResumed({ git })).wants(
      "close-orphan:1",
    );
  });

  test("a stopped run still takes off what its task has left behind", () => {
    blocked.andThen({ type: "stop.requested", run: RUN, urgency: "now" }).wants("set-aside:one");
  });

  test("nothing leaves where there is no work", () => {
    given(
      starts(),
      tasksObserved(one, two),
      iterationStarted(1, one),
      iterationEnded(1, one, "blocked"),
      evidence(1, one, []),
    )
      .andThen(published)
      .wants("iterate:two");
  });

  test("files that must not be committed stay, and are still known as the task's", () => {
    const secret = { path: ".env", look: "1" };
    const other = { path: "gone.txt", look: "1" };
    const spec = given(
      starts(),
      tasksObserved(one, two),
      iterationStarted(1, one),
      iterationEnded(1, one, "blocked"),
      evidence(1, one, ["one.ts"], { uncommitted: [secret, other] }),
    ).andThen(published, { ...leaving, left: [".env"] }, left);
    expect(spec.state.leftovers[""]?.byAgents).toEqual([secret]);
  });

  test("files that stay are not held against another agent, which has to commit all of its own", () => {
    const secret = { path: ".env", look: "1" };
    const agentCommits = { ...git, commit: "agent" } as const;
    const claims = (look: string): Event[] => [
      iterationStarted(2, two),
      iterationEnded(2, two, "complete"),
      evidence(2, two, ["two.ts"], { uncommitted: [{ ...secret, look }] }),
    ];
    const spec = given(
      starts({ git: agentCommits }),
      tasksObserved(one, two),
      iterationStarted(1, one),
      iterationEnded(1, one, "blocked"),
      evidence(1, one, ["one.ts"], { uncommitted: [secret] }),
    ).andThen(published, { ...leaving, left: [".env"] }, left);
    expect(spec.andThen(...claims("1")).effects).toMatchObject([{ events: [{ verdict: "accepted" }, {}] }]);
    expect(spec.andThen(...claims("2")).effects).toMatchObject([{ events: [{ verdict: "rejected" }, {}] }]);
  });

  test("with git.unaccepted = keep everything stays", () => {
    const keep = { ...git, unaccepted: "keep" } as const;
    const kept = given(starts({ git: keep }), tasksObserved(one, two), ...says("blocked")).andThen(published);
    kept.wants("iterate:two");
    given(starts({ git: { commit: "ralph", hooks: false } }), tasksObserved(one, two), ...says("blocked"))
      .andThen(published)
      .wants("set-aside:one");
  });

  test("with keep, what an earlier run set aside still comes back", () => {
    const keep = { ...git, unaccepted: "keep" } as const;
    isAside.andThen(runResumed({ git: keep, keepGoing: true }), unblocked, withdrawn).wants("bring-back:one");
  });
});

describe("work that is aside", () => {
  const goesOn = isAside.andThen(unblocked, withdrawn);

  test("comes back before its task goes on, and its agent is told", () => {
    goesOn.wants("bring-back:one");
    goesOn.andThen(returning("h1")).wants("bring-back:one");
    const back = goesOn.andThen(returning("h1"), returned).wants("iterate:one");
    const prompt = back.nextPrompt(one);
    expect(prompt).toContain("## Work so far\nChanged so far: one.ts (`git diff h0`)");
  });

  test("counts as its task's work again, from where it is now", () => {
    const { workBase, work } = goesOn.andThen(returning("h9", "h5"), returned).state.tasks["one"] ?? {};
    expect(work).toEqual({ is: "in-place", branch: "main" });
    expect(workBase).toMatchObject({ first: "h5", base: "h5", head: "h9" });
    goesOn
      .andThen(returning("h9", "h5"), returned, {
        ...about,
        type: "task.blocked",
        iteration: 1,
        reason: "again",
      })
      .wants("set-aside:one", "publish");
  });

  test("comes back after an answer", () => {
    given(starts(), tasksObserved(one), ...says("undecided"))
      .andThen({ ...published, kind: "decide", file: "decide.txt" }, leaving, left, {
        type: "question.answered",
        task: "one",
        answer: "that",
        by: "person",
      })
      .wants("bring-back:one");
  });

  test("that no longer applies stays there, and its agent is told where", () => {
    const told = goesOn.andThen(refused).wants("iterate:one");
    const prompt = told.nextPrompt(one);
    expect(prompt).toContain(`is on the branch ${aside}, and not in the work tree: it conflicts with`);
    expect(prompt).toContain("git diff h0 h1");
    expect(told.state.tasks["one"]).toMatchObject({ workBase: null, work: { is: "refused", aside } });
  });

  test("tries again when the branch moved while it returned", () => {
    goesOn.andThen(returning("h9", "h5"), left).wants("bring-back:one");
  });

  test("makes other unaccepted work leave first", () => {
    isAside
      .andThen(...workedOnTwo)
      .andThen(unblocked, withdrawn, runResumed({ git, onlyTasks: ["one"] }))
      .wants("set-aside:two");
  });

  test("is given up when a person discards it: its task begins anew", () => {
    const discarded = goesOn.andThen({ type: "work.discarded", task: "one", head: "h1" });
    discarded.wants("iterate:one");
    expect(discarded.state.tasks["one"]).toMatchObject({ work: null, workBase: null, feedback: [] });
  });
});

describe("work that cannot leave", () => {
  const stays = (why: string | null): Event => ({ ...about, type: "work.stayed", why });

  test("stays, which is said, and others go on", () => {
    const event = stays("somebody else has moved the branch");
    blocked.andThen(event).wants("iterate:two");
    expect(workInWords(event as EventOf<"work.stayed">)).toBe(
      "its unaccepted work stays on your branch: somebody else has moved the branch",
    );
  });

  test("goes on in place when its task does", () => {
    blocked.andThen(stays("files are in the way"), unblocked, withdrawn).wants("iterate:one");
  });

  test("is no news when there was none", () => {
    expect(workInWords(stays(null) as EventOf<"work.stayed">)).toBe(null);
  });
});

describe("aside work that a person accepts", () => {
  const certificate = { base: "h0", criteria: [], concerns: [] } as never;
  const asked: Event = {
    ...about,
    type: "question.asked",
    iteration: 1,
    question: "the old checks fail: accept?",
    options: ["accept", "reject"],
    default: null,
    deadlineAt: null,
    acceptance: { is: "completion", commit: "h1", certificate },
  };
  const inboxFile = { ...published, kind: "decide", file: "decide.txt" } as Event;
  const accepts: Event = { type: "question.answered", task: "one", answer: "accept", by: "person" };
  const waiting = given(starts(), tasksObserved(one, two), ...worked).andThen(
    asked,
    inboxFile,
    leaving,
    left,
  );

  test("comes back, and is complete without another agent", () => {
    waiting.andThen(accepts).wants("bring-back:one");
    waiting
      .andThen(accepts, returning("h9", "h5"), returned)
      .decides({ type: "task.completed", commit: "h9", certificate: { base: "h5" } as never });
  });

  test("waits for unaccepted work of another task to leave", () => {
    const other = waiting.andThen(...workedOnTwo).andThen();
    other.andThen(accepts).wants("set-aside:two");
  });

  test("goes to its agent when it no longer applies", () => {
    const told = waiting
      .andThen(accepts, refused, { type: "letter.withdrawn", task: "one", file: "decide.txt" })
      .wants("iterate:one");
    expect(told.nextPrompt(one)).toContain(aside);
  });

  test("comes back as feedback for its agent when a person rejects it", () => {
    waiting
      .andThen({ type: "question.answered", task: "one", answer: "reject: keep the test", by: "person" })
      .wants("bring-back:one");
  });
});

test("a mark on top of unaccepted work is no commit of somebody else's", () => {
  const footed = begun.andThen(marked("two", "m2", "h1"));
  expect(footed.state.tasks["one"]?.workBase).toMatchObject({ base: "h0", head: "m2" });
});

test("unaccepted work of a task whose counters are reset is not forgotten", () => {
  const reset: Event = { type: "task.reset", task: "one" };
  begun.andThen(reset, runResumed({ git, onlyTasks: ["two"] })).wants("set-aside:one");
  isAside.andThen(reset, withdrawn).wants("bring-back:one");
});

test("a task that a person ticks keeps its work on the branch", () => {
  begun.andThen(tasksObserved({ ...one, done: true }, two)).wants("iterate:two");
});

describe("in lanes", () => {
  const worktrees = { base: "main", merge: "squash" } as const;
  const lanes = starts({ lanes: 2, worktrees });
  const opened: Event = {
    ...about,
    type: "worktree.opened",
    root: "/beside/one",
    branch: "ralph/one",
    base: "main",
    merge: "squash",
    copied: [],
  };

  test("the branch of a task has its work, and no branch is moved", () => {
    given(lanes, tasksObserved(one, two), opened, ...says("blocked"))
      .andThen(published)
      .wants("iterate:two");
  });

  test("what an earlier run left in place leaves first, and comes back in its worktree", () => {
    const later = begun.andThen(runResumed({ git, keepGoing: true, lanes: 2, worktrees }));
    later.wants("set-aside:one");
    const away = later.andThen(leaving, left).wants("bring-back:one", "iterate:two");
    const back = away.andThen(opened, { ...returning("h9"), branch: "ralph/one" } as Event, returned);
    expect(back.state.tasks["one"]).toMatchObject({ work: null, workBase: { head: "h9" } });
    back.wants("iterate:one", "iterate:two");
  });
});
