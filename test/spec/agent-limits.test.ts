import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Failure } from "../../src/core/streams/agent-report.ts";
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

const START = Date.UTC(2026, 0, 1);
const RESET = 120_000;
const login = task("login");
const logout = task("logout");

function refused(number: number, failure: Failure): readonly Event[] {
  return [
    iterationStarted(number, login, { ordinal: 1 }),
    iterationEnded(number, login, "none", { ending: { is: "exited", code: 1 }, failure }),
    evidence(number, login, []),
  ];
}

const limit: Failure = { class: "limit", message: "usage limit reached", resetsAt: START + RESET };
const start = [runStarted(), tasksObserved(login, logout)];

describe("an agent that has reached its limit", () => {
  const limited = given(...start, ...refused(1, limit)).at(10);

  test("is waited for until its limit ends, and the iteration does not count", () => {
    limited.decides({ type: "verdict.reached", verdict: "failed", retryAt: START + RESET });
    const waiting = limited.andThen().at(1_000);
    waiting.decides({ type: "wait.started", why: "the agent has reached its limit" });
    expect(waiting.wakeAt).toBe(RESET);
    expect(waiting.state.run?.iterations).toBe(0);
    expect(waiting.state.tasks["login"]).toMatchObject({ iterations: 0, attempts: 0, stuckCount: 0 });
    waiting.andThen().at(RESET).wants("iterate:login");
  });

  test("is not asked for another task either", () => {
    expect(
      limited
        .andThen()
        .at(1_000)
        .effects.map((effect) => effect.kind),
    ).toEqual(["record"]);
  });

  test("is still waited for after a restart, for the rest of the time", () => {
    const again = limited.andThen(runResumed()).at(60_000);
    expect(again.wakeAt).toBe(RESET);
  });

  test.each([
    ["an hour ago", -3_600_000],
    ["in years", 4_000 * 24 * 3_600_000],
  ])("that is said to end %s is asked again in a quarter of an hour", (_, away) => {
    const wrong = given(...start, ...refused(1, { ...limit, resetsAt: START + away })).at(10);
    wrong.decides({ type: "verdict.reached", retryAt: START + 10 + 15 * 60_000 });
  });

  test("is waited for no longer than a fallback whose limit ends earlier", () => {
    const both = [runStarted({ fallbackAgents: ["second"] }), tasksObserved(login)];
    const later = { ...limit, resetsAt: START + 10 * RESET };
    const first = given(...both, ...refused(1, later)).at(10);
    const second = first.andThen(
      iterationStarted(2, login, { ordinal: 1, agent: "second" }),
      iterationEnded(2, login, "none", { ending: { is: "exited", code: 1 }, failure: limit }),
      evidence(2, login, []),
    );
    expect(second.at(20).andThen().at(1_000).wakeAt).toBe(RESET);
  });

  test("is replaced by a fallback agent meanwhile, without a suspension", () => {
    const withFallback = [runStarted({ fallbackAgents: ["second"] }), tasksObserved(login)];
    const next = given(...withFallback, ...refused(1, limit))
      .at(10)
      .andThen()
      .at(1_000);
    next.wants("iterate:login");
    expect(next.state.tasks["login"]).toMatchObject({ suspended: [], standIn: null });
  });

  test("ends the run where nobody wants to wait", () => {
    const impatient = [runStarted({ noWait: true }), tasksObserved(login)];
    given(...impatient, ...refused(1, limit))
      .at(10)
      .andThen()
      .at(1_000)
      .ends("limited");
  });

  test("is asked again after a while when it does not say how long it lasts", () => {
    const unknown = given(...start, ...refused(1, { class: "limit", message: "429", resetsAt: null })).at(10);
    expect(unknown.andThen().at(1_000).wakeAt).toBe(10 + 15 * 60_000);
  });

  test("never counts as a transient failure beyond the retries", () => {
    const often = [1, 2, 3, 4, 5, 6].reduce(
      (spec, number) => spec.at(number).andThen(...refused(number, { ...limit, resetsAt: START + number })),
      given(...start),
    );
    often
      .at(RESET)
      .andThen()
      .at(RESET + 5_000)
      .wants("iterate:login");
  });
});

