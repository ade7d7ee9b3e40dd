import { describe, expect, test } from "vitest";
import {
  evidence,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { evolveAll } from "../loop/evolve.ts";
import { UNKNOWN_USAGE } from "../streams/agent-report.ts";
import { htmlReport } from "./html-report.ts";
import { markdownReport } from "./markdown-report.ts";
import { runReport, type ReportSources, type RunReport } from "./run-report.ts";

const A = task("a");
const B = task("b");
const MINUTE_MS = 60_000;

/** Facts a minute apart. */
function reportOf(events: readonly Event[], more: Partial<ReportSources> = {}): RunReport | null {
  const recorded = events.map((event, index): Recorded => ({
    ...event,
    position: index + 1,
    at: (index + 1) * MINUTE_MS,
  }));
  return runReport({
    run: "run-1",
    events: recorded,
    state: evolveAll(recorded),
    blocked: [],
    project: "shop",
    isDriven: false,
    isLatest: true,
    now: 100 * MINUTE_MS,
    version: "test",
    ...more,
  });
}

const BLOCKED: readonly Event[] = [
  runStarted({ limits: { ...settings().limits, budget: { run: 5, task: null, day: null } } }),
  tasksObserved(A, B),
  iterationStarted(1, A),
  iterationEnded(1, A, "blocked", { usage: { ...UNKNOWN_USAGE, costUsd: 0.5, inputTokens: 10 } }),
  evidence(1, A, []),
  {
    type: "verdict.reached",
    run: "run-1",
    task: "a",
    iteration: 1,
    verdict: "blocked",
    reasons: [{ rule: "claim", sentence: "no credentials" }],
    madeProgress: false,
    retryAt: null,
    exitSignal: null,
  },
  { type: "task.blocked", run: "run-1", task: "a", iteration: 1, reason: "no credentials" },
  { type: "run.ended", run: "run-1", outcome: "blocked", reason: "a is blocked" },
];

describe("the report of a run", () => {
  test("has its figures, and what waits for a person", () => {
    expect(reportOf(BLOCKED)).toMatchObject({
      done: 0,
      all: 2,
      durationMs: 7 * MINUTE_MS,
      unpriced: 0,
      costPerTaskUsd: null,
      waiting: [
        { task: "a", is: "blocked", text: "no credentials", command: "ralph unblock a && ralph run" },
      ],
      costs: [{ task: "a", agent: "stub", iterations: 1, tokens: 10, costUsd: 0.5 }],
      charts: { forecast: { budgetUsd: 5, spentUsd: 0.5 } },
    });
  });

  test("tells of each task, also of those that nobody came to", () => {
    expect(reportOf(BLOCKED)?.tasks).toMatchObject([
      {
        id: "a",
        status: "blocked",
        stands: "a is blocked: no credentials.",
        steps: [{ verdict: "blocked" }],
      },
      { id: "b", status: "todo", stands: "b has not been worked on yet.", steps: [], acceptance: null },
    ]);
  });

  test("leaves out the middle of a very long story", () => {
    const many = Array.from({ length: 100 }, (_, index) => [
      iterationStarted(index + 1, A),
      iterationEnded(index + 1, A, "none"),
    ]).flat();
    const steps = reportOf([runStarted(), tasksObserved(A), ...many])?.tasks[0]?.steps ?? [];
    expect(steps).toHaveLength(61);
    expect(steps[10]).toMatchObject({ iteration: null });
    expect(steps[10]?.text).toMatch(/^40 more steps .* ralph history --task a$/);
    expect(steps.at(-1)).toMatchObject({ iteration: 100 });
  });

  test.each([
    [true, "It is still running", 99],
    [false, "Interrupted: its process is gone", 2],
  ])("of a run without an end (driven: %s) says so", (isDriven, title, minutes) => {
    const open = reportOf([runStarted(), tasksObserved(A), iterationStarted(1, A)], { isDriven });
    expect(open?.durationMs).toBe(minutes * MINUTE_MS);
    expect(htmlReport(open!)).toContain(`<h1>${title}</h1>`);
    expect(markdownReport(open!)).toContain(`# shop: ${title}\n`);
  });

  test("of a run that did nothing is a report, too", () => {
    const empty = reportOf([runStarted()]);
    expect(htmlReport(empty!)).toContain("No task was worked on.");
    expect(markdownReport(empty!)).toContain("No task was worked on.");
  });

  test("there is none of a run that is not there", () => {
    expect(reportOf(BLOCKED, { run: "run-2" })).toBeNull();
  });
});
