import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState } from "../../core/loop/state.ts";
import { mergedBranch } from "../../core/merged-branch.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** The base has its work, or people will bring it there. What nobody committed makes it stay; it is listed then, and forgotten by the loop. */
export async function removeWorktree(
  { task }: EffectOf<"remove-worktree">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { run } = journal.state;
  if (run === null) return;
  const { worktree, merge } = taskState(journal.state, task);
  const isGone = (await ports.beside?.worktrees.remove(task)) ?? false;
  if (isGone && worktree !== null && merge?.is === "merged")
    await ports.beside?.merging.rename(worktree.branch, mergedBranch(worktree.branch));
  await journal.record({ type: "worktree.removed", run: run.id, task });
}
