import { gitError, type Git } from "./git.ts";
import { resolveCommit } from "./read-head.ts";

export interface Backup {
  readonly run: string;
  readonly iteration: number;
  readonly commit: string;
}

/** Keeps the commit under a name of its own, unless it has one already. */
export async function keepBackup(git: Git, backup: Backup): Promise<void> {
  const { commit } = backup;
  const name = refOf("backup", backup);
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

/** Keeps what was claimed in an iteration, for when it is accepted: nobody else's branch is needed for it then. */
export async function keepAccepted(git: Git, accepted: Backup): Promise<void> {
  await git.must(["update-ref", "-m", "ralph: claimed", acceptedRef(accepted), accepted.commit]);
}

/** `*` stands for any run. */
export function acceptedRef(of: Pick<Backup, "run" | "iteration">): string {
  return refOf("accepted", of);
}

function refOf(kind: string, { run, iteration }: Pick<Backup, "run" | "iteration">): string {
  return `refs/ralph/${kind}/${run === "*" ? run : run.replaceAll(/[^\w-]+/g, "-")}/${iteration}`;
}

const REFUSALS_MAX = 3;
const UPDATE = ["update-ref", "-m", "ralph: before it moved"];
