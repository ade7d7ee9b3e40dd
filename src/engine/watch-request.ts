import { leftoversOf, taskState, type OpenIteration, type State } from "../core/loop/state.ts";
import type { Ports, WatchRequest } from "./ports.ts";

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
