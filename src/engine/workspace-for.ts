import { taskState, type State } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { Ports, Workspace } from "./ports.ts";

/** Where a task is worked on. */
export function workspaceFor(ports: Ports, state: State, task: TaskId): Workspace {
  const { worktree } = taskState(state, task);
  if (worktree === null || ports.beside === null) return ports.workspace;
  return ports.beside.workspaceAt(worktree.root);
}
