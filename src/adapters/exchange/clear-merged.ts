import { setTimeout as sleep } from "node:timers/promises";
import type { TaskId } from "../../core/plan/task.ts";
import type { Worktrees } from "../../engine/parallel-ports.ts";
import { resolveCommit } from "../git/read-head.ts";
import { inTurn } from "../system/in-turn.ts";
import type { Clone } from "./clone.ts";
import { headRef, type Exchange } from "./exchange.ts";
import { seenRef } from "./fetch-refs.ts";
import { keepAside, keepUncommitted } from "./put-aside.ts";
import type { TaskBranches } from "./task-branches.ts";

export interface ClearMergedOptions {
  readonly worktrees: Worktrees;
  readonly exchange: Exchange;
  readonly branches: Pick<TaskBranches, "branchOf" | "isHeld">;
}

/**
 * Removes what this clone has of tasks whose work is on the base: worktrees, branches. What nobody committed, and what
 * was never pushed, is put aside; a task that this worker holds is at work again. Answers the tasks of which nothing is
 * left here.
 */
export async function clearMerged(
  options: ClearMergedOptions,
  tasks: readonly TaskId[],
): Promise<readonly TaskId[]> {
  const clone = await options.exchange.clone();
  const cleared: TaskId[] = [];
  for (const task of tasks) {
    const name = options.branches.branchOf(task);
    await untilLetGo(options, task);
    const isGone = await inTurn(`${clone.commonDir} ${name}`, () => clear(options, clone, task));
    if (isGone) cleared.push(task);
  }
  return cleared;
}

/** Others may have merged it before this worker lets go of it. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 250;

async function untilLetGo({ branches }: ClearMergedOptions, task: TaskId): Promise<void> {
  for (let left = PATIENCE_MS; left > 0 && branches.isHeld(task); left -= LOOK_MS) await sleep(LOOK_MS);
}

async function clear(
  { worktrees, branches }: ClearMergedOptions,
  clone: Clone,
  task: TaskId,
): Promise<boolean> {
  if (branches.isHeld(task) || !(await removeWorktree(worktrees, clone, task))) return false;
  const { git } = clone;
  const name = branches.branchOf(task);
  const tip = await resolveCommit(git, headRef(name));
  if (tip !== null) {
    await keepAside(clone, task, tip);
    // A person may have it checked out.
    if ((await git.run(["branch", "-D", name])).code !== 0) return false;
  }
  await git.run(["update-ref", "-d", seenRef(headRef(name))]);
  return true;
}

/** What nobody committed in it, and what was never pushed, is put aside first. */
export async function removeWorktree(worktrees: Worktrees, clone: Clone, task: TaskId): Promise<boolean> {
  if (await worktrees.remove(task)) return true;
  const entry = (await worktrees.list()).find((one) => one.task === task);
  if (entry?.isDirty !== true) return false;
  await keepUncommitted(clone, task, entry.root);
  if (entry.head !== null) await keepAside(clone, task, entry.head);
  return worktrees.remove(task, { force: true });
}
