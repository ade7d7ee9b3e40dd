import { outcomeOf } from "../../core/report/checked-gate.ts";
import { leftoversOf, taskState, type State } from "../../core/loop/state.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";

/** How the gates stand before an agent touches anything, so that an old failure is not the agent's. */
export async function measureBaseline(
  task: TaskId,
  head: string | null,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  const workspace = workspaceFor(ports, journal.state, task);
  const { worktree } = taskState(journal.state, task);
  const began = await workspace.beforeGates();
  const marker = baselineMarker(journal.state);
  const results = await ports.gates.check(ports.commands.gates, marker, signal, worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, task), began);
  const gates = results.map(outcomeOf);
  await journal.record({ type: "baseline.measured", run: run.id, task, head, gates, leftovers });
}

/** No iteration is open then; recovery finds what is left of a measurement by the run alone. */
export function baselineMarker({ run }: State): string {
  return `baseline-${run?.id ?? ""}`;
}
