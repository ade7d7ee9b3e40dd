import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
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

const login = task("login");
const limits = (more: Partial<Settings["limits"]>): Partial<Settings> => ({
  limits: { ...settings().limits, ...more },
});

/** Plays iterations that each end in the same way, judged by the loop itself. */
function after(
  count: number,
  how: (number: number) => readonly Event[],
  start: readonly Event[],
): ReturnType<typeof given> {
  let spec = given(...start);
  for (let number = 1; number <= count; number += 1) spec = spec.andThen(...how(number)).andThen();
  return spec;
}

const withoutThresholds = {
  ...settings().interventions,
  thresholdNoFiles: 0,
  thresholdFalseCompletion: 0,
};

const idle = (number: number): readonly Event[] => [
  iterationStarted(number, login),
  iterationEnded(number, login, "none"),
  evidence(number, login, []),
];

const rejectedWithProgress = (number: number): readonly Event[] => [
  iterationStarted(number, login),
  iterationEnded(number, login, "complete"),
  evidence(number, login, ["a.ts"], { strayedTo: "other" }),
];

const timedOut = (number: number): readonly Event[] => [
  iterationStarted(number, login),
  iterationEnded(number, login, "none", {
    ending: { is: "timed-out", afterMs: 900_000 },
    failure: { class: "agent", message: "no end after 900 s" },
  }),
  evidence(number, login, []),
];

const silent = (number: number): readonly Event[] => [
  iterationStarted(number, login),
  iterationEnded(number, login, "none", {
    ending: { is: "idle", afterMs: 600_000 },
    failure: { class: "agent", message: "no sign of life for 10m" },
  }),
  evidence(number, login, []),
];

const serviceDown = (number: number): readonly Event[] => [
  iterationStarted(number, login, { ordinal: 1 }),
  iterationEnded(number, login, "none", {
    ending: { is: "exited", code: 1 },
    failure: { class: "transient", message: "503" },
  }),
  evidence(number, login, []),
];

describe("a run without progress", () => {
  test("ends as stuck after so many iterations in a row", () => {
    after(2, idle, [runStarted(), tasksObserved(login)]).wants("iterate:login");
    after(3, idle, [runStarted(), tasksObserved(login)]).ends("stuck");
  });

  test("goes on for as long as it is allowed when the brake is off", () => {
    const unbraked = { ...limits({ maxStuck: 0 }), interventions: withoutThresholds };
    after(6, idle, [runStarted(unbraked), tasksObserved(login)]).wants("iterate:login");
  });

  test("starts counting anew after progress", () => {
    const worked = [
      iterationStarted(3, login),
      iterationEnded(3, login, "none"),
      evidence(3, login, ["a.ts"]),
    ];
    const spec = after(2, idle, [runStarted({ interventions: withoutThresholds }), tasksObserved(login)])
      .andThen(...worked)
      .andThen();
    spec
      .andThen(...idle(4))
      .andThen(...idle(5))
      .andThen()
      .wants("iterate:login");
  });

  test("blocks the task and takes up the next when it should keep going", () => {
    const other = task("other");
    after(3, idle, [runStarted({ keepGoing: true }), tasksObserved(login, other)])
      .wants("publish")
      .andThen({ type: "letter.published", task: "login", kind: "blocked", file: "blocked.txt", sha256: "" })
      .wants("iterate:other");
  });
});

