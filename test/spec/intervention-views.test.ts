import { blockedIds } from "../../src/core/views/inbox.ts";
import { promiseEntries } from "../../src/core/views/iteration-entries.ts";
import { iterationRecords, type IterationRecord } from "../../src/core/views/iteration-record.ts";
import { feedbackText, metricsOf, profileEntries } from "../../src/core/views/interventions.ts";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { AgentReport } from "../../src/core/streams/agent-report.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  signals,
  task,
  tasksObserved,
} from "./given.ts";

const A = task("a");
const B = task("b");
const BEGUN = [runStarted(), tasksObserved(A, B)];

/** An iteration that claims to be done and changed these files. */
function claim(iteration: number, of: typeof A, files: readonly string[]): readonly Event[] {
  return [
    iterationStarted(iteration, of),
    iterationEnded(iteration, of, "complete"),
    evidence(iteration, of, files),
  ];
}

describe("metrics", () => {
  test("of nothing are unknown, not zero", () => {
    expect(metricsOf(given().state)).toEqual({
      total_interventions: 0,
      interventions_by_type: {},
      interventions_by_severity: { info: 0, warning: 0, critical: 0 },
      intervention_rate_per_100_iterations: null,
      avg_remediation_success_rate: null,
      blocked_rate: null,
      wasted_iterations: 0,
      wasted_rate: null,
      files_per_iteration: null,
      completion_rate: null,
      cost_per_accepted_task_usd: null,
    });
  });

  test("count a lie, and the work after it as a remedy", () => {
    const { state } = given(...BEGUN, ...claim(1, A, []))
      .andThen(...claim(2, A, ["x.ts", "y.ts"]))
      .andThen();
    expect(metricsOf(state)).toEqual({
      total_interventions: 2,
      interventions_by_type: { false_completion_detected: 1, no_files_detected: 1 },
      interventions_by_severity: { info: 0, warning: 0, critical: 2 },
      intervention_rate_per_100_iterations: 100,
      avg_remediation_success_rate: 1,
      blocked_rate: 0,
      wasted_iterations: 1,
      wasted_rate: 0.5,
      files_per_iteration: 1,
      completion_rate: 1,
      cost_per_accepted_task_usd: null,
    });
  });

  test("know the cost of an accepted task when an agent tells it", () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, costUsd: 0.5 };
    const ended = iterationEnded(1, A, "complete", { usage });
    const { state } = given(...BEGUN, iterationStarted(1, A), ended, evidence(1, A, ["x.ts"])).andThen();
    expect(metricsOf(state)).toMatchObject({ cost_per_accepted_task_usd: 0.5, completion_rate: 1 });
  });

  test("call a task blocked as long as it is", () => {
    const blocked = given(
      ...BEGUN,
      iterationStarted(1, A),
      iterationEnded(1, A, "blocked"),
      evidence(1, A, []),
    ).andThen();
    expect(metricsOf(blocked.state)).toMatchObject({ blocked_rate: 1, completion_rate: 0 });
    const helped: Event = { type: "task.unblocked", task: "a", reason: "", timeoutMs: null, by: "person" };
    expect(metricsOf(blocked.andThen(helped).state).blocked_rate).toBe(0);
  });

  test("count as blocked what `ralph blocked` lists: no task that a person cancelled", () => {
    const ended = iterationEnded(1, A, "blocked");
    const blocked = given(...BEGUN, iterationStarted(1, A), ended, evidence(1, A, [])).andThen();
    const { state } = blocked.andThen({ type: "task.cancelled", run: "run-1", task: "a" });
    expect(blockedIds(state)).toEqual([]);
    expect(metricsOf(state).blocked_rate).toBe(0);
  });

  test("begin anew after a reset, and never exceed the whole", () => {
    const { state } = given(...BEGUN, ...claim(1, A, []))
      .andThen({ type: "interventions.reset" }, ...claim(2, A, ["x.ts"]))
      .andThen(...claim(3, B, []))
      .andThen();
    expect(metricsOf(state)).toMatchObject({ total_interventions: 2, completion_rate: 1, wasted_rate: 0.5 });
  });
});

