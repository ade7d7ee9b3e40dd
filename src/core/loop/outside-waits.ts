import { few } from "../few.ts";
import type { Plan, Task } from "../plan/task.ts";
import { tasksInScope } from "./select-tasks.ts";
import type { RunState, State } from "./state.ts";
import { statusOf } from "./task-status.ts";

/** The open tasks that wait for something which is not among the tasks, so that no run can do it; each as a sentence. */
export function outsideWaits(state: State, run: RunState, plan: Plan): readonly string[] {
  const ids = new Set(plan.tasks.map(({ id }) => id));
  return tasksInScope(run, plan)
    .filter((task) => statusOf(state, task) === "todo")
    .filter(({ dependsOn }) => !dependsOn.every((id) => ids.has(id)))
    .map((task) => `${task.id} ${outsideInWords(plan, task) ?? ""}`);
}

/** The end of a sentence that begins with the task's id; null when it waits for nothing of the kind. */
export function outsideInWords({ source, tasks }: Plan, { dependsOn }: Task): string | null {
  const outside = dependsOn.filter((id) => tasks.every((other) => other.id !== id));
  if (outside.length === 0) return null;
  const are = outside.length === 1 ? "is" : "are";
  return `waits for ${few(outside)}, which ${are} not done and not among the tasks of ${source.label}`;
}

/** The run has ended as blocked, and no task is: nobody was told of the reason by a fact of its own. */
export function isBlockedOutside(state: State): boolean {
  const { run, plan } = state;
  if (run?.end?.outcome !== "blocked" || plan === null) return false;
  const isBlocked = tasksInScope(run, plan).some((task) => statusOf(state, task) === "blocked");
  return !isBlocked && outsideWaits(state, run, plan).length > 0;
}
