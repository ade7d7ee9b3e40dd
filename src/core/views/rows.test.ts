import { describe, expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { UNKNOWN_USAGE, type AgentReport, type Claim } from "../streams/agent-report.ts";
import type { Settings } from "../settings.ts";
import type { Task } from "../plan.ts";
import { iterationRecords } from "./iteration-record.ts";
import { executionRow } from "./ralph-files.ts";

const A = task("a", { maxIterations: 3 });
const ONE_ATTEMPT: Partial<Settings> = {
  keepGoing: true,
  limits: { ...settings().limits, maxAttempts: 1, maxStuck: 1 },
};

interface Told {
  readonly of?: Task;
  readonly ordinal?: number;
  readonly claim?: Claim["is"] | Claim;
  readonly report?: Partial<AgentReport>;
  readonly files?: readonly string[];
  readonly settings?: Partial<Settings>;
  readonly stage?: string;
}

/** The record of an iteration with all that was decided from it. */
function rowOf(told: Told): Record<string, unknown> {
  const { of = A, ordinal = 1, claim = "none", report = {}, files = ["x.ts"], stage = "build" } = told;
  const events: readonly Event[] = [
    runStarted(told.settings),
    tasksObserved(of),
    iterationStarted(7, of, { ordinal, maxIterations: 3, stage }),
    iterationEnded(7, of, claim, report),
    evidence(7, of, files),
  ];
  const decided = given(...events).effects.flatMap((effect) =>
    effect.kind === "record" ? effect.events : [],
  );
  const recorded = [...events, ...decided].map((event, index): Recorded => ({
    ...event,
    position: index + 1,
    at: index,
  }));
  const [record] = iterationRecords(recorded);
  return record === undefined ? {} : executionRow(record);
}

describe("a record of execution.jsonl", () => {
  test("has the fields that scripts read", () => {
    const usage = { ...UNKNOWN_USAGE, costUsd: 0.12 };
    expect(rowOf({ ordinal: 2, report: { durationMs: 45_000.4, usage } })).toEqual({
      task_id: "a",
      stage: "build",
      ralph_iteration: 2,
      ralph_max: 3,
      promise_found: false,
      continuing: true,
      duration_ms: 45_000,
      iteration: 7,
      verdict: "continue",
      reasons: ["the agent did not say that the task is done"],
      timed_out: false,
      cost_usd: 0.12,
    });
  });

  test.each<[why: string, found: boolean, told: Told]>([
    ["the expected promise", true, { claim: "complete", report: { promise: "COMPLETE" } }],
    ["one that is not believed", true, { claim: "complete", report: { promise: "COMPLETE" }, files: [] }],
    ["a status block alone", false, { claim: "complete", report: { promise: null } }],
    ["another promise", false, { report: { promise: "DONE" } }],
    ["a blocker", false, { claim: "blocked", report: { promise: "BLOCKED:no credentials" } }],
  ])("promise_found after %s: %s", (_why, found, told) => {
    expect(rowOf(told)).toMatchObject({ promise_found: found });
  });

  test.each<[why: string, continuing: boolean, told: Told]>([
    ["without a claim", true, {}],
    ["after a false claim", true, { claim: "complete", files: [] }],
    ["in the last iteration", false, { ordinal: 3 }],
    ["after a false claim in the last iteration", false, { ordinal: 3, claim: "complete", files: [] }],
    ["when it is accepted", false, { claim: "complete" }],
    ["when it is blocked", false, { claim: "blocked" }],
    ["when it waits for an answer", false, { claim: "undecided" }],
    ["after a single attempt", false, { of: task("a", { loops: false }), files: [] }],
    ["when so many attempts block it", false, { claim: "complete", files: [], settings: ONE_ATTEMPT }],
    [
      "when the last iteration is to be repeated",
      true,
      { ordinal: 3, report: { failure: { class: "transient", message: "503" } }, files: [] },
    ],
  ])("continuing %s: %s", (_why, continuing, told) => {
    expect(rowOf(told)).toMatchObject({ continuing });
  });

  test.each(["timed-out", "idle"] as const)("an agent that was ended as %s timed out", (is) => {
    const failure = { class: "agent", message: "no end after 1 s" } as const;
    expect(rowOf({ report: { ending: { is, afterMs: 1_000 }, failure } })).toMatchObject({
      timed_out: true,
      continuing: true,
    });
  });
});
