import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import type { StageSettings } from "../stages/stages.ts";

/** What the agent has to print when it is done: the stage's, the task's, or the run's. */
export function promiseFor(task: Task | undefined, settings: Settings, stage: StageSettings): string {
  return stage.promise ?? task?.promise ?? settings.promise.completion;
}
