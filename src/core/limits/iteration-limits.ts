import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import type { StageSettings } from "../stages/stages.ts";
import { complexityOf } from "./complexity.ts";

/** A task whose limit was used up in so many runs waits for a person. */
export const EXHAUSTED_RUNS_MAX = 3;

export function maxIterationsOf(task: Task, settings: Settings, stage: StageSettings): number {
  if (!task.loops || !stage.loops) return 1;
  if (stage.maxIterations !== null) return stage.maxIterations;
  return task.maxIterations ?? scaled(settings.limits.maxIterationsPerTask, task, settings);
}

/** A task that needs more time an iteration needs more of them as well. */
function scaled(limit: number, task: Task, { adaptiveIterations, adaptiveTimeout }: Settings): number {
  if (!adaptiveIterations) return limit;
  const { multiplier } = adaptiveTimeout.levels[complexityOf(task, adaptiveTimeout.levels)];
  return Math.ceil(Number((limit * multiplier).toFixed(6)));
}
