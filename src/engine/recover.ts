import { isOpen, type State } from "../core/loop/state.ts";
import { baselineMarker } from "./effects/measure-baseline.ts";
import { mergeMarker } from "./effects/merge-task.ts";
import type { Ports } from "./ports.ts";

/**
 * Clears away what a dead engine left behind: agents, gates and git processes that still carry the marker of an
 * open iteration, locks they held, files they had half written. The facts about it are recorded by the loop itself.
 */
export async function recover(ports: Ports, state: State): Promise<void> {
  const isBeside = Object.values(state.tasks).some(({ worktree }) => worktree !== null);
  if (isOpen(state.run)) {
    const { id } = state.run;
    const unbegun = Object.values(state.tasks).filter(({ footing }) => footing === null);
    const measuring = new Set(unbegun.map((task) => baselineMarker(id, task)));
    for (const marker of measuring) await ports.agents.sweep(marker);
    if (isBeside) await ports.agents.sweep(mergeMarker(state.run.id));
  }
  if (isBeside) await ports.beside?.worktrees.clearLeftovers();
  for (const open of state.iterations) await ports.agents.sweep(open.marker);
  if (isOpen(state.run) || state.iterations.length > 0) await ports.workspace.clearLeftovers();
}
