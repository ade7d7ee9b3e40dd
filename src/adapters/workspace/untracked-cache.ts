import type { Git } from "../git/git.ts";
import { hasBigIndex, type IndexPlace } from "./big-index.ts";

/**
 * Whether git may remember in its index which folders had nothing new: half of the walk over a hundred thousand files
 * is the search for new ones. A folder is remembered by its dates, in whole seconds, and one of them nobody can set.
 */
export interface UntrackedCache {
  isUsed(): Promise<boolean>;
}

export function createUntrackedCache(git: Git, place: IndexPlace): UntrackedCache {
  let isWelcome: Promise<boolean> | null = null;
  return {
    async isUsed() {
      if (!hasBigIndex(place)) return false;
      return (isWelcome ??= isAllowed(git));
    },
  };
}

/** Not where the operator has switched it off, as on disks that keep no dates of folders. */
async function isAllowed(git: Git): Promise<boolean> {
  const { stdout } = await git.run(["config", "--type=bool-or-str", "--get", "core.untrackedCache"]);
  return stdout.trim() !== "false";
}
