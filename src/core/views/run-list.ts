import type { EventOf, Outcome, Recorded } from "../events.ts";
import { likelySpent, NOTHING_SPENT, type Spend, withCost } from "../loop/brakes.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import type { Settings } from "../settings.ts";
import { agentsInWords } from "../loop/stages.ts";
import type { Instant } from "../time.ts";
import type { IterationRow } from "./iteration-record.ts";

/** One run in a list of them. */
export interface RunEntry {
  readonly id: string;
  readonly startedAt: Instant;
  /** Null: it goes on, or was interrupted. */
  readonly endedAt: Instant | null;
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly source: string;
  /** With a pipeline those of its stages. */
  readonly agent: string;
  readonly lanes: number;
  /** What its agents ran in, if anything. */
  readonly sandbox?: string;
  readonly iterations: number;
  readonly accepted: number;
  /** Null: nobody told. */
  readonly costUsd: number | null;
}

/** The events of which the list is made; what iterations came to is counted from their rows. */
export const RUN_LIST_EVENTS = ["run.started", "run.resumed", "run.ended"] as const;

/** Every run, the newest first. */
export function runList(events: Iterable<Recorded>, rows: readonly IterationRow[]): readonly RunEntry[] {
  const runs = new Map<string, RunEntry>();
  for (const event of events) {
    if (event.type === "run.started") runs.set(event.run, beginRun(event));
    const run = "run" in event && event.run !== null ? runs.get(event.run) : undefined;
    if (run !== undefined) runs.set(run.id, extend(run, event));
  }
  const sums = sumsOf(rows);
  return [...runs.values()].map((run) => ({ ...run, ...sums.get(run.id) })).toReversed();
}

type Sum = { -readonly [Key in "iterations" | "accepted" | "costUsd"]: RunEntry[Key] };

/** Counted in place: there may be very many rows. */
function sumsOf(rows: readonly IterationRow[]): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { run, isCompleted, costUsd } of rows) {
    const sum = sums.get(run) ?? { iterations: 0, accepted: 0, costUsd: null };
    sum.iterations += 1;
    sum.accepted += isCompleted ? 1 : 0;
    if (costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
    sums.set(run, sum);
  }
  return sums;
}

/** Of a run that workers share nobody knows how many there will be. */
export function lanesOf({ lanes, shared }: Pick<Settings, "lanes" | "shared">): number {
  return shared === true ? 1 : lanes;
}

function beginRun({ run, at, settings }: Recorded<EventOf<"run.started">>): RunEntry {
  return {
    id: run,
    startedAt: at,
    endedAt: null,
    outcome: null,
    reason: null,
    exitCode: null,
    ...ofSettings(settings),
    iterations: 0,
    accepted: 0,
    costUsd: null,
  };
}

function ofSettings(settings: Settings): Pick<RunEntry, "source" | "agent" | "lanes" | "sandbox"> {
  return {
    source: settings.source.label,
    agent: agentsInWords(settings),
    lanes: lanesOf(settings),
    ...(settings.sandbox && { sandbox: settings.sandbox.kind }),
  };
}

function extend(run: RunEntry, event: Recorded): RunEntry {
  switch (event.type) {
    case "run.resumed": {
      const { sandbox: _, ...rest } = run;
      return { ...rest, ...ofSettings(event.settings) };
    }
    case "run.ended": {
      const { at, outcome, reason } = event;
      return { ...run, endedAt: at, outcome, reason, exitCode: EXIT_CODES[outcome] };
    }
    default:
      return run;
  }
}

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
