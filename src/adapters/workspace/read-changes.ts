import { NO_CHANGES, PATHS_KEPT, type ChangeSet } from "../../core/report/evidence.ts";
import { gitError, textOf, type Git } from "./git.ts";
import { resolveCommit } from "./read-head.ts";

export interface ChangesBetween {
  /** Null stands for the empty tree. */
  readonly from: string | null;
  readonly head: string | null;
  /** Compares with the work tree instead of with `head`. */
  readonly withWorkTree: boolean;
  /** Paths that git does not compare: untracked ones. */
  readonly also: readonly string[];
  readonly isCounted: (path: string) => boolean;
}

/** The files that really differ: white space alone does not count, a new empty file and a mode do. */
export async function readChanges(git: Git, request: ChangesBetween): Promise<ChangeSet> {
  const { from, head, withWorkTree, also, isCounted } = request;
  const paths = new Set<string>(also.filter(isCounted));
  if (head !== null && (from !== head || withWorkTree)) {
    const base = from ?? emptyTree(head);
    const target = withWorkTree ? [] : [head];
    await diff(git, base, target, (path) => isCounted(path) && paths.add(path));
  }
  if (paths.size === 0) return NO_CHANGES;
  const sorted = paths.size > also.length && also.length > 0 ? [...paths].toSorted() : [...paths];
  return { files: paths.size, paths: sorted.slice(0, PATHS_KEPT) };
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

async function diff(
  git: Git,
  base: string,
  target: readonly string[],
  onPath: (path: string) => void,
): Promise<void> {
  const run = (from: string): ReturnType<Git["run"]> =>
    git.run([...DIFF, from, ...target, "--"], {
      onRecord: (record) => onPath(textOf(record.slice(record.indexOf("\t", record.indexOf("\t") + 1) + 1))),
    });
  const result = await run(base);
  if (result.code === 0) return;
  // Somebody made the repository anew, or pruned what the agent threw away: all of it is new then.
  const isGone = (await resolveCommit(git, base)) === null;
  const again = isGone ? await run(emptyTree(target[0] ?? base)) : result;
  if (again.code !== 0) throw gitError(DIFF, again);
}

function emptyTree(sibling: string): string {
  return sibling.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}
