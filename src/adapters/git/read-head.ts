import { join } from "node:path";
import type { Snapshot } from "../../engine/ports.ts";
import type { Repository } from "./find-repository.ts";
import { gitError, textOf, type Git } from "./git.ts";
import { bytesAt } from "../process/look-at.ts";

/** Where HEAD is. Two small files tell it in most repositories; git is asked in the others. */
export async function readHead(repository: Repository, git: Git): Promise<Snapshot> {
  const ref = /^ref: (refs\/\S+)\s*$/.exec(contentOf(repository.gitDir, "HEAD"))?.[1];
  if (ref === undefined || ref === "refs/heads/.invalid") return askGit(git);
  const oid = OBJECT_ID.exec(contentOf(repository.commonDir, ref))?.[1];
  return { head: oid ?? (await resolveCommit(git, "HEAD")), branch: branchOf(ref) };
}

/** The commit that a name stands for, or null when there is none (a branch without a first commit). */
export async function resolveCommit(git: Git, name: string): Promise<string | null> {
  const { code, stdout } = await git.ask(["rev-parse", "--quiet", "--verify", `${name}^{commit}`]);
  return code === 0 ? stdout.trim() : null;
}

const OBJECT_ID = /^([0-9a-f]{64}|[0-9a-f]{40})\s*$/;

async function askGit(git: Git): Promise<Snapshot> {
  const [head, symbolic] = await Promise.all([
    resolveCommit(git, "HEAD"),
    git.ask(["symbolic-ref", "--quiet", "HEAD"]),
  ]);
  return { head, branch: symbolic.code === 0 ? branchOf(symbolic.stdout.trim()) : null };
}

function branchOf(ref: string): string | null {
  return ref.startsWith("refs/heads/") ? textOf(ref.slice("refs/heads/".length)) : null;
}

/** Nothing of a reference that is packed. */
function contentOf(folder: string, file: string): string {
  return bytesAt(join(folder, textOf(file)))?.toString("latin1") ?? "";
}

export interface Backup {
  readonly run: string;
  readonly iteration: number;
  readonly commit: string;
}

/** Keeps the commit under a name of its own, unless it has one already. */
export async function keepBackup(git: Git, backup: Backup): Promise<void> {
  const { commit } = backup;
  const name = ralphRef("backup", backup);
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
  return ralphRef("accepted", of);
}

function ralphRef(kind: string, { run, iteration }: Pick<Backup, "run" | "iteration">): string {
  return `refs/ralph/${kind}/${run === "*" ? run : run.replaceAll(/[^\w-]+/g, "-")}/${iteration}`;
}

const REFUSALS_MAX = 3;
const UPDATE = ["update-ref", "-m", "ralph: before it moved"];
