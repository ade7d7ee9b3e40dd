import { emptyTree } from "../git/empty-tree.ts";
import type { Git } from "../git/git.ts";
import { holding } from "./mark-file.ts";
import { mergeTrees } from "./merge-trees.ts";
import { treeOf, type EntryAt } from "./tree-entries.ts";
import type { Committer } from "./write-commit.ts";

export interface Replay {
  readonly branch: string;
  readonly onto: string;
  /** What stays as it is, whatever the commits do to it. */
  readonly held: readonly EntryAt[];
  /** The tree that must come out. */
  readonly tree: string;
}

/**
 * The branch's commits one by one on top of another commit; what changes nothing there is left out. Null when they
 * do not come to the tree that they should: one of them conflicts, or a merge among them did more than to merge.
 */
export async function replayCommits(git: Git, committer: Committer, replay: Replay): Promise<string | null> {
  const { held } = replay;
  let at = replay.onto;
  let tree = await treeOf(git, at);
  for (const { commit, parent } of await commitsOf(git, replay)) {
    const before = parent === null ? emptyTree(commit) : await treeOf(git, parent);
    const [from, to] = [
      await holding(git, before, held),
      await holding(git, await treeOf(git, commit), held),
    ];
    const merged = await mergeTrees(git, { from, to, onto: tree });
    if (merged.conflicts.length > 0) return null;
    if (merged.tree === tree) continue;
    const next = await committer.again(commit, merged.tree, at);
    if (next === null) return null;
    [at, tree] = [next, merged.tree];
  }
  return tree === replay.tree ? at : null;
}

interface Step {
  readonly commit: string;
  readonly parent: string | null;
}

async function commitsOf(git: Git, { branch, onto }: Replay): Promise<readonly Step[]> {
  const range = ["--reverse", "--topo-order", "--no-merges", "--parents", branch, `^${onto}`];
  const lines = (await git.must(["rev-list", ...range])).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [commit = "", parent = null] = line.split(" ");
    return { commit, parent };
  });
}
