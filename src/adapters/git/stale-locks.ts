import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isAlive, removeIfAbandoned, TEMPORARY_PREFIX } from "../process/atomic-file.ts";
import { entriesIn, statsAt } from "../process/look-at.ts";
import { HIDDEN, workingFolders } from "../process/process-table.ts";
import { registeredWorktrees, type Repository } from "./find-repository.ts";
import { type Git, recordsIn, textOf } from "./git.ts";

/** Our own copies of the index begin so; one that is still there when we start is a dead process's. */
export const OWN_INDEX_PREFIX = "ralph-index-";

/** Removes lock files that a killed process left, also of these refs. */
export async function removeStaleLocks(repository: Repository, refs: readonly string[] = []): Promise<void> {
  for (const lock of findStaleLocks(repository, refs)) rmSync(lock, { force: true });
}

/** None while a git is alive that could hold them. */
export function findStaleLocks(repository: Repository, refs: readonly string[] = []): readonly string[] {
  const further = refs.map((ref) => `${join(repository.commonDir, ref)}.lock`);
  const locks = [...lockFiles(repository), ...further].filter((path) => existsSync(path));
  if (locks.length === 0) return [];
  const isHeld = isGitAlive(repository);
  const isOld = (lock: string): boolean => Date.now() - (statsAt(lock)?.mtimeMs ?? Infinity) > OLD_MS;
  return isHeld === true ? [] : locks.filter((lock) => isHeld === false || isOld(lock));
}

export function removeOwnIndexes({ gitDir }: Repository): void {
  for (const name of readdirSync(gitDir)) {
    if (name.startsWith(OWN_INDEX_PREFIX)) rmSync(join(gitDir, name), { force: true });
  }
}

/** Where processes cannot be seen, only time tells. */
const OLD_MS = 600_000;

function lockFiles({ gitDir, commonDir }: Repository): string[] {
  const own = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock"].map((name) => join(gitDir, name));
  const shared = ["config.lock", "packed-refs.lock"].map((name) => join(commonDir, name));
  const ref = /^ref: (refs\/\S+)/.exec(readFileSync(join(gitDir, "HEAD"), "utf8"))?.[1];
  return ref === undefined ? [...own, ...shared] : [...own, ...shared, `${join(commonDir, ref)}.lock`];
}

/** Null where nobody can tell. */
function isGitAlive({ root, gitDir, commonDir }: Repository): boolean | null {
  const folders = workingFolders("git");
  if (folders === null) return null;
  // What all worktrees share may be held by a git in any of them.
  const places = [
    root,
    gitDir,
    commonDir,
    dirname(commonDir),
    ...registeredWorktrees(commonDir).map((one) => one.root),
  ];
  return folders.some((folder) => {
    const isInside = places.some((place) => folder === place || folder.startsWith(place + sep));
    return folder === HIDDEN || isInside;
  });
}

/**
 * What a dead process of ours was writing in a work tree: an agent that commits everything would commit it, and a
 * worktree would never be empty. What git cannot list here is told by whoever needs git next.
 */
export async function removeAbandoned(git: Git, root: string): Promise<void> {
  const pattern = `:(glob)**/${TEMPORARY_PREFIX}*`;
  const { stdout } = await git.run(["ls-files", "--others", "--exclude-standard", "-z", "--", pattern]);
  for (const path of recordsIn(stdout)) removeIfAbandoned(join(root, textOf(path)));
}

/** What this process is about: paths of folders and markers of set-ups. */
export const current = new Set<string>();

/** For as long as it takes, nobody of us takes the name for a dead process's. */
export async function asOwn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  current.add(name);
  try {
    return await work();
  } finally {
    current.delete(name);
  }
}

/** Whether nobody is at it any more. Numbers of processes are given out again, also our own. */
export function isAbandoned(name: string, pid: number): boolean {
  return pid === process.pid ? !current.has(name) : !isAlive(pid);
}

/** What dead processes left in a folder, by names that begin so and go on with a process's number. */
export function abandonedIn(folder: string, prefix: string): readonly string[] {
  return entriesIn(folder).flatMap(({ name }) => {
    const path = join(folder, name);
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    return Number.isNaN(pid) || !isAbandoned(path, pid) ? [] : [path];
  });
}

/** A path that nobody has, with the number of this process in its name. */
export function ownPath(stem: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${stem}-${process.pid}-${number}`;
    if (!current.has(path) && statsAt(path) === null) return path;
  }
}
