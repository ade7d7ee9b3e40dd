import type { Comparisons } from "./compare-commits.ts";

export interface ChangesBetween {
  /** Null stands for the empty tree. */
  readonly from: string | null;
  readonly head: string | null;
  /** Tracked paths that differ from `head` in the index or in the work tree: there the work tree counts. */
  readonly dirty: readonly string[];
  /** Paths that git does not compare: untracked ones. */
  readonly also: readonly string[];
  readonly isCounted: (path: string) => boolean;
}

/** The files that differ. Everything that is not dirty is as in `head`, so nobody has to walk the work tree for it. */
export async function readChanges(
  comparisons: Comparisons,
  { from, head, dirty, also, isCounted }: ChangesBetween,
): Promise<readonly string[]> {
  if (head === null) return [...new Set(also.filter(isCounted))];
  const [committed, inWorkTree] = await Promise.all([
    comparisons.between(from, head),
    dirty.length === 0 ? [] : comparisons.withWorkTree(from, head, dirty),
  ]);
  const isDirty = new Set(dirty);
  const clean = committed.filter((path) => !isDirty.has(path));
  const paths = new Set([...also, ...clean, ...inWorkTree].filter(isCounted));
  return also.length + inWorkTree.length > 0 ? [...paths].toSorted() : [...paths];
}
