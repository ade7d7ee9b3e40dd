import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import { emptyTree, type Git, gitError, textOf } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";

/** What differs between commits. Null stands for the empty tree, and so does a commit that is no more. */
export interface Comparisons {
  /** Files that differ in any way. */
  between(from: string | null, to: string): Promise<readonly string[]>;
  /** Files that differ in more than white space; a new empty file and a mode count. */
  beyondWhiteSpace(from: string | null, to: string): Promise<readonly string[]>;
  /** Of these paths those that differ in the work tree; of all if none is named, or more than can be. */
  withWorkTree(from: string | null, to: string, paths: readonly string[]): Promise<readonly string[]>;
  /** Everything that differs in any way, in git's bytes, and whether it was there before. */
  names(from: string | null, to: string): Promise<ReadonlyMap<string, "new" | "old">>;
}

export function createComparisons(git: Git): Comparisons {
  const files = createTreeDiffer(() => git.start([...DIFF_TREE, ...NO_WHITE_SPACE, ...DIFFERENCES]));
  const names = createTreeDiffer(() => git.start([...DIFF_TREE, ...NAMES]));
  return {
    async between(from, to) {
      if (from === to) return [];
      const records = from === null ? null : await names.records(from, to);
      return records === null ? compare(git, from, to, [to, "--"]) : [...namesIn(records).keys()].map(textOf);
    },
    async beyondWhiteSpace(from, to) {
      if (from === to) return [];
      const records = from === null ? null : await files.records(from, to);
      return records === null ? compare(git, from, to, [to, "--"], NO_WHITE_SPACE) : records.map(pathIn);
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
const NO_WHITE_SPACE = ["--ignore-all-space", "--ignore-blank-lines"];
const DIFFERENCES = [
  "--ignore-submodules=dirty",
  "--numstat",
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
  options: readonly string[] = [],
): Promise<readonly string[]> {
  if (from === null) return diff(git, [...options, emptyTree(to), ...rest]);
  try {
    return await diff(git, [...options, from, ...rest]);
  } catch (error) {
    // Somebody made the repository anew, or pruned what the agent threw away: all of it is new then.
    if ((await resolveCommit(git, from)) !== null) throw error;
    return diff(git, [...options, emptyTree(to), ...rest]);
  }
}

async function diff(git: Git, args: readonly string[]): Promise<readonly string[]> {
  const paths: string[] = [];
  const result = await git.run(["diff", "-z", ...DIFFERENCES, ...args], {
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

/** A git that stays for a while and compares commits as it is asked: starting one costs more than its work. */
export interface TreeDiffer {
  /** What git prints of the difference, in NUL-terminated records; null when it cannot say: a commit is gone. */
  records(from: string, to: string): Promise<readonly string[] | null>;
}

/** Nobody needs it while an agent works for minutes. */
const IDLE_MS = 5_000;

/** `start` gives a `git diff-tree --stdin -z`. */
export function createTreeDiffer(start: () => ChildProcessWithoutNullStreams): TreeDiffer {
  let running: RunningDiffer | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let asked = 0;
  const ask = async (from: string, to: string): Promise<readonly string[] | null> => {
    if (running === null || running.isGone) running = new RunningDiffer(start());
    asked += 1;
    return running.ask(`${to} ${from}`, `asked-${asked}`);
  };
  return {
    records(from, to) {
      const answer = last.then(() => ask(from, to));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

/** Whatever is no commit is printed again as it came, and all before it: so we know where an answer ends. */
class RunningDiffer {
  readonly #child: ChildProcessWithoutNullStreams;
  #output = "";
  #lastLine = "";
  #resolve: ((records: readonly string[] | null) => void) | null = null;
  #isGone = false;
  #idle: NodeJS.Timeout | null = null;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.setEncoding("latin1").on("data", (text: string) => this.#take(text));
    child.stderr.resume();
    child.stdin.on("error", () => {});
    child.on("error", () => this.#gone());
    child.on("close", () => this.#gone());
    this.#hold(false);
    (child.stderr as Socket).unref();
    (child.stdin as Socket).unref();
    LIVING.add(child);
  }

  /** Also when it was told to end, and has not yet. */
  get isGone(): boolean {
    return this.#isGone;
  }

  ask(question: string, end: string): Promise<readonly string[] | null> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#isGone) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#hold(true);
      this.#resolve = resolve;
      this.#lastLine = `${end}\n`;
      this.#child.stdin.write(`${question}\n${this.#lastLine}`);
    });
  }

  #take(text: string): void {
    this.#output += text;
    if (!this.#output.endsWith(this.#lastLine)) return;
    const records = this.#output.slice(0, -this.#lastLine.length).split("\0");
    if (records.pop() === "") this.#answer(records);
  }

  #answer(records: readonly string[] | null): void {
    this.#output = "";
    this.#hold(false);
    this.#resolve?.(records);
    this.#resolve = null;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #end(): void {
    this.#isGone = true;
    this.#child.stdin.end();
  }

  #gone(): void {
    this.#isGone = true;
    LIVING.delete(this.#child);
    if (this.#resolve !== null) this.#answer(null);
  }

  /** An open question keeps us alive, an idle git does not. */
  #hold(isAsked: boolean): void {
    const stdout = this.#child.stdout as Socket;
    for (const held of [this.#child, stdout]) {
      if (isAsked) held.ref();
      else held.unref();
    }
  }
}

const LIVING = new Set<ChildProcessWithoutNullStreams>();

process.on("exit", () => {
  for (const child of LIVING) child.kill("SIGKILL");
});

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
