import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import {
  evidence,
  gatesChecked,
  given,
  interventionChosen,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login");

function interventions(more: Partial<Settings["interventions"]>): Settings["interventions"] {
  return { ...settings().interventions, ...more };
}

function lie(iteration: number, agent = "stub"): readonly Event[] {
  return [
    iterationStarted(iteration, login, { agent }),
    iterationEnded(iteration, login, "complete"),
    evidence(iteration, login, []),
  ];
}

function idle(iteration: number): readonly Event[] {
  return [
    iterationStarted(iteration, login),
    iterationEnded(iteration, login, "none"),
    evidence(iteration, login, []),
  ];
}

/** The facts of several iterations, each judged before the next begins. */
function after(
  start: readonly Event[],
  ...iterations: readonly (readonly Event[])[]
): ReturnType<typeof given> {
  return iterations.reduce((so, next) => so.andThen(...next), given(...start));
}

const patient = { limits: { ...settings().limits, maxStuck: 0, maxAttempts: 0 } };

describe("an agent that does the same wrong thing again", () => {
  test("is told strongly at the threshold: the next prompt begins with it", () => {
    const twice = after([runStarted(patient), tasksObserved(login)], lie(1), lie(2));
    twice.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", intervention: "false_completion_detected" },
      { type: "intervention.chosen", intervention: "no_files_detected" },
      { type: "intervention.chosen", intervention: "agent_reinforced", severity: "critical" },
    );
    const prompt = twice.andThen().nextPrompt(login);
    expect(prompt.startsWith("## Previous Iteration Feedback (DO NOT IGNORE)")).toBe(true);
    expect(prompt.match(/DO NOT IGNORE/g)).toHaveLength(1);
  });

  test("is suspended when it happens once more, and the task waits for a person", () => {
    after([runStarted(patient), tasksObserved(login)], lie(1), lie(2), lie(3))
      .decides(
        { type: "verdict.reached", verdict: "rejected" },
        { type: "intervention.chosen" },
        { type: "intervention.chosen" },
        { type: "agent.suspended", agent: "stub", successor: null },
        { type: "task.blocked" },
      )
      .andThen()
      .wants("publish");
  });

  test("is replaced by the next fallback agent, for which both counts begin anew", () => {
    const settingsWithFallback = { ...patient, fallbackAgents: ["stub", "second"] };
    const replaced = after([runStarted(settingsWithFallback), tasksObserved(login)], lie(1), lie(2), lie(3));
    replaced.decides(
      { type: "verdict.reached" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
      { type: "agent.suspended", agent: "stub", successor: "second" },
    );
    const next = replaced.andThen();
    expect(next.state.run?.stuckCount).toBe(0);
    expect(next.state.tasks["login"]).toMatchObject({ attempts: 0, stuckCount: 0, standIn: "second" });
    next.wants("iterate:login");
    const further = after(
      [runStarted(settingsWithFallback), tasksObserved(login)],
      lie(1),
      lie(2),
      lie(3),
      lie(4, "second"),
      lie(5, "second"),
      lie(6, "second"),
    );
    expect(further.andThen().state.tasks["login"]?.blockedReason).toContain("second was suspended");
  });

  test("is not suspended for what happened before the window", () => {
    const small = { ...patient, interventions: interventions({ window: 2 }) };
    const spread = after(
      [runStarted(small), tasksObserved(login)],
      lie(1),
      lie(2),
      [
        iterationStarted(3, login),
        iterationEnded(3, login, "none"),
        evidence(3, login, ["a.ts"], { changedSinceTaskBegan: { files: 0, paths: [] } }),
      ],
      lie(4),
    );
    spread.decides(
      { type: "verdict.reached" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
  });

  test("is counted for iterations without files too, by their own threshold", () => {
    const decided = after([runStarted(patient), tasksObserved(login)], idle(1), idle(2), idle(3)).effects;
    expect(decided).toMatchObject([
      {
        events: [
          { type: "verdict.reached", verdict: "continue" },
          { intervention: "no_files_detected" },
          { intervention: "agent_reinforced", leads: true },
        ],
      },
    ]);
  });

  test("is told strongly from the first event on in aggressive mode", () => {
    const aggressive = { ...patient, interventions: interventions({ aggressive: true }) };
    const once = after([runStarted(aggressive), tasksObserved(login)], lie(1));
    expect(once.andThen().nextPrompt(login).startsWith("## Previous Iteration Feedback")).toBe(true);
  });

  test("is left alone when thresholds are 0", () => {
    const off = {
      ...patient,
      interventions: interventions({ thresholdNoFiles: 0, thresholdFalseCompletion: 0 }),
    };
    const often = after([runStarted(off), tasksObserved(login)], lie(1), lie(2), lie(3), lie(4), lie(5));
    expect(often.andThen().state.tasks["login"]?.blockedReason).toBeNull();
  });
});

describe("interventions that are switched off", () => {
  const off = { ...patient, interventions: interventions({ enabled: false }) };

  test("are recorded, but nothing is fed back and nobody is suspended", () => {
    const often = after([runStarted(off), tasksObserved(login)], lie(1), lie(2), lie(3), lie(4));
    often.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", isFedBack: false },
      { type: "intervention.chosen", isFedBack: false },
    );
    expect(often.andThen().nextPrompt(login)).not.toContain("DO NOT IGNORE");
  });
});

describe("an iteration without changes", () => {
  test("is a no-files event although an earlier iteration of the task wrote something", () => {
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "none"),
      evidence(1, login, [], { changedSinceTaskBegan: { files: 2, paths: ["a", "b"] } }),
    ).decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", intervention: "no_files_detected" },
    );
  });

  test("that asks or is blocked is no event", () => {
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "blocked"),
      evidence(1, login, []),
    ).decides({ type: "verdict.reached", verdict: "blocked" }, { type: "task.blocked" });
  });
});

