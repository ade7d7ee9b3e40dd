import { describe, expect, test } from "vitest";
import type { IterationRow } from "./iteration-record.ts";
import { type AroundCharts, chartsOf } from "./run-list.ts";

const MINUTE_MS = 60_000;
const NO_BUDGET: AroundCharts = { budgetUsd: null, forecastUsd: null, now: 0 };

/** Starts at the minute of its number and takes one. */
function row(iteration: number, more: Partial<IterationRow> = {}): IterationRow {
  return {
    iteration,
    run: "run-1",
    task: "a",
    stage: "build",
    agent: "stub",
    ordinal: iteration,
    maxIterations: 30,
    lane: 1,
    startedAt: iteration * MINUTE_MS,
    durationMs: MINUTE_MS,
    claim: "none",
    verdict: "continue",
    why: null,
    files: 1,
    costUsd: 0.5,
    isCompleted: false,
    interventions: [],
    ...more,
  };
}

describe("charts", () => {
  test("of nothing are empty", () => {
    const charts = chartsOf([], NO_BUDGET);
    expect(charts.cost).toMatchObject({ x: [], y: [] });
    expect(charts.interventions).toEqual([]);
    expect(charts.forecast).toBeNull();
  });

  test("add the cost up in the order in which iterations ended", () => {
    const { cost, costPerTask } = chartsOf(
      [row(1, { durationMs: 5 * MINUTE_MS, isCompleted: true }), row(2), row(3, { costUsd: null })],
      NO_BUDGET,
    );
    expect(cost.x).toEqual([1, 3, 4, 6].map((minute) => minute * MINUTE_MS));
    expect(cost.y).toEqual([0, 0.5, 0.5, 1]);
    expect(costPerTask.y).toEqual([null, null, null, 1]);
  });

  test("say nothing of a cost that nobody told", () => {
    expect(chartsOf([row(1, { costUsd: null })], NO_BUDGET).cost.y).toEqual([null, null]);
  });

  test("have minutes and files by iteration, with a gap where one still runs", () => {
    const { duration, files } = chartsOf([row(2, { durationMs: null, files: null }), row(1)], NO_BUDGET);
    expect(duration).toMatchObject({ x: [1, 2], y: [1, null] });
    expect(files).toMatchObject({ x: [1, 2], y: [1, null] });
  });

  test("count interventions, the most frequent first", () => {
    const rows = [
      row(1, { interventions: ["timeout", "gate_failed"] }),
      row(2, { interventions: ["gate_failed"] }),
    ];
    expect(chartsOf(rows, NO_BUDGET).interventions).toEqual([
      { type: "gate_failed", count: 2 },
      { type: "timeout", count: 1 },
    ]);
  });

  test("tell when the budget is used up at this rate", () => {
    const rows = [row(0), row(1)];
    const now = 2 * MINUTE_MS;
    const forecast = (budgetUsd: number, forecastUsd: number | null): unknown =>
      chartsOf(rows, { budgetUsd, forecastUsd, now }).forecast;
    expect(forecast(2, 5)).toEqual({ budgetUsd: 2, spentUsd: 1, planUsd: 5, reachedAt: 4 * MINUTE_MS });
    expect(forecast(2, null)).toMatchObject({ reachedAt: 4 * MINUTE_MS });
    expect(forecast(8, 5)).toMatchObject({ reachedAt: null });
    expect(forecast(0.5, 5)).toMatchObject({ reachedAt: 1 * MINUTE_MS });
  });

  test("take an iteration of unknown cost for an average one", () => {
    const around = { budgetUsd: 10, forecastUsd: null, now: 3 * MINUTE_MS };
    expect(chartsOf([row(1), row(2, { costUsd: null })], around).forecast).toMatchObject({ spentUsd: 1 });
  });
});
