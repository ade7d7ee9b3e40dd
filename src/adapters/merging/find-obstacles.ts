import { textOf } from "../git/git.ts";
import type { Change } from "./changes-between.ts";
import { matchWorkTree, type WorkTree } from "./match-work-tree.ts";
import { readUncommitted, type Uncommitted } from "./read-uncommitted.ts";
import { isSameEntry, type EntryAt, type TreeEntry } from "./tree-entries.ts";
import { untrackedInTheWay } from "./untracked-in-the-way.ts";

export interface Obstacles {
  /** Somebody's work, as people read paths. */
  readonly paths: readonly string[];
  readonly halfway: Halfway;
}

/** What a move that was killed half-way left: how the index has to be for the files that are there, and how it is. */
export interface Halfway {
  readonly settled: readonly EntryAt[];
  readonly found: readonly EntryAt[];
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
  const known = suspects.flatMap((suspect) => knownChange(suspect, changes) ?? []);
  const isAfter = await matchWorkTree(
    tree,
    scratch,
    known.map(({ bytes, after }) => [bytes, after]),
  );
  const isBefore = await matchWorkTree(
    tree,
    scratch,
    known.map(({ bytes, before }) => [bytes, before]),
  );
  const nobodys = known.filter(({ bytes }) => isAfter.has(bytes) || isBefore.has(bytes));
  const ours = new Set(nobodys.map(({ bytes }) => bytes));
  const theirs = suspects.map(({ bytes }) => bytes).filter((bytes) => !ours.has(bytes));
  const halfway = {
    settled: nobodys.map(({ bytes, before, after }): EntryAt => [bytes, isAfter.has(bytes) ? after : before]),
    found: nobodys.map(({ bytes, staged }): EntryAt => [bytes, staged]),
  };
  return { paths: theirs.map(textOf).toSorted(), halfway };
}

interface KnownChange extends Change {
  readonly staged: TreeEntry | null;
}

function knownChange(
  { bytes, staged }: Uncommitted,
  changes: ReadonlyMap<string, Change>,
): KnownChange | null {
  const change = changes.get(bytes);
  if (change === undefined || staged === "conflict") return null;
  const isKnown = isSameEntry(staged, change.before) || isSameEntry(staged, change.after);
  return isKnown ? { ...change, staged } : null;
}
