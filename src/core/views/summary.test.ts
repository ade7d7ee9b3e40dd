import { expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Outcome } from "../events.ts";
import { runSummary } from "./run-lines.ts";

const one = task("one", { done: true });
const two = task("two");
const ended = (outcome: Outcome): Event => ({ type: "run.ended", run: "run-1", outcome, reason: "why" });
const start = [runStarted(), tasksObserved(one, two)];
const iteration = [
  iterationStarted(1, two),
  iterationEnded(1, two, "unfinished"),
  evidence(1, two, ["a.ts"]),
];

test("a run that goes on has none", () => {
  expect(runSummary(given().state, "log")).toEqual([]);
  expect(runSummary(given(...start).state, "log")).toEqual([]);
});

test("it tells how the run ended, and what it came to", () => {
  const { state } = given(...start, ...iteration, ended("exhausted"));
  const run = state.run!;
  const at = {
    ...state,
    run: { ...run, startedAt: 0, end: { ...run.end!, at: 90_000 }, stuckIterations: 2 },
  };
  expect(runSummary(at, ".ralph/logs/summary.csv")).toEqual([
    "Ralph Loop Summary",
    "──────────────────",
    "Exit:        ITERATION LIMIT (code 1)",
    "Iterations:  1 / 50",
    "Duration:    1m 30s",
    "Stories:     1/2 complete",
    "Avg/iter:    1m 30s",
    "Stuck iters: 2",
    "Cost:        unknown",
    "Log:         .ralph/logs/summary.csv",
  ]);
});

test("without an iteration there is no average, and a cost that is known is told", () => {
  const { state } = given(...start, ended("completed"));
  const run = state.run!;
  const spent = { ...state, run: { ...run, spend: { ...run.spend, usd: 1.5 } } };
  const lines = runSummary(spent, "log");
  expect(lines).toContain("Avg/iter:    –");
  expect(lines).toContain("Cost:        $1.50");
});

test.each<[Outcome, string]>([
  ["completed", "COMPLETE (code 0)"],
  ["blocked", "BLOCKED (code 2)"],
  ["undecided", "DECISION NEEDED (code 3)"],
  ["stuck", "STUCK (code 4)"],
  ["limited", "CANNOT GO ON NOW (code 5)"],
  ["misconfigured", "MISCONFIGURED (code 64)"],
  ["stopped", "STOPPED (code 130)"],
])("%s is said as %s", (outcome, words) => {
  expect(runSummary(given(...start, ended(outcome)).state, "log")[2]).toBe(`Exit:        ${words}`);
});
