import type { Recorded } from "../core/events.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { ImaginedWorld, IterationTruth } from "./imagined-world.ts";
import { Random } from "./random.ts";

/** What one world came to. A rate of nothing is null. */
export interface Measures {
  readonly iterations: number;
  /** Of all tasks: recorded as done, and really done. */
  readonly completed: number | null;
  readonly trulyCompleted: number | null;
  /** Of the tasks with a screen that were begun. */
  readonly uiBlocked: number | null;
  readonly uiCompleted: number | null;
  /** Neither the one nor the other when the iterations were used up. */
  readonly uiOpen: number | null;
  readonly uiTrulyCompleted: number | null;
  /** Iterations on tasks that ended without being done. */
  readonly wasted: number | null;
  /** … and those of which nothing is left in a task that is really done. */
  readonly withoutResult: number | null;
  readonly filesPerIteration: number | null;
  readonly falseAccepted: number;
  readonly honestRejected: number;
  /** Claims that were challenged, and those that a person had to look at. */
  readonly challenged: number;
  readonly asked: number;
  /** Corrections that an agent was told. */
  readonly interventions: number;
  readonly costUsd: number;
  /** For a task that is really done. */
  readonly costPerTaskUsd: number | null;
  readonly hours: number;
}

export type MeasureName = keyof Measures;

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
  const verdicts = verdictsOf(events);
  const read = sum(events, (event) =>
    event.type === "reader.answered" ? (event.reading.usage.costUsd ?? 0) : 0,
  );
  const costUsd = read + sum(truths, ({ takenMs }) => world.priceOf(takenMs));
  const done = tasks.filter(({ task }) => isTrue(task.id)).length;
  const share = (of: readonly { task: { id: string } }[], has: (id: TaskId) => boolean): number | null =>
    ratio(of.filter(({ task }) => has(task.id)).length, of.length);
  return {
    iterations: truths.length,
    completed: share(tasks, isRecorded),
    trulyCompleted: share(tasks, isTrue),
    uiBlocked: share(ui, (id) => statusOf(id) === "blocked"),
    uiCompleted: share(ui, isRecorded),
    uiOpen: share(ui, (id) => !isRecorded(id) && statusOf(id) !== "blocked"),
    uiTrulyCompleted: share(ui, isTrue),
    wasted: ratio(truths.filter(({ task }) => !isRecorded(task)).length, truths.length),
    withoutResult: ratio(truths.length - lasting(truths, isTrue, verdicts), truths.length),
    filesPerIteration: ratio(
      sum(truths, ({ files }) => files),
      truths.length,
    ),
    falseAccepted: truths.filter((truth) => !truth.isDone && verdicts.get(truth.iteration) === "accepted")
      .length,
    honestRejected: truths.filter((truth) => truth.isDone && verdicts.get(truth.iteration) === "rejected")
      .length,
    challenged: [...verdicts.values()].filter((verdict) => verdict === "challenged").length,
    asked: events.filter((event) => event.type === "question.asked" && event.acceptance !== undefined).length,
    interventions: events.filter((event) => event.type === "intervention.chosen" && event.isFedBack).length,
    costUsd,
    costPerTaskUsd: ratio(costUsd, done),
    hours: sum(truths, ({ takenMs }) => takenMs) / 3_600_000,
  };
}

function verdictsOf(events: readonly Recorded[]): ReadonlyMap<number, string> {
  return new Map(
    events.flatMap((event) => (event.type === "verdict.reached" ? [[event.iteration, event.verdict]] : [])),
  );
}

/** Iterations of which something is left in a task that is really done; who began anew threw away what was before. */
function lasting(
  truths: readonly IterationTruth[],
  isTrue: (task: TaskId) => boolean,
  verdicts: ReadonlyMap<number, string>,
): number {
  const kept = new Map<TaskId, number>();
  for (const { task, iteration, isFurther, beganAnew } of truths) {
    const counts = isFurther || verdicts.get(iteration) === "accepted";
    kept.set(task, (beganAnew ? 0 : (kept.get(task) ?? 0)) + (counts ? 1 : 0));
  }
  return sum([...kept], ([task, count]) => (isTrue(task) ? count : 0));
}

function sum<T>(items: readonly T[], number: (item: T) => number): number {
  return items.reduce((all, item) => all + number(item), 0);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** How a measure is shown, in tables and charts. */
export interface MeasureWords {
  readonly measure: MeasureName;
  /** A column's head. */
  readonly short: string;
  readonly long: string;
  readonly form: "percent" | "count" | "dollars";
}

/** In the order of the columns. */
export const MEASURE_WORDS: readonly MeasureWords[] = [
  { measure: "uiBlocked", short: "UI blocked", long: "UI tasks blocked", form: "percent" },
  { measure: "wasted", short: "wasted", long: "Iterations on tasks that were never done", form: "percent" },
  { measure: "uiCompleted", short: "UI done", long: "UI tasks recorded as done", form: "percent" },
  {
    measure: "uiOpen",
    short: "UI open",
    long: "UI tasks neither done nor blocked when the iterations were used up",
    form: "percent",
  },
  { measure: "uiTrulyCompleted", short: "UI true", long: "UI tasks really done", form: "percent" },
  { measure: "trulyCompleted", short: "all true", long: "All tasks really done", form: "percent" },
  {
    measure: "withoutResult",
    short: "no result",
    long: "Iterations of which nothing is left in a task that is really done",
    form: "percent",
  },
  { measure: "falseAccepted", short: "false ok", long: "False completions accepted", form: "count" },
  { measure: "honestRejected", short: "true no", long: "Honest claims rejected", form: "count" },
  { measure: "challenged", short: "chall.", long: "Claims challenged", form: "count" },
  { measure: "asked", short: "asked", long: "Claims that a person had to look at", form: "count" },
  { measure: "filesPerIteration", short: "files", long: "Files written in an iteration", form: "count" },
  {
    measure: "interventions",
    short: "interv.",
    long: "Corrections that the agents were told",
    form: "count",
  },
  { measure: "iterations", short: "iter.", long: "Iterations", form: "count" },
  {
    measure: "costPerTaskUsd",
    short: "$/task",
    long: "Dollars for a task that is really done",
    form: "dollars",
  },
];

/** Of some measures, in the order of the columns. */
export function wordsFor(...measures: readonly MeasureName[]): readonly MeasureWords[] {
  return MEASURE_WORDS.filter(({ measure }) => measures.includes(measure));
}

export function inWords(value: number | null | undefined, form: MeasureWords["form"]): string {
  if (value === null || value === undefined) return "–";
  switch (form) {
    case "percent":
      return (value * 100).toFixed(0);
    case "count":
      return value.toFixed(1);
    case "dollars":
      return value.toFixed(2);
  }
}

/** "54 (48–60)"; one project alone has no interval. */
export function withInterval(estimate: Estimate | null, form: MeasureWords["form"]): string {
  if (estimate === null || estimate.worlds === 1) return inWords(estimate?.mean, form);
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map((value) => inWords(value, form));
  return `${mean} (${low}–${high})`;
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
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
