import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { removeAbandoned } from "../git/remove-abandoned.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { isAbandoned } from "./own-work.ts";
import { forget, hasIndex } from "./registry.ts";
import { deleteFolder, removeWorktree } from "./remove-worktree.ts";
import { endAbandonedSetup } from "./run-setup.ts";
import { gitIn, worktreesAt, type Site } from "./site.ts";

/** What processes that are dead by now left: checkouts of a commit, folders that they were removing, set-ups, locks, half of a file. */
export async function clearLeftovers(site: Site): Promise<void> {
  // Later a git of some lane is always alive, and whose a lock is cannot be told.
  await removeStaleLocks(site, lockedRefs(site.commonDir));
  for (const worktree of worktreesAt(site)) {
    await endAbandonedSetup(worktree);
    if (isLeftover(worktree.root)) await removeWorktree(worktree);
    else if (lstatSync(worktree.root, { throwIfNoEntry: false }) === undefined) forget(worktree);
    else if (hasIndex(worktree)) await removeAbandoned(gitIn(worktree), worktree.root);
  }
  for (const name of namesIn(site.place)) {
    const folder = join(site.place, name);
    if (isLeftover(folder)) await deleteFolder(folder);
  }
}

/** The folder of a checkout of one commit begins so; a dead process's is nobody's. */
export function commitStem(commit: string): string {
  return `@${commit.slice(0, 12)}`;
}

function lockedRefs(commonDir: string): readonly string[] {
  const names = readdirSync(join(commonDir, "refs"), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".lock"))
    .map((name) => join("refs", name.slice(0, -".lock".length)));
}

function isLeftover(path: string): boolean {
  const pid = /^@[0-9a-f]{12}-(\d+)-\d+$|~removed-(\d+)-\d+$/.exec(basename(path));
  return pid !== null && isAbandoned(path, Number(pid[1] ?? pid[2]));
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return []; // there never was one
  }
}
