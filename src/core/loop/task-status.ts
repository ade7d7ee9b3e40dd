import { taskState, type State, type TaskState } from "./state.ts";
import type { Task, TaskId } from "../plan/task.ts";

export type TaskStatus = "todo" | "doing" | "done" | "blocked" | "undecided" | "failed" | "cancelled";

/** Accepted work is done when the base has it, or people were asked to bring it there. */
function mergedStatus({ merge }: TaskState): TaskStatus {
  switch (merge?.is) {
    case "held":
      return "blocked";
    case "due":
    case "prepared":
      return "doing";
    default:
      return "done";
  }
}

/** Why only a person can move it; null when that is not so. */
export function whyBlocked({ blockedReason, merge }: TaskState): string | null {
  return blockedReason ?? (merge?.is === "held" ? merge.why : null);
}

/** A person has cancelled it, and this run leaves it alone. */
export function isCancelled(state: State, id: TaskId): boolean {
  const { cancelledIn } = taskState(state, id);
  return cancelledIn !== null && cancelledIn === state.run?.id;
}

/** By state, as every decision asks for all of them again and again. */
const statuses = new WeakMap<State, Map<Task, TaskStatus>>();

/** What a task is, from the operator's mark and our own facts. */
export function statusOf(state: State, task: Task): TaskStatus {
  const known = statuses.get(state) ?? new Map<Task, TaskStatus>();
  if (known.size === 0) statuses.set(state, known);
  const found = known.get(task);
  if (found !== undefined) return found;
  const status = findStatus(state, task);
  known.set(task, status);
  return status;
}

function findStatus(state: State, task: Task): TaskStatus {
  const known = taskState(state, task.id);
  // Its work is accepted, and not on its way to the base before the next run.
  if (known.merge?.is === "due" && isCancelled(state, task.id)) return "cancelled";
  if (task.done || known.completion !== null) return mergedStatus(known);
  if (isCancelled(state, task.id)) return "cancelled";
  if (known.blockedReason !== null) return "blocked";
  if (known.failedIn !== null && known.failedIn === state.run?.id) return "failed";
  if (known.question !== null && known.question.answer === null) return "undecided";
  return state.iterations.some((open) => open.task === task.id) ? "doing" : "todo";
}