describe("a run that keeps going past a task without progress", () => {
  const other = task("other");
  const inboxFile = {
    type: "letter.published",
    task: "login",
    kind: "blocked",
    file: "f",
    sha256: "",
  } as const;
  const stuck = after(3, idle, [runStarted({ keepGoing: true }), tasksObserved(login, other)]).andThen(
    inboxFile,
  );
  const done = (id: string): Event => tasksObserved(login, task(id, { done: true }));

  test("ends as stuck when everything else is done", () => {
    stuck.andThen(done("other")).ends("stuck");
  });

  test("ends as blocked when another task is blocked for another reason", () => {
    const blocked = {
      type: "task.blocked",
      run: "run-1",
      iteration: 4,
      task: "other",
      reason: "no key",
    } as const;
    const told = { ...inboxFile, task: "other" } as const;
    stuck.andThen(blocked, told).ends("blocked");
  });

  test("ends as undecided when another task asks", () => {
    const asked = {
      type: "question.asked",
      run: "run-1",
      iteration: 4,
      task: "other",
      question: "which?",
      options: [],
      default: null,
      deadlineAt: null,
    } as const;
    stuck.andThen(asked, { ...inboxFile, task: "other", kind: "decide" }).ends("undecided");
  });

  test("works on the task again after a person unblocked it", () => {
    const unblocked = {
      type: "task.unblocked",
      task: "login",
      reason: "",
      timeoutMs: null,
      by: "person",
    } as const;
    const freed = stuck.andThen(done("other"), unblocked, {
      type: "letter.withdrawn",
      task: "login",
      file: "f",
    });
    freed.wants("iterate:login");
  });

  test("counts a task blocked by failures with progress as blocked", () => {
    after(3, rejectedWithProgress, [runStarted({ keepGoing: true }), tasksObserved(login)])
      .andThen(inboxFile)
      .ends("blocked");
  });
});

describe("a run that stays", () => {
  const asked = {
    type: "question.asked",
    run: "run-1",
    iteration: 1,
    task: "login",
    question: "which?",
    options: [],
    default: null,
    deadlineAt: null,
  } as const;
  const inboxFile = {
    type: "letter.published",
    task: "login",
    kind: "decide",
    file: "f",
    sha256: "",
  } as const;
  const staying = (more: Partial<Settings> = {}): ReturnType<typeof given> =>
    given(runStarted({ keepGoing: true, stay: true, ...more }), tasksObserved(login), asked, inboxFile);

  test("waits for a person when nothing else is open, and says so once", () => {
    const waiting = staying().decides({ type: "wait.started", until: null }).andThen();
    expect(waiting.effects).toEqual([]);
    expect(waiting.wakeAt).not.toBeNull();
  });

  test("goes on with the answer", () => {
    const answer = { type: "question.answered", task: "login", answer: "this", by: "person" } as const;
    staying().andThen(answer).wants("iterate:login");
  });

  test("ends when asked to stop", () => {
    staying().andThen({ type: "stop.requested", run: "run-1", urgency: "after-iteration" }).ends("stopped");
  });

  test("ends where no iteration is left, or its time is over", () => {
    staying(limits({ maxIterations: 0 })).ends("undecided");
    const timed = staying(limits({ maxDurationMs: 60_000 }));
    expect(timed.at(30_000).andThen().at(30_000).wakeAt).toBe(60_000);
    timed.at(61_000).ends("undecided");
  });

  test("ends when everything is done", () => {
    const waiting = staying().andThen();
    waiting.andThen(tasksObserved(task("login", { done: true }))).ends("completed");
  });
});

describe("a task that fails again and again", () => {
  test("is blocked when it makes progress and is rejected each time", () => {
    const spec = after(3, rejectedWithProgress, [runStarted(), tasksObserved(login)]);
    expect(spec.state.tasks["login"]?.blockedReason).toMatch(/^3 failed iterations in a row; the last: /);
  });

  test.each([
    ["timeouts", timedOut],
    ["silences", silent],
  ])("is blocked by %s, which do not count as stuck", (_, how) => {
    const spec = after(3, how, [runStarted(), tasksObserved(login)]);
    expect(spec.state.run?.stuckCount).toBe(0);
    expect(spec.state.tasks["login"]?.blockedReason).toMatch(/^3 failed iterations in a row; the last: /);
  });
});

describe("an agent that was ended without a sign of life", () => {
  const start = [runStarted(), tasksObserved(login)];

  test("is told so in its next prompt", () => {
    given(...start)
      .andThen(...silent(1))
      .decides(
        {
          type: "verdict.reached",
          verdict: "failed",
          reasons: [{ rule: "idle", sentence: "no sign of life for 10m" }],
        },
        { type: "intervention.chosen", intervention: "timeout", rule: "idle" },
      );
  });

  test("gets no more time than before", () => {
    const timeouts = (how: typeof silent): unknown => after(1, how, start).state.tasks["login"]?.timeouts;
    expect(timeouts(silent)).toBe(0);
    expect(timeouts(timedOut)).toBe(1);
  });
});

