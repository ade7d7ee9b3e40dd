import type { EventOf, Recorded } from "../events.ts";
import { likelySpent, NOTHING_SPENT, type Spend, withCost } from "../loop/brakes.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import type { Settings } from "../settings.ts";
import { agentsInWords } from "../loop/stages.ts";
import type { Instant } from "../time.ts";
import { type IterationRow, sumOf } from "./iteration-record.ts";

/** The events of which the list is made; what iterations came to is counted from their rows. */
export const RUN_LIST_EVENTS = ["run.started", "run.resumed", "run.ended"] as const;

/** One run in a list of them. */
export type RunEntry = ReturnType<typeof runEntry>;

/** Every run, the newest first. */
export function runList(events: readonly Recorded[], rows: readonly IterationRow[]): readonly RunEntry[] {
  const byRun = Map.groupBy(events, (event) => ("run" in event ? event.run : null));
  const rowsByRun = Map.groupBy(rows, ({ run }) => run);
  return events
    .filter((event) => event.type === "run.started")
    .map((start) => runEntry(start, byRun.get(start.run) ?? [], rowsByRun.get(start.run) ?? []))
    .toReversed();
}

function runEntry(
  start: Recorded<EventOf<"run.started">>,
  events: readonly Recorded[],
  rows: readonly IterationRow[],
) {
  const { settings } = events.findLast((event) => event.type === "run.resumed") ?? start;
  const end = events.findLast((event) => event.type === "run.ended");
  return {
    id: start.run,
    startedAt: start.at,
    /** Null: it goes on, or was interrupted. */
    endedAt: end?.at ?? null,
    outcome: end?.outcome ?? null,
    reason: end?.reason ?? null,
    exitCode: end === undefined ? null : EXIT_CODES[end.outcome],
    source: settings.source.label,
    /** With a pipeline those of its stages. */
    agent: agentsInWords(settings),
    lanes: lanesOf(settings),
    ...(settings.sandbox && { sandbox: settings.sandbox.kind }),
    iterations: rows.length,
    accepted: rows.filter(({ isCompleted }) => isCompleted).length,
    /** Null: nobody told. */
    costUsd: rows.reduce<number | null>((sum, { costUsd }) => sumOf(sum, costUsd), null),
  };
}

/** Of a run that workers share nobody knows how many there will be. */
export function lanesOf({ lanes, shared }: Pick<Settings, "lanes" | "shared">): number {
  return shared === true ? 1 : lanes;
}

/** A line or bars: the same number of moments (or iterations) and values. Null: not known. */
export interface Series {
  readonly name: string;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
}

/** What is known beside the iterations. */
export interface AroundCharts {
  readonly budgetUsd: number | null;
  /** Of the whole plan, if it goes on like this; null: too early to tell. */
  readonly forecastUsd: number | null;
  /** Of a run that has ended: when it did. */
  readonly now: Instant;
}

const MINUTE_MS = 60_000;

export type Charts = ReturnType<typeof chartsOf>;

/** Of iterations in any order. */
export function chartsOf(rows: readonly IterationRow[], around: AroundCharts) {
  const inOrder = rows.toSorted((a, b) => a.iteration - b.iteration);
  const x = inOrder.map(({ iteration }) => iteration);
  const minutes = inOrder.map(({ durationMs }) => (durationMs === null ? null : durationMs / MINUTE_MS));
  const types = inOrder.flatMap(({ interventions }) => interventions);
  const counts = [...Map.groupBy(types, (type) => type)].map(([type, all]) => ({ type, count: all.length }));
  const { cost, costPerTask } = costsSoFar(rows);
  const duration: Series = { name: "Minutes", x, y: minutes };
  const files: Series = { name: "Files", x, y: inOrder.map((row) => row.files) };
  return {
    cost,
    costPerTask,
    duration,
    files,
    /** How often each type was chosen, the most frequent first. */
    interventions: counts.toSorted((a, b) => b.count - a.count),
    forecast: forecastOf(rows, cost, around),
  };
}

/** Dollars, and dollars for each accepted task: from the first beginning on, at the end of each iteration. */
function costsSoFar(rows: readonly IterationRow[]): { readonly cost: Series; readonly costPerTask: Series } {
  const isKnown = rows.some(({ costUsd }) => costUsd !== null);
  const first = rows.reduce((earliest, { startedAt }) => Math.min(earliest, startedAt), Infinity);
  const points = rows.length === 0 ? [] : [{ at: first, usd: isKnown ? 0 : null, accepted: 0 }];
  let [usd, accepted] = [0, 0];
  for (const row of endedInOrder(rows)) {
    usd += row.costUsd ?? 0;
    accepted += row.isCompleted ? 1 : 0;
    points.push({ at: endOf(row), usd: isKnown ? usd : null, accepted });
  }
  const x = points.map(({ at }) => at);
  const each = points.map((point) =>
    point.usd === null || point.accepted === 0 ? null : point.usd / point.accepted,
  );
  return {
    cost: { name: "Cost", x, y: points.map((point) => point.usd) },
    costPerTask: { name: "Cost per accepted task", x, y: each },
  };
}

function endedInOrder(rows: readonly IterationRow[]): readonly IterationRow[] {
  return rows.filter(({ durationMs }) => durationMs !== null).toSorted((a, b) => endOf(a) - endOf(b));
}

function endOf({ startedAt, durationMs }: IterationRow): Instant {
  return startedAt + (durationMs ?? 0);
}

/** Where the budget will be at this rate. */
export type Forecast = NonNullable<ReturnType<typeof forecastOf>>;

function forecastOf(rows: readonly IterationRow[], { x, y }: Series, around: AroundCharts) {
  const { budgetUsd, forecastUsd: planUsd, now } = around;
  if (budgetUsd === null) return null;
  const spend = endedInOrder(rows).reduce<Spend>((sum, { costUsd }) => withCost(sum, costUsd), NOTHING_SPENT);
  const spentUsd = likelySpent(spend);
  const whenReached = (): Instant | null => {
    const [begun] = x;
    if (begun === undefined || spentUsd === 0) return null;
    if (spentUsd >= budgetUsd) return x[y.findIndex((usd) => usd !== null && usd >= budgetUsd)] ?? now;
    if (planUsd !== null && planUsd <= budgetUsd) return null;
    const msPerDollar = Math.max(0, now - begun) / spentUsd;
    return Math.round(now + (budgetUsd - spentUsd) * msPerDollar);
  };
  /** Null: not before the plan is done, or nothing is spent. */
  const reachedAt = whenReached();
  return { budgetUsd, spentUsd, planUsd, reachedAt };
}
