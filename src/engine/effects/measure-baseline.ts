import { outcomeOf } from "../../core/report/checked-gate.ts";
import { leftoversOf, taskState, type TaskState } from "../../core/loop/state.ts";
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
  const underWay = measurements(journal);
  // Several lanes begin at the same commit: one of them asks, and all know.
  const others = underWay.get(head);
  if (others !== undefined) return others;
  const mine = measure(task, head, ports, journal, signal).finally(() => underWay.delete(head));
  underWay.set(head, mine);
  return mine;
}

const allUnderWay = new WeakMap<Journal, Map<string | null, Promise<void>>>();

/** By the commit that they are made at. */
function measurements(journal: Journal): Map<string | null, Promise<void>> {
  const known = allUnderWay.get(journal) ?? new Map<string | null, Promise<void>>();
  allUnderWay.set(journal, known);
  return known;
}

async function measure(
  task: TaskId,
  head: string | null,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  const workspace = workspaceFor(ports, journal.state, task);
  const known = taskState(journal.state, task);
  const began = await workspace.beforeGates();
  const marker = baselineMarker(run.id, known);
  const results = await ports.gates.check(ports.commands.gates, marker, signal, known.worktree?.root);
  if (signal.aborted) return;
  const leftovers = await workspace.leftoversAfterGates(leftoversOf(journal.state, task), began);
  const gates = results.map(outcomeOf);
  await journal.record({ type: "baseline.measured", run: run.id, task, head, gates, leftovers });
}

/**
 * No iteration is open then; recovery finds by it what is left of a measurement. Whoever ends a gate ends all that carry
 * its marker, so tasks side by side have one each.
 */
export function baselineMarker(run: string, { id, worktree }: TaskState): string {
  return worktree === null ? `baseline-${run}` : `baseline-${run}-${id}`;
}
