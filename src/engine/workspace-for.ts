import { taskState, type State, type OpenIteration, leftoversOf } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { Ports, Workspace, WatchRequest } from "./ports.ts";

/** Where a task is worked on. */
export function workspaceFor(ports: Ports, state: State, task: TaskId): Workspace {
  const { worktree } = taskState(state, task);
  if (worktree === null || ports.beside === null) return ports.workspace;
  return ports.beside.workspaceAt(worktree.root);
}

/** The open iteration an effect is about; it is there, or the effect would not have been asked for. */
export function openIteration(state: State, number: number): OpenIteration {
  const open = state.iterations.find((iteration) => iteration.number === number);
  if (open === undefined) throw new Error(`iteration ${number} is not open`);
  return open;
}

/** From where on, and without what, an iteration's work counts. */
export function watchRequest(state: State, open: OpenIteration, ports: Ports): WatchRequest {
  const { byGates, gatesRan } = leftoversOf(state, open.task);
  return {
    from: { head: open.head, branch: open.branch },
    ignore: ports.source.files.filter((file) => !file.isAgents).map((file) => file.path),
    leaveAlone: taskState(state, open.task).worktree?.copied ?? state.run?.settings.leaveAlone ?? [],
    leftBefore: open.leftovers,
    leftByGates: byGates,
    gatesRan,
  };
}
