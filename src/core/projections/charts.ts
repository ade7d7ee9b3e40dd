import { likelySpent, NOTHING_SPENT, withCost, type Spend } from "../limits/budget.ts";
import type { Instant } from "../time.ts";
import type { IterationRow } from "./iteration-row.ts";

/** A line or bars: the same number of moments (or iterations) and values. Null: not known. */
export interface Series {
  readonly name: string;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
}

export interface Charts {
  /** Dollars spent so far, by time. */
  readonly cost: Series;
  /** Dollars for each accepted task so far, by time. */
  readonly costPerTask: Series;
  /** Minutes, by iteration. */
  readonly duration: Series;
  /** Files changed, by iteration. */
  readonly files: Series;
  /** How often each type of intervention was chosen, the most frequent first. */
  readonly interventions: readonly { readonly type: string; readonly count: number }[];
  /** Where the budget will be at this rate. */
  readonly forecast: Forecast | null;
}

export interface Forecast {
  readonly budgetUsd: number;
  readonly spentUsd: number;
  /** Of the whole plan, if it goes on like this; null: too early to tell. */
  readonly planUsd: number | null;
  /** When the budget is used up at this rate; null: not before the plan is done, or nothing is spent. */
  readonly reachedAt: Instant | null;
}

/** What is known beside the iterations. */
export interface AroundCharts {
  readonly budgetUsd: number | null;
  /** Of the whole plan, if it goes on like this. */
  readonly forecastUsd: number | null;
  /** Of a run that has ended: when it did. */
  readonly now: Instant;
}

const MINUTE_MS = 60_000;

/** Of iterations in any order. */
export function chartsOf(rows: readonly IterationRow[], around: AroundCharts): Charts {
  const inOrder = rows.toSorted((a, b) => a.iteration - b.iteration);
  const x = inOrder.map(({ iteration }) => iteration);
  const cost = costSoFar(rows);
  const minutes = inOrder.map(({ durationMs }) => (durationMs === null ? null : durationMs / MINUTE_MS));
  return {
    cost,
    costPerTask: costPerTask(rows, cost),
    duration: { name: "Minutes", x, y: minutes },
    files: { name: "Files", x, y: inOrder.map(({ files }) => files) },
    interventions: countInterventions(inOrder),
    forecast: forecastOf(rows, cost, around),
  };
}

/** From nothing at the first beginning to the end of each iteration. */
function costSoFar(rows: readonly IterationRow[]): Series {
  const first = rows.reduce((earliest, { startedAt }) => Math.min(earliest, startedAt), Infinity);
  const isKnown = rows.some(({ costUsd }) => costUsd !== null);
  const x: Instant[] = rows.length === 0 ? [] : [first];
  const y: (number | null)[] = rows.length === 0 ? [] : [isKnown ? 0 : null];
  let sum = 0;
  for (const row of endedInOrder(rows)) {
    sum += row.costUsd ?? 0;
    x.push(endOf(row));
    y.push(isKnown ? sum : null);
  }
  return { name: "Cost", x, y };
}

/** At the same moments. */
function costPerTask(rows: readonly IterationRow[], { x, y }: Series): Series {
  let accepted = 0;
  const counts = endedInOrder(rows).map(({ isCompleted }) => (accepted += isCompleted ? 1 : 0));
  const each = y.map((usd, index) => {
    const tasks = counts[index - 1] ?? 0;
    return usd === null || tasks === 0 ? null : usd / tasks;
  });
  return { name: "Cost per accepted task", x, y: each };
}

function endedInOrder(rows: readonly IterationRow[]): readonly IterationRow[] {
  return rows.filter(({ durationMs }) => durationMs !== null).toSorted((a, b) => endOf(a) - endOf(b));
}

function endOf({ startedAt, durationMs }: IterationRow): Instant {
  return startedAt + (durationMs ?? 0);
}

function countInterventions(rows: readonly IterationRow[]): Charts["interventions"] {
  const counts = new Map<string, number>();
  for (const type of rows.flatMap(({ interventions }) => interventions))
    counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => ({ type, count })).toSorted((a, b) => b.count - a.count);
}

function forecastOf(rows: readonly IterationRow[], cost: Series, around: AroundCharts): Forecast | null {
  const { budgetUsd, forecastUsd: planUsd } = around;
  if (budgetUsd === null) return null;
  const spend = endedInOrder(rows).reduce<Spend>((sum, { costUsd }) => withCost(sum, costUsd), NOTHING_SPENT);
  const spentUsd = likelySpent(spend);
  return { budgetUsd, spentUsd, planUsd, reachedAt: whenReached(cost, { ...around, budgetUsd, spentUsd }) };
}

function whenReached(
  { x, y }: Series,
  { budgetUsd, spentUsd, forecastUsd, now }: AroundCharts & { budgetUsd: number; spentUsd: number },
): Instant | null {
  const begun = x[0];
  if (begun === undefined || spentUsd === 0) return null;
  if (spentUsd >= budgetUsd) return x[y.findIndex((usd) => usd !== null && usd >= budgetUsd)] ?? now;
  if (forecastUsd !== null && forecastUsd <= budgetUsd) return null;
  const msPerDollar = Math.max(0, now - begun) / spentUsd;
  return Math.round(now + (budgetUsd - spentUsd) * msPerDollar);
}
