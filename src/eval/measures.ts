import type { Recorded } from "../core/events.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { ImaginedWorld, IterationTruth } from "./imagined-world.ts";

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
  const costUsd = sum(truths, ({ takenMs }) => world.priceOf(takenMs));
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
