import { gitError } from "../git/git.ts";
import { hasIndex, lockOf, unlock, type RegisteredWorktree } from "./registry.ts";
import { gitIn, removeOwnLocks } from "./site.ts";
import type { WorktreeRecord } from "./worktree-record.ts";

/**
 * Brings the files of its commit into a new worktree, and mends one that was left in the middle of something. Git
 * writes the index last: one that has it has its files, or somebody's work. Submodules stay empty, as git leaves them.
 */
export async function fillWorktree(
  worktree: RegisteredWorktree,
  { isFilled }: WorktreeRecord,
): Promise<void> {
  if (lockOf(worktree) === "initializing") unlock(worktree);
  await removeOwnLocks(worktree);
  if (hasIndex(worktree)) return;
  await resetPatiently(worktree, isFilled ? "--mixed" : "--hard");
}

/** A git that we started may have outlived us, and still be at it: about half a minute. */
const TRIES_WHEN_LOCKED = 40;

async function resetPatiently(worktree: RegisteredWorktree, how: string): Promise<void> {
  // All processors: it is the many small files that take the time.
  const command = ["-c", "checkout.workers=0", "reset", how, "--quiet", "--no-recurse-submodules"];
  for (let tries = 1; ; tries += 1) {
    const result = await gitIn(worktree).run(command);
    if (result.code === 0) return;
    if (tries === TRIES_WHEN_LOCKED || !/index\.lock': File exists/.test(result.stderr)) {
      throw gitError(command, result);
    }
  }
}