describe("an agent that is logged out", () => {
  test("ends the run for now, with its words", () => {
    const out = given(
      ...start,
      ...refused(1, { class: "auth", message: "Invalid API key · Please run /login" }),
    );
    out.andThen().ends("limited");
    expect(out.andThen().effects).toMatchObject([{ reason: expect.stringContaining("Please run /login") }]);
    out.andThen(runResumed()).wants("iterate:login");
  });

  const auth: Failure = { class: "auth", message: "Not logged in", advice: "run codex login" };
  const withFallback = [runStarted({ fallbackAgents: ["second"] }), tasksObserved(login)];

  test("costs no attempt, and its fallback takes over", () => {
    const next = given(...withFallback, ...refused(1, auth)).andThen();
    next.wants("iterate:login");
    expect(next.nextAgent(login)).toBe("second");
    expect(next.state.tasks["login"]).toMatchObject({
      iterations: 0,
      attempts: 0,
      failures: 0,
      stuckCount: 0,
    });
    expect(next.state.breaker).toMatchObject({ position: "CLOSED", noProgress: 0 });
  });

  test("whose fallback is logged out too ends the run, with what to do about each", () => {
    const both = given(...withFallback, ...refused(1, auth)).andThen(
      iterationStarted(2, login, { ordinal: 1, agent: "second" }),
      iterationEnded(2, login, "none", {
        ending: { is: "exited", code: 1 },
        failure: { class: "limit", kind: "credit", message: "no credit", resetsAt: null, advice: "add some" },
      }),
      evidence(2, login, []),
    );
    both.andThen().ends("limited");
    expect(both.andThen().effects).toMatchObject([
      {
        reason:
          "stub may not work: Not logged in (run codex login); second has no credit left: no credit (add some)",
      },
    ]);
  });

  test("is asked again when somebody asks for that", () => {
    given(...withFallback, ...refused(1, auth))
      .andThen({ type: "retry.requested", run: "run-1" })
      .wants("iterate:login");
    const again = given(...withFallback, ...refused(1, auth)).andThen({
      type: "retry.requested",
      run: "run-1",
    });
    expect(again.nextAgent(login)).toBe("stub");
  });
});

test("credit that comes back by itself is waited for", () => {
  const credit = { ...limit, kind: "credit" } as const;
  expect(
    given(...start, ...refused(1, credit))
      .at(10)
      .andThen()
      .at(1_000).wakeAt,
  ).toBe(RESET);
});

test("a model that the agent's service does not know ends the run, naming both", () => {
  const failure: Failure = { class: "config", kind: "model", message: "404 Not Found" };
  const [ended] = [
    iterationEnded(1, login, "none", { ending: { is: "exited", code: 1 }, failure, model: "gpt-9" }),
  ];
  const spec = given(...start, iterationStarted(1, login), ended, evidence(1, login, [])).andThen();
  spec.ends("misconfigured");
  expect(spec.effects).toMatchObject([{ reason: 'stub cannot use the model "gpt-9": 404 Not Found' }]);
});

test("a session that overflowed is not gone on with", () => {
  const overflow: Failure = { class: "agent", kind: "overflow", message: "Prompt is too long" };
  const ended = iterationEnded(1, login, "none", {
    ending: { is: "exited", code: 1 },
    failure: overflow,
    sessionId: "full",
  });
  const spec = given(...start, iterationStarted(1, login), ended, evidence(1, login, []));
  expect(spec.andThen().nextSession(login)).toBeNull();
});

test("one that had used up the budget is stopped: an iteration, but no attempt, and the work is judged by the next", () => {
  const budget: Failure = { class: "agent", kind: "budget", message: "stopped: it has cost $1.13 of $1.00" };
  const ended = iterationEnded(1, login, "none", {
    ending: { is: "stopped" },
    failure: budget,
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, costUsd: 1.13 },
  });
  const budgets = { ...settings().limits, budget: { run: 1, task: null, day: null } };
  const spec = given(
    runStarted({ limits: budgets }),
    tasksObserved(login),
    iterationStarted(1, login),
    ended,
    evidence(1, login, ["a.ts"]),
  );
  spec.decides(
    {
      type: "verdict.reached",
      verdict: "failed",
      reasons: [{ rule: "budget", sentence: budget.message }],
    },
    { type: "budget.neared" },
  );
  expect(spec.andThen().state.tasks["login"]).toMatchObject({ iterations: 1, attempts: 0 });
  spec.andThen().ends("limited");
});
