import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Failure } from "../../src/core/report/agent-report.ts";
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
});
