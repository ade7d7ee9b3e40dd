import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What git has begun in a checkout and not ended, in words; null: nothing. */
export function underWay(gitDir: string): string | null {
  return BEGUN.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;
}

/** The branches that will move, or be checked out again, when it ends: HEAD does not name them meanwhile. */
export function branchesUnderWay(gitDir: string): readonly string[] {
  const rebased = ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"];
  const refs = rebased.flatMap((file) => linesOf(gitDir, file)).filter((line) => line.startsWith("refs/"));
  return [...refs, ...linesOf(gitDir, "BISECT_START").map((name) => `refs/heads/${name}`)];
}

const BEGUN: readonly (readonly [file: string, words: string])[] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert"],
  ["BISECT_LOG", "a bisection"],
  ["BISECT_START", "a bisection"],
];

function linesOf(gitDir: string, file: string): readonly string[] {
  try {
    return readFileSync(join(gitDir, file), "utf8").split("\n");
  } catch {
    return []; // nothing of the kind is under way
  }
}
