import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { AgentReport } from "../../src/core/streams/agent-report.ts";
import type { Task } from "../../src/core/plan.ts";
import {
  evidence,
  given,
  interventionChosen,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");
const logout = task("logout");
const start = [runStarted(), tasksObserved(login, logout)];
const LATER = 10_000_000;

/** An iteration that came to an end, with some work done, in a session of its own. */
function worked(
  iteration: number,
  of: Task,
  sessionId: string | null,
  more: Partial<AgentReport> & { readonly agent?: string } = {},
): readonly Event[] {
  const { agent = "stub", ...report } = more;
  return [
    iterationStarted(iteration, of, { agent, ordinal: 1 }),
    iterationEnded(iteration, of, "none", { sessionId, ...report }),
    evidence(iteration, of, [`${iteration}.ts`]),
  ];
}

describe("the session of an iteration", () => {
  test("is gone on with in the next one of the task", () => {
    const once = given(...start, ...worked(1, login, "s1")).andThen();
    expect(once.nextSession(login)).toBe("s1");
    const twice = once.andThen(...worked(2, login, "s2")).andThen();
    expect(twice.nextSession(login)).toBe("s2");
  });

  test("is there from the first iteration on, and not before", () => {
    expect(given(...start).nextSession(login)).toBeNull();
  });

  test("is not gone on with in another task", () => {
    const spec = given(...start, ...worked(1, login, "s1")).andThen();
    expect(spec.nextSession(logout)).toBeNull();
    const both = spec.andThen(...worked(2, logout, "s2")).andThen();
    expect([both.nextSession(login), both.nextSession(logout)]).toEqual(["s1", "s2"]);
  });

  test("is not gone on with in another run, but in one that was resumed", () => {
    const spec = given(...start, ...worked(1, login, "s1")).andThen();
    expect(spec.andThen(runResumed()).nextSession(login)).toBe("s1");
    const ended: Event = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "" };
    expect(spec.andThen(ended, runStarted({}, "run-2"), tasksObserved(login)).nextSession(login)).toBeNull();
  });

  test("is not gone on with by another agent", () => {
    const spec = given(...start, ...worked(1, login, "s1", { agent: "other" })).andThen();
    expect(spec.nextSession(login)).toBeNull();
  });

  test("is not gone on with by a fallback, nor by the agent that comes back after it", () => {
    const resetsAt = Date.UTC(2026, 0, 1) + 120_000;
    const failure = { class: "limit", message: "usage limit reached", resetsAt } as const;
    const limited = given(
      runStarted({ fallbackAgents: ["second"] }),
      tasksObserved(login),
      ...worked(1, login, "s1", { failure }),
    )
      .at(10)
      .andThen();
    expect(limited.at(1_000).nextSession(login)).toBeNull();
    expect(limited.at(LATER).nextSession(login)).toBe("s1");
    const relieved = limited
      .at(1_000)
      .andThen(...worked(2, login, "s2", { agent: "second" }))
      .andThen();
    expect(relieved.at(LATER).nextSession(login)).toBeNull();
  });

  test("that is not known is not gone on with, and neither is the one before it", () => {
    const spec = given(...start, ...worked(1, login, "s1")).andThen(...worked(2, login, null));
    expect(spec.andThen().nextSession(login)).toBeNull();
  });

  test("that ran out of time is gone on with", () => {
    const spec = given(...start, ...worked(1, login, "s1", { ending: { is: "timed-out", afterMs: 1 } }));
    expect(spec.andThen().nextSession(login)).toBe("s1");
  });

  test.each(["limit", "transient"] as const)("is still good after a failure of class %s", (name) => {
    const failure = { class: name, message: "no" };
    const spec = given(...start, ...worked(1, login, "s1", { failure })).andThen();
    expect(spec.at(LATER).nextSession(login)).toBe("s1");
  });

  test.each(["agent", "auth", "internal"] as const)("is left behind after a failure of class %s", (name) => {
    const failure = { class: name, message: "no" };
    const spec = given(...start, ...worked(1, login, "s1", { failure })).andThen(runResumed());
    expect(spec.at(LATER).nextSession(login)).toBeNull();
  });

  test("is left behind when the agent could not work with it at all", () => {
    const failure = { class: "config", message: "No conversation found" } as const;
    const spec = given(...start, ...worked(1, login, "s1")).andThen(...worked(2, login, "s1", { failure }));
    const ended: Event = { type: "run.ended", run: "run-1", outcome: "misconfigured", reason: "" };
    const again = spec.andThen(ended, runStarted(), tasksObserved(login));
    expect(again.nextSession(login)).toBeNull();
  });

  test("is left behind when the correction leads the prompt, and taken up again after that", () => {
    const interventions = { ...settings().interventions, aggressive: true };
    const spec = given(
      runStarted({ interventions }),
      tasksObserved(login),
      ...worked(1, login, "s1"),
    ).andThen();
    const corrected = (leads: boolean) => spec.andThen(interventionChosen(1, login, { leads }));
    expect(corrected(false).nextSession(login)).toBe("s1");
    expect(corrected(true).nextSession(login)).toBeNull();
    const after = corrected(true)
      .andThen(...worked(2, login, "s2"))
      .andThen();
    expect(after.nextSession(login)).toBe("s2");
  });
});
