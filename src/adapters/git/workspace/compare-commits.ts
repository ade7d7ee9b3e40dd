import { emptyTree, type Git, textOf } from "../git.ts";
import { resolveCommit } from "../read-head.ts";

/** What differs between commits. Null stands for the empty tree, and so does a commit that is no more. */
export interface Comparisons {
  /** Everything that differs in any way, in git's bytes, and whether it was there before. */
  names(from: string | null, to: string): Promise<ReadonlyMap<string, "new" | "old">>;
  /** Files that differ in more than white space; a new empty file and a mode count. */
  beyondWhiteSpace(from: string | null, to: string): Promise<readonly string[]>;
  /** Of these paths those that differ in the work tree; of all if none is named, or more than can be. */
  withWorkTree(from: string | null, to: string, paths: readonly string[]): Promise<readonly string[]>;
}

export function createComparisons(git: Git): Comparisons {
  let last: { readonly key: string; readonly names: ReturnType<Comparisons["names"]> } | null = null;
  return {
    async names(from, to) {
      if (from === to) return new Map();
      const key = `${from} ${to}`;
      // An iteration asks for the same again and again.
      if (last?.key !== key) last = { key, names: readNames(git, from, to) };
      return last.names;
    },
    beyondWhiteSpace: async (from, to) =>
      from === to ? [] : changedLines(git, from, to, NO_WHITE_SPACE, [to, "--"]),
    withWorkTree: (from, to, paths) => changedLines(git, from, to, [], ["--", ...pathspecs(paths)]),
  };
}

/** Git leaves out modified files in which, with these options, no line differs. */
const NO_WHITE_SPACE = ["--ignore-all-space", "--ignore-blank-lines"];

async function changedLines(
  git: Git,
  from: string | null,
  to: string,
  options: readonly string[],
  rest: readonly string[],
): Promise<readonly string[]> {
  const plain = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative"];
  const args = ["diff", "-z", "--ignore-submodules=dirty", "--numstat", ...plain, ...options];
  const records = await compare(git, from, to, (base) => [...args, base, ...rest]);
  // The path comes after the two numbers.
  return records.map((record) => textOf(record.replace(/^[^\t]*\t[^\t]*\t/, "")));
}

async function readNames(
  git: Git,
  from: string | null,
  to: string,
): Promise<ReadonlyMap<string, "new" | "old">> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status"];
  const records = await compare(git, from, to, (base) => [...args, base, to]);
  const names = new Map<string, "new" | "old">();
  for (let at = 0; at + 1 < records.length; at += 2)
    names.set(records[at + 1] ?? "", records[at] === "A" ? "new" : "old");
  return names;
}

async function compare(
  git: Git,
  from: string | null,
  to: string,
  argsFor: (base: string) => readonly string[],
): Promise<readonly string[]> {
  const records: string[] = [];
  try {
    await git.must(argsFor(from ?? emptyTree(to)), { onRecord: (record) => records.push(record) });
    return records;
  } catch (error) {
    // Somebody made the repository anew, or pruned what the agent threw away: all of it is new then.
    if (from === null || (await resolveCommit(git, from)) !== null) throw error;
    return compare(git, null, to, argsFor);
  }
}

/** A command line holds so much, on every system. */
const PATHSPECS_MAX = 200;

/** None means all. What is not UTF-8 cannot be said on a command line. */
function pathspecs(paths: readonly string[]): readonly string[] {
  const canBeNamed = paths.length <= PATHSPECS_MAX && !paths.some((path) => path.includes("\uFFFD"));
  return canBeNamed ? paths.map((path) => `:(literal)${path}`) : [];
}

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
    comparisons.names(from, head),
    dirty.length === 0 ? [] : comparisons.withWorkTree(from, head, dirty),
  ]);
  const isDirty = new Set(dirty);
  const clean = [...committed.keys()].map(textOf).filter((path) => !isDirty.has(path));
  return [...new Set([...also, ...clean, ...inWorkTree])].filter(isCounted).toSorted();
}
