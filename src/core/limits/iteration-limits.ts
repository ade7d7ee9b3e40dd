import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";

/** A task whose limit was used up in so many runs waits for a person. */
export const EXHAUSTED_RUNS_MAX = 3;

export function maxIterationsOf(task: Task, settings: Settings): number {
  return task.loops ? (task.maxIterations ?? settings.limits.maxIterationsPerTask) : 1;
}
