import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** The base has its work. What nobody committed makes it stay; it is listed then, and forgotten by the loop. */
export async function removeWorktree(
  { task }: EffectOf<"remove-worktree">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  await ports.beside?.worktrees.remove(task);
  await journal.record({ type: "worktree.removed", run: run.id, task });
}
