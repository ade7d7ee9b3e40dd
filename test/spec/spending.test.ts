import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import { UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
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
const docs = task("docs");
const HOUR = 3_600_000;

const limited = (more: Partial<Settings["limits"]>, rest: Partial<Settings> = {}): Partial<Settings> => ({
  limits: { ...settings().limits, ...more },
  ...rest,
});
const withBudget = (more: Partial<Settings["limits"]["budget"]>): Event =>
  runStarted(limited({ budget: { run: null, task: null, day: null, ...more } }));

/** Iterations of a task that make progress and cost so much. */
function costing(start: readonly Event[], ...costs: readonly (number | null)[]): ReturnType<typeof given> {
  let spec = given(...start);
  for (const [index, costUsd] of costs.entries()) {
    const number = index + 1;
    const usage = { ...UNKNOWN_USAGE, costUsd };
    spec = spec
      .andThen(
        iterationStarted(number, login),
        iterationEnded(number, login, "none", { usage }),
        evidence(number, login, [`${number}.ts`]),
      )
      .andThen();
  }
  return spec;
}

describe("the budget of a run", () => {
  const start = [withBudget({ run: 5 }), tasksObserved(login, docs)];

  test("ends it before an iteration that would pass it, judged by the task's average", () => {
    costing(start, 1, 1.5).wants("iterate:login");
    costing(start, 1.5, 1.5).andThen().wants("iterate:login");
    const spec = costing(start, 2, 2).andThen();
    spec.ends("limited");
    expect(spec.effects).toMatchObject([
      { reason: "one more iteration would pass the budget of $5.00 for this run: $4.00 are spent" },
    ]);
  });

  test("warns once when four fifths are spent", () => {
    expect(costing(start, 2).state.run?.budgetsNeared).toEqual([]);
    expect(costing(start, 2, 2).state.run?.budgetsNeared).toEqual(["run"]);
    costing(start, 2, 2).ends("limited");
  });

  test("an iteration of unknown cost counts as an average one", () => {
    costing(start, 1.4, null, null).andThen().ends("limited");
    costing(start, 1.4, null).wants("iterate:login");
  });

  test("that nobody can keep, since no cost is known, ends the run after the first iteration", () => {
    const spec = costing(start, null).ends("limited");
    expect(spec.effects).toMatchObject([
      { reason: expect.stringContaining("nobody knows what the agent costs") },
    ]);
    costing([runStarted(), tasksObserved(login)], null).wants("iterate:login");
  });

  test("a first iteration whose cost nobody can guess may begin", () => {
    costing(start).wants("iterate:login");
  });
});

describe("the budget of a task", () => {
  test("blocks the task whose next iteration would pass it", () => {
    const begin = [withBudget({ task: 2 }), tasksObserved(login, docs)];
    const reason = "one more iteration would pass the $2.00 that a task may cost: $1.20 are spent";
    expect(costing(begin, 1.2).state.tasks["login"]?.blockedReason).toBe(reason);
    costing(begin, 1).wants("iterate:login");
    expect(costing(begin, 1, 1).state.tasks["login"]?.blockedReason).toContain("$2.00 are spent");
  });
});

test("the budget of the day ends the run when others have spent it too", () => {
  const reached = {
    type: "budget.reached",
    run: "run-1",
    budget: "day",
    spentUsd: 9,
    budgetUsd: 10,
  } as const;
  const spec = given(withBudget({ day: 10 }), tasksObserved(login), reached).ends("limited");
  spec.andThen(runResumed(limited({}))).wants("iterate:login");
});

describe("the calls of an hour", () => {
  const calls = runStarted(limited({ callsPerHour: 10 }));
  const START = Date.UTC(2026, 0, 1);
  const used = { type: "calls.exhausted", run: "run-1", until: START + HOUR } as const;

  test("that are used up are waited for, and the wait says until when", () => {
    const spec = given(calls, tasksObserved(login), used).at(60_000);
    spec.decides({ type: "wait.started", until: START + HOUR, why: "the calls of this hour are used up" });
    expect(spec.andThen().at(60_000).wakeAt).toBe(HOUR);
    spec.andThen().at(HOUR).wants("iterate:login");
  });

  test("a new run goes on waiting", () => {
    const ended = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "" } as const;
    const spec = given(calls, tasksObserved(login), used, ended, calls, tasksObserved(login)).at(60_000);
    spec.decides({ type: "wait.started", until: START + HOUR });
  });

  test("a new run with another limit counts them again", () => {
    const ended = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "" } as const;
    const more = runStarted(limited({ callsPerHour: 50 }));
    given(calls, tasksObserved(login), used, ended, more, tasksObserved(login))
      .at(60_000)
      .wants("iterate:login");
    given(calls, tasksObserved(login), used, runResumed(limited({ callsPerHour: 50 })))
      .at(60_000)
      .wants("iterate:login");
  });

  test("with --no-wait the run ends", () => {
    const hasty = runStarted(limited({ callsPerHour: 10 }, { noWait: true }));
    given(hasty, tasksObserved(login), used).at(60_000).ends("limited");
  });

  test("trying at once does not help, a reset does", () => {
    const waiting = given(calls, tasksObserved(login), used, { type: "retry.requested", run: "run-1" });
    waiting.at(60_000).decides({ type: "wait.started", until: START + HOUR });
    given(calls, tasksObserved(login), used, { type: "calls.reset" }).at(60_000).wants("iterate:login");
  });
});

describe("trying again at once", () => {
  const START = Date.UTC(2026, 0, 1);

  test("ends the wait for an agent's limit", () => {
    const limitedAgent = given(runStarted(), tasksObserved(login))
      .andThen(
        iterationStarted(1, login),
        iterationEnded(1, login, "none", {
          failure: { class: "limit", message: "429", resetsAt: START + 5 * HOUR },
        }),
        evidence(1, login, []),
      )
      .at(10)
      .andThen();
    limitedAgent.at(60_000).decides({ type: "wait.started", until: START + 5 * HOUR });
    limitedAgent.andThen({ type: "retry.requested", run: "run-1" }).at(60_000).wants("iterate:login");
  });
});

describe("the time of a run", () => {
  const short = runStarted(limited({ maxDurationMs: HOUR }));

  test("is over: no further iteration begins", () => {
    given(short, tasksObserved(login))
      .at(HOUR - 1)
      .wants("iterate:login");
    given(short, tasksObserved(login)).at(HOUR).ends("limited");
  });

  test("is what processes have worked on it, not when it was dead", () => {
    const events: Event[] = [short, tasksObserved(login), runResumed(limited({ maxDurationMs: HOUR }))];
    given(...events)
      .at(HOUR)
      .wants("iterate:login");
    given(...events)
      .at(HOUR + 1)
      .ends("limited");
  });

  test("that is over when everything is done is no reason for another exit code", () => {
    const spec = given(
      short,
      tasksObserved(task("login", { done: true }), task("extra", { optional: true })),
    );
    spec.at(HOUR).ends("completed");
  });

  test("is not spent on a wait that is longer", () => {
    const START = Date.UTC(2026, 0, 1);
    const spec = given(short, tasksObserved(login))
      .andThen(
        iterationStarted(1, login),
        iterationEnded(1, login, "none", {
          failure: { class: "limit", message: "429", resetsAt: START + 5 * HOUR },
        }),
        evidence(1, login, []),
      )
      .at(10)
      .andThen()
      .at(60_000);
    spec.ends("limited");
  });
});
