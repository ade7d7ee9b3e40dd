import { gitError, type Git } from "./git.ts";
import { resolveCommit } from "./read-head.ts";

export interface Backup {
  readonly run: string;
  readonly iteration: number;
  readonly commit: string;
}

/** Keeps the commit under a name of its own, unless it has one already. */
export async function keepBackup(git: Git, { run, iteration, commit }: Backup): Promise<void> {
  const name = `${BACKUPS}${run.replaceAll(/[^\w-]+/g, "-")}/${iteration}`;
  let refusals = 0;
  for (let at = 1; ; at += 1) {
    const ref = at === 1 ? name : `${name}-${at}`;
    const kept = await resolveCommit(git, ref);
    if (kept === commit) return;
    if (kept !== null) continue;
    const result = await git.run([...UPDATE, ref, commit, "0".repeat(commit.length)]);
    if (result.code === 0) return;
    // Somebody was quicker, or a dead git's lock is on it: the next name will do.
    refusals += 1;
    if (refusals === REFUSALS_MAX) throw gitError(UPDATE, result);
  }
}

const REFUSALS_MAX = 3;
const BACKUPS = "refs/ralph/backup/";
const UPDATE = ["update-ref", "-m", "ralph: before it moved"];
