import { readdirSync, type Stats } from "node:fs";
import { statsAt } from "../../process/look-at.ts";
import { bytePath, type Git, textOf } from "../git.ts";
import {
  type Change,
  type EntryAt,
  type Env,
  isSameEntry,
  setEntries,
  SUBMODULE_MODE,
  type TreeEntry,
  withEmptyIndex,
} from "../tree-entries.ts";
import { askStatus } from "../workspace/checkout.ts";

interface Obstacles {
  /** Somebody's work, as people read paths. */
  readonly paths: readonly string[];
  /** What a move that was killed half-way left: from how the index is to how it has to be for the files that are there. */
  readonly halfway: readonly Change[];
}

/**
 * What lies between a checkout and its next commit. A path is nobody's work if index and work tree have it exactly as
 * one of the two commits does: then nothing is lost whichever of them it becomes.
 */
export async function findObstacles(
  tree: WorkTree,
  scratch: string,
  changes: ReadonlyMap<string, Change>,
): Promise<Obstacles> {
  const uncommitted = await readUncommitted(tree.git);
  const inIndex = new Set(uncommitted.map(({ bytes }) => bytes));
  const untracked = untrackedInTheWay(tree.root, changes).filter((bytes) => !inIndex.has(bytes));
  const suspects = [...uncommitted, ...untracked.map((bytes) => ({ bytes, staged: null }))];
  const known = suspects.flatMap(({ bytes, staged }) => {
    const change = changes.get(bytes);
    if (change === undefined || staged === "conflict") return [];
    const isKnown = isSameEntry(staged, change.before) || isSameEntry(staged, change.after);
    return isKnown ? [{ ...change, staged }] : [];
  });
  const match = (side: "before" | "after"): Promise<ReadonlySet<string>> =>
    matchWorkTree(
      tree,
      scratch,
      known.map((one) => [one.bytes, one[side]]),
    );
  const [isAfter, isBefore] = [await match("after"), await match("before")];
  const nobodys = known.filter(({ bytes }) => isAfter.has(bytes) || isBefore.has(bytes));
  const ours = new Set(nobodys.map(({ bytes }) => bytes));
  const theirs = suspects.map(({ bytes }) => bytes).filter((bytes) => !ours.has(bytes));
  const halfway = nobodys.map(({ bytes, staged, before, after }) => {
    return { bytes, before: staged, after: isAfter.has(bytes) ? after : before };
  });
  return { paths: theirs.map(textOf).toSorted(), halfway };
}

/** A path of the index that differs from HEAD, or from the work tree. */
interface Uncommitted {
  readonly bytes: string;
  /** In the index; "conflict" when that is undecided. */
  readonly staged: TreeEntry | "conflict" | null;
}

/** What moving HEAD puts at risk. Submodules are not: git leaves their folders alone. */
async function readUncommitted(git: Git): Promise<readonly Uncommitted[]> {
  const entries = await askStatus(git, ["status", "--untracked-files=no"]);
  return entries.flatMap(({ bytes, is, staged, index }): readonly Uncommitted[] => {
    if (is === "conflict") return [{ bytes, staged: "conflict" }];
    return index?.mode === SUBMODULE_MODE && !staged ? [] : [{ bytes, staged: index }];
  });
}

/**
 * What lies where the next commit has something new, and is in neither of the two: a file, a file in the place of a
 * folder, files in a folder whose place a file takes. Git's bytes; whether git ignores it does not matter.
 */
function untrackedInTheWay(root: string, changes: ReadonlyMap<string, Change>): readonly string[] {
  const isTracked = (bytes: string): boolean => (changes.get(bytes)?.before ?? null) !== null;
  const folders = new Set<string>();
  const found: string[] = [];
  for (const { bytes, before, after } of changes.values()) {
    if (before !== null || after === null) continue;
    const parts = bytes.split("/");
    for (let length = 1; length < parts.length; length += 1) folders.add(parts.slice(0, length).join("/"));
    const stats = statOf(root, bytes);
    if (stats === null) continue;
    if (!stats.isDirectory()) found.push(bytes);
    else if (after.mode !== SUBMODULE_MODE) found.push(...filesIn(root, bytes));
  }
  for (const folder of folders) if (statOf(root, folder)?.isDirectory() === false) found.push(folder);
  return [...new Set(found)].filter((bytes) => !isTracked(bytes));
}

function filesIn(root: string, folder: string): readonly string[] {
  const entries = readdirSync(bytePath(root, folder), { encoding: "latin1", withFileTypes: true });
  return entries.flatMap((entry) => {
    const bytes = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, bytes) : [bytes];
  });
}

interface WorkTree {
  readonly root: string;
  readonly git: Git;
}

/** Of these paths those where the work tree has exactly this entry, by content and mode. A submodule is its folder. */
async function matchWorkTree(
  { root, git }: WorkTree,
  scratch: string,
  entries: readonly EntryAt[],
): Promise<ReadonlySet<string>> {
  const files = entries.filter(([, entry]) => entry !== null && entry.mode !== SUBMODULE_MODE);
  const differ = new Set(
    files.length === 0 ? [] : await withEmptyIndex(scratch, (env) => findDifferent(git, files, env)),
  );
  const matches = ([bytes, entry]: EntryAt): boolean => {
    const stats = statOf(root, bytes);
    // What lies in a folder has paths of its own.
    if (entry === null || entry.mode === SUBMODULE_MODE) return stats === null || stats.isDirectory();
    return !differ.has(bytes);
  };
  return new Set(entries.filter(matches).map(([bytes]) => bytes));
}

async function findDifferent(git: Git, files: readonly EntryAt[], env: Env): Promise<readonly string[]> {
  await setEntries(git, files, files[0]?.[1]?.oid ?? "", env);
  // Compares contents where times cannot tell; says with 1 that something differs.
  await git.run(["update-index", "-q", "--refresh"], { env });
  return git.records(["diff-files", "--ignore-submodules=dirty", "-z", "--name-only", "--no-renames"], {
    env,
  });
}

/** What lies at git's path; null: nothing. */
function statOf(root: string, bytes: string): Stats | null {
  return statsAt(bytePath(root, bytes));
}
