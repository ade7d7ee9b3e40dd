import { driverOf, type Project } from "../compose.ts";
import { isOpen, type State } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";

/** Who goes on with a task that waited for a person: the run that is on, or the next one. */
export function goesOn(project: Project, { run, tasks }: State, task: TaskId): "this run" | "the next run" {
  if (driverOf(project) === null || !isOpen(run) || run.stop !== null) return "the next run";
  const only = run.settings.onlyTasks;
  const isLeftOut = only !== null && !only.includes(task);
  return isLeftOut || tasks[task]?.exhaustedIn === run.id ? "the next run" : "this run";
}
