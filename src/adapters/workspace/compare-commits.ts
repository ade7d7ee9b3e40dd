import { emptyTree } from "../git/empty-tree.ts";
import { gitError, textOf, type Git } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { createTreeDiffer } from "./tree-differ.ts";

/** What differs between commits. Null stands for the empty tree, and so does a commit that is no more. */
export interface Comparisons {
  /** Files that really differ: white space alone does not count, a new empty file and a mode do. */
  between(from: string | null, to: string): Promise<readonly string[]>;
  /** Of these paths those that differ in the work tree; of all if none is named, or more than can be. */
  withWorkTree(from: string | null, to: string, paths: readonly string[]): Promise<readonly string[]>;
  /** Everything that differs in any way, in git's bytes, and whether it was there before. */
  names(from: string | null, to: string): Promise<ReadonlyMap<string, "new" | "old">>;
}

export function createComparisons(git: Git): Comparisons {
  const files = createTreeDiffer(() => git.start([...DIFF_TREE, ...REAL_DIFFERENCES]));
  const names = createTreeDiffer(() => git.start([...DIFF_TREE, ...NAMES]));
  return {
    async between(from, to) {
      if (from === to) return [];
      const records = from === null ? null : await files.records(from, to);
      return records === null ? compare(git, from, to, [to, "--"]) : records.map(pathIn);
    },
    withWorkTree: (from, to, paths) => compare(git, from, to, ["--", ...pathspecs(paths)]),
    async names(from, to) {
      if (from === to) return new Map();
      const records = from === null ? null : await names.records(from, to);
      return namesIn(records ?? (await allNames(git, from, to)));
    },
  };
}

const DIFF_TREE = ["diff-tree", "--stdin", "--no-commit-id", "-r", "-z"];
const NAMES = ["--no-renames", "--name-status"];
/** Git leaves out modified files in which, with these options, no line differs. */
const REAL_DIFFERENCES = [
  "--numstat",
  "--ignore-all-space",
  "--ignore-blank-lines",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--no-relative",
];

/** A command line holds so much, on every system. */
const PATHSPECS_MAX = 200;

async function compare(
  git: Git,
  from: string | null,
  to: string,
  rest: readonly string[],
): Promise<readonly string[]> {
  if (from === null) return diff(git, [emptyTree(to), ...rest]);
  try {
    return await diff(git, [from, ...rest]);
  } catch (error) {
    // Somebody made the repository anew, or pruned what the agent threw away: all of it is new then.
    if ((await resolveCommit(git, from)) !== null) throw error;
    return diff(git, [emptyTree(to), ...rest]);
  }
}

async function diff(git: Git, args: readonly string[]): Promise<readonly string[]> {
  const paths: string[] = [];
  const result = await git.run(["diff", "-z", ...REAL_DIFFERENCES, ...args], {
    onRecord: (record) => paths.push(pathIn(record)),
  });
  if (result.code !== 0) throw gitError(["diff"], result);
  return paths;
}

/** After the two numbers. */
function pathIn(record: string): string {
  return textOf(record.slice(record.indexOf("\t", record.indexOf("\t") + 1) + 1));
}

/** Nothing when somebody made the repository anew: then there is nothing to compare with. */
async function allNames(git: Git, from: string | null, to: string): Promise<readonly string[]> {
  const records: string[] = [];
  await git.run(["diff-tree", "-r", "-z", ...NAMES, from ?? emptyTree(to), to], {
    onRecord: (record) => records.push(record),
  });
  return records;
}

function namesIn(records: readonly string[]): ReadonlyMap<string, "new" | "old"> {
  const names = new Map<string, "new" | "old">();
  for (let at = 0; at + 1 < records.length; at += 2)
    names.set(records[at + 1] ?? "", records[at] === "A" ? "new" : "old");
  return names;
}

/** None means all. What is not UTF-8 cannot be said on a command line. */
function pathspecs(paths: readonly string[]): readonly string[] {
  const canBeNamed = paths.length <= PATHSPECS_MAX && !paths.some((path) => path.includes("\uFFFD"));
  return canBeNamed ? paths.map((path) => `:(literal)${path}`) : [];
}
