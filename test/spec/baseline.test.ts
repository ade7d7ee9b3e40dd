import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { needsBaseline } from "../../src/core/loop/begin-iteration.ts";
import type { CheckedGate } from "../../src/core/verdict/checked-gate.ts";
import type { GateSettings } from "../../src/core/settings.ts";
import {
  baselineMeasured,
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login");
const logout = task("logout");
const gates: readonly GateSettings[] = [TESTS_GATE];
const start = [runStarted({ gates }), tasksObserved(login, logout)];
const red = { name: "tests", status: "failed", exitCode: 1, failures: ["old failure"] } as const;

describe("gates before the agent touches anything", () => {
  test("are measured once per task", () => {
    expect(needsBaseline(given(...start).state, "login", "h0")).toBe(true);
    const measured = given(...start, baselineMeasured(login, { name: "tests" }));
    expect(needsBaseline(measured.state, "login", "h0")).toBe(false);
    const later = given(...start, baselineMeasured(login, { name: "tests" }), iterationStarted(1, login));
    expect(needsBaseline(later.state, "login", "h5")).toBe(false);
  });

  test("need not be measured without gates", () => {
    expect(needsBaseline(given(runStarted(), tasksObserved(login)).state, "login", "h0")).toBe(false);
  });

  test("are known from the task before, whose gates passed on the same commit", () => {
    const accepted = given(
      ...start,
      baselineMeasured(login, { name: "tests" }),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"]),
      gatesChecked(1, login, {}),
    ).andThen();
    expect(needsBaseline(accepted.state, "logout", "h1")).toBe(false);
    const marked: Event = { type: "task.marked", run: "run-1", task: "login", commit: "h2", parent: "h1" };
    const after = accepted.andThen(marked);
    expect(needsBaseline(after.state, "logout", "h2")).toBe(false);
    expect(needsBaseline(after.state, "logout", "somebody's commit")).toBe(true);
    const begun = after.andThen(iterationStarted(2, logout, { head: "h2" }));
    expect(begun.state.tasks["logout"]?.baseline).toMatchObject([{ name: "tests", status: "passed" }]);
  });

  test("say in the prompt what failed before", () => {
    const prompt = given(...start, baselineMeasured(login, red)).nextPrompt(login);
    expect(prompt).toContain("already failing before this task was begun (old failure), and has to pass");
    const tolerant = [
      runStarted({ gates: [{ ...TESTS_GATE, onBaseline: "tolerate" }] }),
      tasksObserved(login),
      baselineMeasured(login, red),
    ];
    expect(given(...tolerant).nextPrompt(login)).toContain("only new failures count");
  });
});

describe("a gate that was red before", () => {
  const claimed = [
    ...start,
    baselineMeasured(login, red),
    iterationStarted(1, login),
    iterationEnded(1, login, "complete"),
    evidence(1, login, ["a.ts"]),
  ];
  const checked = (now: Partial<CheckedGate>, before: Partial<CheckedGate["baseline"]> = red): Event =>
    gatesChecked(1, login, {
      baseline: { name: "tests", status: "passed", exitCode: 0, durationMs: 1, failures: [], ...before },
      exitCode: 1,
      ...now,
    });

  test("is still required, and the feedback says that it is not new", () => {
    const rejected = given(...claimed, checked({ status: "failed", failures: ["old failure"] }));
    rejected.decides({ type: "verdict.reached", verdict: "rejected" }, { type: "intervention.chosen" });
    const prompt = rejected.andThen().nextPrompt(login);
    expect(prompt).toContain("as it had before the task began");
    expect(prompt).toContain("Failing: old failure.");
  });

  test.each([
    ["the same failures", { failures: ["old failure"] }, {}, "accepted"],
    ["fewer failures", { failures: ["old"] }, { failures: ["old", "older"] }, "accepted"],
    ["a failure of another sort, which has no names", { failures: [] }, {}, "rejected"],
    ["a new failure", { failures: ["old failure", "new failure"] }, {}, "rejected"],
    ["failures that have no names", { failures: ["x"] }, { failures: [] }, "accepted"],
    ["a red that was green before", { failures: [] }, { status: "passed", failures: [] }, "rejected"],
  ] as const)("and is tolerated, with %s: %s %s → %s", (_, now, before, verdict) => {
    const gate = checked({ status: "failed", onBaseline: "tolerate", ...now }, { ...red, ...before });
    const [decided] = given(...claimed, gate).effects;
    expect(decided).toMatchObject({ events: [{ type: "verdict.reached", verdict }, {}] });
  });

  test("and turns green is progress, although no file changed", () => {
    given(
      ...claimed.slice(0, -1),
      evidence(1, login, [], { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } }),
      checked({ status: "passed", exitCode: 0 }),
    ).decides(
      { type: "verdict.reached", verdict: "accepted", madeProgress: true },
      { type: "task.completed" },
    );
  });

  test("and is not installed any more blocks the task, although missing tools only warn", () => {
    const gone = checked({ status: "missing", exitCode: 127 }, { status: "passed" });
    given(...claimed, gone).decides(
      { type: "verdict.reached", verdict: "blocked" },
      { type: "task.blocked" },
    );
    const never = checked({ status: "missing", exitCode: 127 }, { status: "missing" });
    given(...claimed, never).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });
});

describe("the certificate of an accepted task", () => {
  test("holds claim, change set, gates, checks and cost", () => {
    const decided = given(
      ...start,
      baselineMeasured(login, { name: "tests" }),
      iterationStarted(1, login, { head: "h0" }),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"]),
      gatesChecked(1, login, { durationMs: 7 }),
    ).effects;
    expect(decided).toMatchObject([
      {
        events: [
          { type: "verdict.reached", verdict: "accepted" },
          {
            type: "task.completed",
            certificate: {
              claim: "COMPLETE",
              agent: "stub",
              base: "h0",
              changed: { files: 1, paths: ["a.ts"] },
              gates: [{ name: "tests", status: "passed", exitCode: 0, durationMs: 7 }],
              iterations: 1,
              costUsd: null,
              warnings: [],
            },
          },
        ],
      },
    ]);
  });
});
