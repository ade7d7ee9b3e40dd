import type { PreparedMerge, RevertRequest } from "../../engine/parallel-ports.ts";
import { commitMessage } from "../git/commit-message.ts";
import { emptyTree } from "../git/empty-tree.ts";
import type { Git } from "../git/git.ts";
import { layOutAttributes } from "./attributes.ts";
import type { FindTip } from "./find-tip.ts";
import { holding, markFile } from "./mark-file.ts";
import { mergeTrees } from "./merge-trees.ts";
import { settle } from "./prepare-merge.ts";
import { treeOf } from "./tree-entries.ts";
import type { Committer } from "./write-commit.ts";

/** Makes the commit that takes back what led from one commit to another, and leaves what others brought. */
export async function prepareRevert(
  git: Git,
  committer: Committer,
  request: RevertRequest,
  findTip: FindTip,
): Promise<PreparedMerge> {
  const from = await findTip(git, request.base);
  await layOutAttributes(git, from);
  const { held, marked } = await markFile(git, request.mark, { ours: from, theirs: from });
  const before = await treeOf(git, from);
  let tree = before;
  for (const span of request.spans) {
    const back = {
      from: await holding(git, await treeOf(git, span.to), held),
      to: await holding(git, span.from === null ? emptyTree(span.to) : await treeOf(git, span.from), held),
      onto: tree,
    };
    const merged = await settle(git, await mergeTrees(git, back), held);
    if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
    ({ tree } = merged);
  }
  tree = await holding(git, tree, marked);
  if (tree === before) return { is: "nothing", from };
  const message = commitMessage({ ...request, hooks: false }, "undo");
  return { is: "ready", from, to: await committer.commit(tree, [from], message) };
}
