import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import type { TaskState } from "./state.ts";

/** Who works on a task now: the stand-in of a suspended agent, the task's own, or the run's. */
export function agentFor(task: Task, { standIn }: TaskState, settings: Settings): string {
  if (standIn !== null && settings.fallbackAgents.includes(standIn)) return standIn;
  return task.agent ?? settings.agent;
}