describe("a promise in a code fence", () => {
  test("is no claim, and the agent is told where it counts", () => {
    const hidden = given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "none", { signals: signals({ isPromiseHidden: true }) }),
      evidence(1, login, ["a.ts"]),
    );
    hidden.decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", rule: "hidden-promise" },
    );
    expect(hidden.andThen().nextPrompt(login)).toContain("in a code fence");
  });
});

describe("an agent that marks tasks itself", () => {
  const marked = { marksTakenBack: ["login"] };

  test("is told that the mark was taken back when the claim is rejected", () => {
    const rejected = given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, [], marked),
    );
    rejected.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", intervention: "false_completion_detected" },
      { type: "intervention.chosen", intervention: "illegal_transition" },
      { type: "intervention.chosen", intervention: "no_files_detected" },
    );
    expect(rejected.andThen().nextPrompt(login)).toContain("you marked login as done");
  });

  test("is forgiven for its own task when the work is there", () => {
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"], marked),
    ).decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
  });
});

describe("a finding that comes back in three tasks", () => {
  const tasks = ["a", "b", "c", "d"].map((id) => task(id));
  const chosen = (iteration: number, id: string, rule: string): Event =>
    interventionChosen(iteration, task(id), { intervention: "gate_failed", rule, text: `failed in ${id}` });

  test("becomes a standing line of every prompt until a person removes it", () => {
    const twice = given(
      runStarted({ gates: [TESTS_GATE] }),
      tasksObserved(...tasks),
      ...["a", "b"].map((id, index) => chosen(index + 1, id, "gate:tests")),
    );
    expect(twice.nextPrompt(task("d"))).not.toContain("kept going wrong");
    const facts = [
      runStarted({ gates: [TESTS_GATE] }),
      tasksObserved(...tasks),
      ...["a", "b", "b", "c"].map((id, index) => chosen(index + 1, id, "gate:tests")),
    ];
    expect(given(...facts).nextPrompt(task("d"))).toContain('The gate "tests" was red in several tasks');
    const removed = given(...facts, { type: "lesson.removed", rule: "gate:tests" });
    expect(removed.nextPrompt(task("d"))).not.toContain("kept going wrong");
  });

  test("comes from the rule that the correction names", () => {
    given(
      runStarted({ gates: [TESTS_GATE] }),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"]),
      gatesChecked(1, login, { status: "failed", exitCode: 1 }),
    ).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", rule: "gate:tests" },
    );
  });
});