describe("the limit of a run", () => {
  test("is exact", () => {
    const start = [runStarted(limits({ maxIterations: 2, maxStuck: 0 })), tasksObserved(login)];
    after(1, idle, start).wants("iterate:login");
    after(2, idle, start).ends("exhausted");
  });
});

describe("the limit of a task", () => {
  const few = task("login", { maxIterations: 2 });

  test("sends it back for this run, and the failure is recorded", () => {
    const last = given(runStarted(), tasksObserved(few), ...idle(1)).andThen(...idle(2));
    last.decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen" },
      { type: "task.exhausted", iterations: 2 },
    );
    last.andThen().ends("exhausted");
  });

  test("used up in three runs blocks it", () => {
    const exhausted = {
      type: "task.exhausted",
      run: "earlier",
      task: "login",
      iteration: 1,
      iterations: 2,
      lastOutput: "",
    } as const;
    given(exhausted, exhausted, runStarted(), tasksObserved(few), ...idle(1))
      .andThen(...idle(2))
      .decides(
        { type: "verdict.reached" },
        { type: "intervention.chosen" },
        { type: "task.exhausted" },
        { type: "task.blocked", reason: "its iteration limit was used up in 3 runs" },
      );
  });

  test("that is lowered below what is used up begins anew", () => {
    const used = given(runStarted(), tasksObserved(login), ...idle(1))
      .andThen(...idle(2))
      .andThen();
    const lowered = used.andThen(tasksObserved(few));
    lowered.wants("iterate:login");
    expect(lowered.nextOrdinal(few)).toBe(1);
    expect(used.nextOrdinal(login)).toBe(3);
  });

  test("leaves out an iteration that was interrupted", () => {
    const cut = { ending: { is: "interrupted" } } as const;
    const killed = [iterationStarted(1, few), iterationEnded(1, few, "none", cut), evidence(1, few, [])];
    const last = given(runStarted(), tasksObserved(few), ...killed).andThen(...idle(2));
    expect(last.andThen().nextCount(few)).toBe("3/3");
    last
      .andThen(...idle(3))
      .decides({ type: "verdict.reached" }, { type: "intervention.chosen" }, { type: "task.exhausted" });
  });

  test("does not swallow a question asked in the last iteration", () => {
    const asks = [iterationStarted(2, few), iterationEnded(2, few, "undecided"), evidence(2, few, [])];
    given(runStarted(), tasksObserved(few), ...idle(1))
      .andThen(...asks)
      .decides(
        { type: "verdict.reached", verdict: "decide" },
        { type: "question.asked" },
        { type: "task.exhausted" },
      );
  });
});

describe("a transient failure", () => {
  test("is no iteration, and is tried again after a pause", () => {
    const spec = after(1, serviceDown, [runStarted(), tasksObserved(login)]).at(2_000);
    expect(spec.state.run).toMatchObject({ iterations: 0, stuckCount: 0, transientInARow: 1 });
    expect(spec.state.tasks["login"]).toMatchObject({ iterations: 0, attempts: 0 });
    spec.wants("wait");
    expect(spec.wakeAt).toBeGreaterThan(1_000_000);
    spec.at(2_000_000).wants("iterate:login");
  });

  test("beyond the retries ends the run for now", () => {
    after(3, serviceDown, [runStarted(), tasksObserved(login)])
      .at(9_000_000)
      .wants("iterate:login");
    after(4, serviceDown, [runStarted(), tasksObserved(login)])
      .at(9_000_000)
      .ends("limited");
  });
});

test("an agent that cannot be started ends the run at once", () => {
  const missing = {
    ending: { is: "not-started", message: "no such file" },
    failure: { class: "config", message: "no such file" },
  } as const;
  given(
    runStarted(),
    tasksObserved(login),
    iterationStarted(1, login),
    iterationEnded(1, login, "none", missing),
    evidence(1, login, []),
  )
    .andThen()
    .ends("misconfigured");
});

test("a run that goes on after an agent could not be started tries again", () => {
  const missing = {
    ending: { is: "not-started", message: "no such file" },
    failure: { class: "config", message: "no such file" },
  } as const;
  const verdict = iterationEnded(1, login, "none", missing);
  given(runStarted(), tasksObserved(login), iterationStarted(1, login), verdict, evidence(1, login, []))
    .andThen(runResumed())
    .wants("iterate:login");
});
