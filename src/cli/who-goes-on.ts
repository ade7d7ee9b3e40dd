import { driverOf, type Project } from "../compose.ts";
import { isOpen, type State } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";

/** Who takes up a task that waited for a person, or what to type. */
export function whoGoesOn(project: Project, { run, tasks }: State, task: TaskId): string {
  if (driverOf(project) === null || !isOpen(run)) return "go on: ralph run";
  const only = run.settings.onlyTasks;
  const isLeftAlone =
    run.stop !== null || (only !== null && !only.includes(task)) || tasks[task]?.exhaustedIn === run.id;
  return isLeftAlone
    ? "the run that is on does not take it up; after it: ralph run"
    : "the run that is on takes it up";
}