describe("profiles", () => {
  test("tell how each agent works", () => {
    const other = iterationStarted(2, B, { agent: "codex" });
    const { state } = given(...BEGUN, ...claim(1, A, []))
      .andThen(other, iterationEnded(2, B, "complete"), evidence(2, B, ["x.ts", "y.ts"]))
      .andThen();
    expect(profileEntries(state)).toEqual([
      {
        agent_id: "codex",
        total_iterations: 1,
        no_files_count: 0,
        false_completion_count: 0,
        avg_files_per_iteration: 2,
        avg_evidence_count: 0,
        last_reinforcement: null,
        intervention_threshold_exceeded: false,
      },
      {
        agent_id: "stub",
        total_iterations: 1,
        no_files_count: 1,
        false_completion_count: 1,
        avg_files_per_iteration: 0,
        avg_evidence_count: 0,
        last_reinforcement: expect.stringMatching(/^2026-01-01T/),
        intervention_threshold_exceeded: false,
      },
    ]);
  });

  test("are none for events that name no agent", () => {
    expect(profileEntries({ profiles: { "": { ...NOBODY } } })).toEqual([]);
  });
});

const NOBODY = {
  iterations: 0,
  noFiles: 1,
  falseCompletions: 0,
  filesWritten: 0,
  citations: 0,
  lastReinforcement: null,
  isOverThreshold: false,
};

describe("feedback.txt", () => {
  test("is exactly what the next prompt says", () => {
    const after = given(...BEGUN, ...claim(1, A, [])).andThen();
    const text = feedbackText(after.state);
    expect(text).toMatch(/^## Previous Iteration Feedback[^]*no file has changed/);
    expect(after.nextPrompt(A)).toContain(text);
  });

  test("names the tasks when there are several, and is empty when nothing is open", () => {
    const both = given(...BEGUN, ...claim(1, A, []))
      .andThen(...claim(2, B, []))
      .andThen();
    expect(feedbackText(both.state)).toMatch(/^# a\n## Previous[^]*\n\n# b\n## Previous/);
    const done = given(...BEGUN, ...claim(1, A, []))
      .andThen(...claim(2, A, ["x.ts"]))
      .andThen();
    expect(feedbackText(done.state)).toBe("");
    expect(feedbackText(given().state)).toBe("");
  });
});

describe("promises", () => {
  test.each<[why: string, report: Partial<AgentReport>, expected: object | null]>([
    ["the expected one", { promise: "COMPLETE" }, { promise: "COMPLETE", matches: true, claim: "complete" }],
    [
      "another one",
      { claim: { is: "none" }, promise: "DONE" },
      { promise: "DONE", matches: false, hidden: false, claim: "none" },
    ],
    [
      "a blocker",
      { claim: { is: "blocked", reason: "no key" }, promise: "BLOCKED:no key" },
      { promise: "BLOCKED:no key", matches: false, claim: "blocked" },
    ],
    [
      "a status block",
      { claim: { is: "complete", promise: "STATUS: COMPLETE" }, promise: null },
      { promise: null, matches: false, hidden: false, claim: "complete" },
    ],
    [
      "another one beside a status block",
      { claim: { is: "complete", promise: "STATUS: COMPLETE" }, promise: "DONE" },
      { promise: "DONE", matches: false, claim: "complete" },
    ],
    [
      "one inside a quotation",
      { claim: { is: "none" }, promise: null, signals: { ...signals({}), isPromiseHidden: true } },
      { promise: null, matches: false, hidden: true, claim: "none" },
    ],
    ["one of an older log", {}, { promise: "COMPLETE", matches: true }],
    ["no promise at all", { claim: { is: "none" }, promise: null }, null],
  ])("%s", (_why, report, expected) => {
    const entries = promiseEntries([recordOf(report)]);
    expect(entries).toMatchObject(expected === null ? [] : [expected]);
    expect(entries).toHaveLength(expected === null ? 0 : 1);
  });

  test("tell who, when and with what result; an iteration that is still judged has none yet", () => {
    expect(promiseEntries([recordOf({ promise: "COMPLETE" })])).toEqual([
      {
        iteration: 1,
        task: "a",
        agent: "stub",
        at: "1970-01-01T00:00:01.000Z",
        promise: "COMPLETE",
        matches: true,
        hidden: false,
        claim: "complete",
        verdict: null,
        reasons: [],
        concerns: [],
      },
    ]);
  });
});

function recordOf(report: Partial<AgentReport>): IterationRecord {
  const events = [iterationStarted(1, A), iterationEnded(1, A, "complete", report)];
  const [record] = iterationRecords(events.map((event) => ({ ...event, position: 1, at: 0 })));
  if (record === undefined) throw new Error("the iteration has begun");
  return record;
}
