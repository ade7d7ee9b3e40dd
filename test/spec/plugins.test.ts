import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { GuardAnswer, PluginAnswers } from "../../src/core/verdict/plugin-answers.ts";
import {
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

const one = task("one");
const begun = [tasksObserved(one), iterationStarted(1, one)];
const SILENT: GuardAnswer = {
  guard: "mine/strict",
  on: "claim",
  warns: false,
  advice: null,
  objections: [],
  failure: null,
};

function seen(plugins: Partial<PluginAnswers>): Event {
  return evidence(1, one, ["a.ts"], { plugins: { guards: [], exits: [], ...plugins } });
}

function judged(answer: Partial<GuardAnswer>, claim: "complete" | "none" = "complete") {
  return given(
    runStarted(),
    ...begun,
    iterationEnded(1, one, claim),
    seen({ guards: [{ ...SILENT, ...answer }] }),
  );
}

describe("what a guard of a plugin has answered", () => {
  test("is asked like any other, and named in the certificate", () => {
    judged({}).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed", certificate: { checks: expect.arrayContaining(["mine/strict"]) } as never },
    );
  });

  test("rejects a claim, spares the gates, and is told to the agent", () => {
    const objections = ["the tone is wrong", "it is too long"];
    const rejected = given(
      runStarted({ gates: [TESTS_GATE] }),
      ...begun,
      iterationEnded(1, one, "complete"),
      seen({ guards: [{ ...SILENT, objections, advice: "Be brief." }] }),
    );
    rejected.decides(
      {
        type: "verdict.reached",
        verdict: "rejected",
        reasons: [{ rule: "mine/strict", sentence: "the tone is wrong; it is too long" }],
      },
      { type: "intervention.chosen", rule: "mine/strict", intervention: "evidence_validation_failed" },
    );
  });

  test("only warns where it was written to", () => {
    judged({ objections: ["it is long"], warns: true }).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "intervention.chosen", rule: "mine/strict", severity: "warning" },
      { type: "task.completed", certificate: { warnings: ["it is long"] } as never },
    );
  });

  test("about work is told without a claim too, and one about claims is not", () => {
    judged({ objections: ["it is long"], on: "work" }, "none").decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", rule: "mine/strict" },
      { type: "intervention.chosen", rule: "no-claim" },
    );
    judged({ objections: ["it is long"] }, "none").decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", rule: "no-claim" },
    );
  });
});

describe("a guard of a plugin that broke", () => {
  test("leaves the claim to a person: the task is blocked, and the agent hears nothing of it", () => {
    judged({ failure: "the guard broke" }).decides(
      { type: "verdict.reached", verdict: "blocked" },
      { type: "task.blocked", reason: "the guard broke" },
    );
  });

  test("changes nothing where something else rejects the claim", () => {
    given(
      runStarted(),
      ...begun,
      iterationEnded(1, one, "complete"),
      evidence(1, one, [], { plugins: { guards: [{ ...SILENT, failure: "the guard broke" }], exits: [] } }),
    ).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
  });

  test("and only warns holds nothing up", () => {
    judged({ failure: "the guard broke", warns: true }).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });
});

describe("an exit rule of a plugin", () => {
  const openEnded = { source: { kind: "prompt", label: "PROMPT.md", path: null } } as const;
  const exit = (ends: "complete" | "failed"): Event =>
    seen({ exits: [{ rule: "mine/enough", ends, because: "there are 3" }] });

  test("completes an open-ended task whose gates pass", () => {
    const asked = given(
      runStarted({ ...openEnded, gates: [TESTS_GATE] }),
      ...begun,
      iterationEnded(1, one, "none"),
      exit("complete"),
    );
    asked.wants("gates:1");
    asked
      .andThen(gatesChecked(1, one, {}))
      .decides(
        { type: "verdict.reached", verdict: "continue" },
        { type: "intervention.chosen" },
        { type: "task.completed" },
      );
    asked
      .andThen(gatesChecked(1, one, { status: "failed", exitCode: 1 }))
      .decides(
        { type: "verdict.reached", verdict: "continue" },
        { type: "intervention.chosen", rule: "gate:tests" },
        { type: "intervention.chosen", rule: "no-claim" },
      );
  });

  test("gives it up", () => {
    given(runStarted(openEnded), ...begun, iterationEnded(1, one, "none"), exit("failed")).decides(
      { type: "verdict.reached" },
      { type: "intervention.chosen" },
      { type: "task.failed", reason: "there are 3" },
    );
  });

  test("says nothing about tasks of a list", () => {
    given(runStarted(), ...begun, iterationEnded(1, one, "none"), exit("complete")).decides(
      { type: "verdict.reached" },
      { type: "intervention.chosen" },
    );
  });
});
