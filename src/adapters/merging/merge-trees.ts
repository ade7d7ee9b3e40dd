import { gitError, textOf, type Git } from "../git/git.ts";

export interface MergedTree {
  /** With conflicts, their marks are in it. */
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** Two commits with a common past. */
export async function mergeCommits(git: Git, ours: string, theirs: string): Promise<MergedTree> {
  const args = ["merge-tree", "--write-tree", "-z", ours, theirs];
  const result = await git.run(args);
  if (result.code > 1) throw gitError(args, result);
  const end = result.stdout.indexOf("\0");
  const tree = (end < 0 ? result.stdout : result.stdout.slice(0, end)).trim();
  return { tree, conflicts: result.code === 0 ? [] : conflictsIn(result.stdout.slice(end + 1)) };
}

/** What leads from one tree to the other, done to a third. */
export async function mergeTrees(
  git: Git,
  { from, to, onto }: { readonly from: string; readonly to: string; readonly onto: string },
): Promise<MergedTree> {
  if (from === onto) return { tree: to, conflicts: [] };
  if (from === to || to === onto) return { tree: onto, conflicts: [] };
  const past = await passingCommit(git, from, []);
  const [ours, theirs] = await Promise.all([
    passingCommit(git, onto, [past]),
    passingCommit(git, to, [past]),
  ]);
  return mergeCommits(git, ours, theirs);
}

/** A commit that nobody will ever see: git merges commits only. */
export async function passingCommit(git: Git, tree: string, parents: readonly string[]): Promise<string> {
  const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
  return (await git.must(args, { input: "merging\n", env: NOBODY })).trim();
}

const NOBODY = {
  GIT_AUTHOR_NAME: "Ralph",
  GIT_AUTHOR_EMAIL: "ralph@localhost",
  GIT_AUTHOR_DATE: "@0 +0000",
  GIT_COMMITTER_NAME: "Ralph",
  GIT_COMMITTER_EMAIL: "ralph@localhost",
  GIT_COMMITTER_DATE: "@0 +0000",
};

/** Git lists the entries in conflict, an empty record, then messages with the paths that each is about. */
function conflictsIn(output: string): readonly string[] {
  const records = output.split("\0");
  const gap = records.indexOf("");
  const entries = records.slice(0, gap).map((record) => record.slice(record.indexOf("\t") + 1));
  // Folders that were renamed in two ways have messages only.
  const paths = entries.length > 0 ? entries : messagePaths(records.slice(gap + 1));
  return [...new Set(paths.map(textOf))].toSorted();
}

function messagePaths(records: readonly string[]): readonly string[] {
  const paths: string[] = [];
  for (let at = 0; at < records.length;) {
    const count = Number(records[at]);
    const kind = records[at + count + 1];
    if (kind === undefined) break;
    if (kind.startsWith("CONFLICT")) paths.push(...records.slice(at + 1, at + 1 + count));
    at += count + 3;
  }
  return paths;
}
