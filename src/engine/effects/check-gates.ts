import type { EffectOf } from "../../core/loop/effects.ts";
import { leftoversOf, taskState } from "../../core/loop/state.ts";
import { compareWithBaseline } from "../../core/report/checked-gate.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { Ports } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";

/** Runs the project's own checks: those that the run started with. */
export async function checkGates(
  effect: EffectOf<"check-gates">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const workspace = workspaceFor(ports, journal.state, open.task);
  const { baseline, worktree } = taskState(journal.state, open.task);
  const began = await workspace.beforeGates();
  const results = await ports.gates.check(ports.commands.gates, open.marker, signal, worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, open.task), began);
  await journal.record({
    type: "gates.checked",
    run: open.run,
    task: open.task,
    iteration: open.number,
    gates: compareWithBaseline(results, ports.commands.gates, baseline),
    leftovers,
  });
}
