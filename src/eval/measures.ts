import type { Recorded } from "../core/events.ts";
import type { TaskId } from "../core/plan.ts";
import type { ImaginedWorld } from "./imagined-world.ts";
import { Random } from "./random.ts";

interface MeasureWords {
  /** A column's head. */
  readonly short: string;
  readonly long: string;
  readonly form: "percent" | "count" | "dollars";
}

/** What one world came to, in the order of the columns. */
export const MEASURES = {
  uiBlocked: { short: "UI blocked", long: "UI tasks blocked", form: "percent" },
  wasted: { short: "wasted", long: "Iterations on tasks that were never done", form: "percent" },
  uiCompleted: { short: "UI done", long: "UI tasks recorded as done", form: "percent" },
  uiOpen: { short: "UI open", long: "UI tasks neither done nor blocked at the end", form: "percent" },
  uiTrulyCompleted: { short: "UI true", long: "UI tasks really done", form: "percent" },
  trulyCompleted: { short: "all true", long: "All tasks really done", form: "percent" },
  falseAccepted: { short: "false ok", long: "False completions accepted", form: "count" },
  honestRejected: { short: "true no", long: "Honest claims rejected", form: "count" },
  challenged: { short: "chall.", long: "Claims challenged", form: "count" },
  asked: { short: "asked", long: "Claims that a person had to look at", form: "count" },
  filesPerIteration: { short: "files", long: "Files written in an iteration", form: "count" },
  interventions: { short: "interv.", long: "Corrections that the agents were told", form: "count" },
  iterations: { short: "iter.", long: "Iterations", form: "count" },
  costPerTaskUsd: { short: "$/task", long: "Dollars for a task that is really done", form: "dollars" },
} as const satisfies Record<string, MeasureWords>;

export type MeasureName = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];

/** A rate of nothing is null. UI tasks are those that were begun. */
export type Measures = Readonly<Record<MeasureName, number | null>>;

export function measure(
  world: ImaginedWorld,
  events: readonly Recorded[],
  statusOf: (task: TaskId) => string,
): Measures {
  const { truths, tasks } = world;
  const begun = new Set(truths.map(({ task }) => task));
  const ui = tasks.filter(({ kind, task }) => kind === "ui" && begun.has(task.id));
  const isRecorded = (id: TaskId): boolean => statusOf(id) === "done";
  const isTrue = (id: TaskId): boolean => isRecorded(id) && world.isDone(id);
  const share = (of: typeof tasks, has: (id: TaskId) => boolean): number | null =>
    ratio(of.filter(({ task }) => has(task.id)).length, of.length);
  const verdicts = new Map(
    events.flatMap((event) => (event.type === "verdict.reached" ? [[event.iteration, event.verdict]] : [])),
  );
  const count = (is: (event: Recorded) => boolean): number => events.filter(is).length;
  const read = events.map((event) => (event.type === "reader.answered" ? event.reading.usage.costUsd : 0));
  const costUsd = sum([...read, ...truths.map(({ takenMs }) => world.priceOf(takenMs))]);
  return {
    uiBlocked: share(ui, (id) => statusOf(id) === "blocked"),
    wasted: ratio(truths.filter(({ task }) => !isRecorded(task)).length, truths.length),
    uiCompleted: share(ui, isRecorded),
    uiOpen: share(ui, (id) => !isRecorded(id) && statusOf(id) !== "blocked"),
    uiTrulyCompleted: share(ui, isTrue),
    trulyCompleted: share(tasks, isTrue),
    falseAccepted: truths.filter(({ isDone, iteration }) => !isDone && verdicts.get(iteration) === "accepted")
      .length,
    honestRejected: truths.filter(({ isDone, iteration }) => isDone && verdicts.get(iteration) === "rejected")
      .length,
    challenged: count((event) => event.type === "verdict.reached" && event.verdict === "challenged"),
    asked: count((event) => event.type === "question.asked" && event.acceptance !== undefined),
    filesPerIteration: ratio(sum(truths.map(({ files }) => files)), truths.length),
    interventions: count((event) => event.type === "intervention.chosen" && event.isFedBack),
    iterations: truths.length,
    costPerTaskUsd: ratio(costUsd, tasks.filter(({ task }) => isTrue(task.id)).length),
  };
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((all, value) => all + (value ?? 0), 0);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

export function inWords(value: number | null | undefined, measure: MeasureName, unit = ""): string {
  if (value === null || value === undefined) return "–";
  const { form } = MEASURES[measure];
  if (form === "percent") return `${(value * 100).toFixed(0)}${unit}`;
  return value.toFixed(form === "count" ? 1 : 2);
}

/** "54 (48–60)"; one project alone has no interval. */
export function withInterval(estimate: Estimate | null, measure: MeasureName): string {
  const mean = inWords(estimate?.mean, measure);
  if (estimate === null || estimate.worlds === 1) return mean;
  return `${mean} (${inWords(estimate.low, measure)}–${inWords(estimate.high, measure)})`;
}

/** A mean over worlds, and where it lies with 95 % confidence. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Worlds that have a value. */
  readonly worlds: number;
}

const RESAMPLES = 1_000;
const TAIL = 0.025;

/**
 * The mean with a percentile bootstrap interval: worlds are drawn again with replacement, by a seed of their own, and the
 * middle 95 % of the means are kept. It assumes no distribution, and a share never leaves 0 to 1. Null without values.
 */
export function estimate(values: readonly (number | null)[]): Estimate | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const random = new Random(known.length);
  const means = Array.from({ length: RESAMPLES }, () => meanOf(known.map(() => random.pick(known))));
  means.sort((a, b) => a - b);
  const at = (share: number): number => means[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN;
  return { mean: meanOf(known), low: at(TAIL), high: at(1 - TAIL), worlds: known.length };
}

function meanOf(values: readonly number[]): number {
  return sum(values) / values.length;
}
