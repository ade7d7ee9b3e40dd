import type { MergeRequest, PreparedMerge } from "../../engine/parallel-ports.ts";
import { commitMessage } from "../git/commit-message.ts";
import { textOf, type Git } from "../git/git.ts";
import { layOutAttributes } from "./attributes.ts";
import type { FindTip } from "./find-tip.ts";
import { holding, markFile, type SourceFile } from "./mark-file.ts";
import { mergeCommits, passingCommit, type MergedTree } from "./merge-trees.ts";
import { replayCommits } from "./replay-commits.ts";
import { treeOf } from "./tree-entries.ts";
import type { Committer } from "./write-commit.ts";

/** Makes the commit that the base would become. The three ways differ in its history, never in its files. */
export async function prepareMerge(
  git: Git,
  committer: Committer,
  request: MergeRequest,
  findTip: FindTip,
): Promise<PreparedMerge> {
  const [from, branch] = [await findTip(git, request.base), await findTip(git, request.branch)];
  if ((await git.ask(["merge-base", from, branch])).code !== 0) return unrelated(git, from, branch);
  await layOutAttributes(git, from);
  const source = await markFile(git, request.mark, { ours: from, theirs: branch });
  const merged = await mergeHolding(git, source, from, branch);
  if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
  const work = merged.tree;
  const tree = await holding(git, work, source.marked);
  const before = await treeOf(git, from);
  if (tree === before) return { is: "nothing", from };
  const result: Result = { from, branch, work, tree, held: source.held };
  const to =
    work === before
      ? await committer.commit(tree, [from], message(request, MARK))
      : await HOW[request.how](git, committer, request, result);
  return { is: "ready", from, to };
}

interface Result {
  readonly from: string;
  readonly branch: string;
  /** The tree before the mark, and with it. */
  readonly work: string;
  readonly tree: string;
  readonly held: SourceFile["held"];
}

type Way = (git: Git, committer: Committer, request: MergeRequest, result: Result) => Promise<string>;

const MARK = "mark done";

const squash: Way = (_git, committer, request, { from, tree }) =>
  committer.commit(tree, [from], message(request, request.title));

const HOW: Readonly<Record<MergeRequest["how"], Way>> = {
  squash,
  merge: (_git, committer, request, { from, branch, tree }) =>
    committer.commit(tree, [from, branch], message(request, request.title)),
  async rebase(git, committer, request, result) {
    const { from, branch, held, work, tree } = result;
    const at = await replayCommits(git, committer, { branch, onto: from, held, tree: work });
    // After a conflict that the branch solved by a merge, its commits may go together but not one by one.
    if (at === null) return squash(git, committer, request, result);
    return tree === work ? at : committer.commit(tree, [at], message(request, MARK));
  },
};

/** The branch's work on the base, as if the branch had the base's task source. */
async function mergeHolding(
  git: Git,
  { held }: SourceFile,
  ours: string,
  branch: string,
): Promise<MergedTree> {
  const tree = await treeOf(git, branch);
  const asOurs = await holding(git, tree, held);
  const theirs = asOurs === tree ? branch : await passingCommit(git, asOurs, [branch]);
  const merged = await mergeCommits(git, ours, theirs);
  return settle(git, merged, held);
}

/** Conflicts of what is held are none. */
export async function settle(git: Git, merged: MergedTree, held: SourceFile["held"]): Promise<MergedTree> {
  const paths = new Set(held.map(([bytes]) => textOf(bytes)));
  const conflicts = merged.conflicts.filter((path) => !paths.has(path));
  return conflicts.length > 0
    ? { ...merged, conflicts }
    : { tree: await holding(git, merged.tree, held), conflicts };
}

async function unrelated(git: Git, from: string, branch: string): Promise<PreparedMerge> {
  const diff = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=MT"];
  const paths: string[] = [];
  await git.must([...diff, from, branch], { onRecord: (record) => paths.push(textOf(record)) });
  return { is: "conflict", from, paths, why: "the two have no commit in common" };
}

function message(request: MergeRequest, what: string): string {
  return commitMessage({ ...request, hooks: false }, what);
}
