import { gitError, textOf, type Git } from "./git.ts";
import { resolveCommit } from "./read-head.ts";

/** Which files really differ between commits: white space alone does not count, a new empty file and a mode do. */
export interface Comparisons {
  /** Null stands for the empty tree, and so does a commit that is no more. Each pair is compared once. */
  between(from: string | null, to: string): Promise<readonly string[]>;
  /** The same ahead of time, while git is busy with something else. */
  begin(from: string | null, to: string | null): void;
  /** Ahead of time too, with the index, which is about to be committed. */
  beginStaged(from: string | null): void;
  /** The commit that the index became. */
  stagedBecame(to: string): void;
  /** Of these paths those that differ in the work tree; of all if none is named, or more than can be. */
  withWorkTree(from: string | null, to: string, paths: readonly string[]): Promise<readonly string[]>;
}

export function createComparisons(git: Git): Comparisons {
  const known = new Map<string, Promise<readonly string[]>>();
  const staged = new Map<string, Promise<readonly string[]>>();
  const between: Comparisons["between"] = (from, to) => {
    if (from === to) return Promise.resolve([]);
    const key = `${from} ${to}`;
    const paths = known.get(key) ?? compare(git, from, to, [to, "--"]);
    known.set(key, paths);
    return paths;
  };
  return {
    between,
    begin(from, to) {
      if (to !== null) between(from, to).catch(ASKED_LATER);
    },
    beginStaged(from) {
      if (from === null || staged.has(from)) return;
      const paths = diff(git, ["--cached", from, "--"]);
      paths.catch(ASKED_LATER);
      staged.set(from, paths);
    },
    stagedBecame(to) {
      for (const [from, paths] of staged) {
        const answer = paths.catch(() => compare(git, from, to, [to, "--"]));
        answer.catch(ASKED_LATER);
        known.set(`${from} ${to}`, answer);
      }
    },
    withWorkTree: (from, to, paths) => compare(git, from, to, ["--", ...pathspecs(paths)]),
  };
}

/** Whoever asks for it hears of the failure. */
const ASKED_LATER = (): void => {};

export function emptyTree(sibling: string): string {
  return sibling.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/** Git leaves out modified files in which, with these options, no line differs. */
const DIFF = [
  "diff",
  "--numstat",
  "-z",
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
  const result = await git.run([...DIFF, ...args], {
    onRecord: (record) =>
      paths.push(textOf(record.slice(record.indexOf("\t", record.indexOf("\t") + 1) + 1))),
  });
  if (result.code !== 0) throw gitError(DIFF, result);
  return paths;
}

/** None means all. What is not UTF-8 cannot be said on a command line. */
function pathspecs(paths: readonly string[]): readonly string[] {
  const canBeNamed = paths.length <= PATHSPECS_MAX && !paths.some((path) => path.includes("\uFFFD"));
  return canBeNamed ? paths.map((path) => `:(literal)${path}`) : [];
}
