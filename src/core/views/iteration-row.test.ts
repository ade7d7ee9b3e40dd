import { expect, test } from "vitest";
import {
  evidence,
  interventionChosen,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { iterationRows } from "./iteration-record.ts";

const A = task("a");

function rowsOf(...events: readonly Event[]): ReturnType<typeof iterationRows> {
  return iterationRows(
    events.map((event, index): Recorded => ({ ...event, position: index + 1, at: index + 1 })),
  );
}

test("a row has what is known so far, and null for the rest", () => {
  expect(rowsOf(runStarted(), iterationStarted(7, A, { lane: 2 }))).toMatchObject([
    {
      iteration: 7,
      task: "a",
      lane: 2,
      startedAt: 2,
      durationMs: null,
      verdict: null,
      files: null,
      costUsd: null,
    },
  ]);
});

test("a row of a judged iteration has the first reason and every intervention", () => {
  const reasons = [
    { rule: "gate:tests", sentence: 'gate "tests" failed' },
    { rule: "gate:types", sentence: 'gate "types" failed' },
  ];
  const rejected: Event = {
    type: "verdict.reached",
    run: "run-1",
    task: "a",
    iteration: 1,
    verdict: "rejected",
    reasons,
    madeProgress: true,
    retryAt: null,
    exitSignal: null,
  };
  const rows = rowsOf(
    iterationStarted(1, A),
    iterationEnded(1, A, "complete", { durationMs: 5_000 }),
    evidence(1, A, ["x.ts", "y.ts"]),
    rejected,
    interventionChosen(1, A, { intervention: "gate_failed" }),
    interventionChosen(1, A, { intervention: "gate_failed" }),
  );
  expect(rows).toMatchObject([
    {
      durationMs: 5_000,
      claim: "complete",
      files: 2,
      verdict: "rejected",
      why: 'gate "tests" failed',
      interventions: ["gate_failed", "gate_failed"],
      isCompleted: false,
    },
  ]);
});

test("facts about an iteration whose beginning is not there make no row", () => {
  expect(rowsOf(iterationEnded(1, A, "none"))).toEqual([]);
});
