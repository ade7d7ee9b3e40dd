import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, rmSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { CommitRequest, MarkCommit, MarkRequest } from "../../engine/ports.ts";
import { type Checkout, hasBigIndex } from "./checkout.ts";
import { commitMessage } from "../git/commit-message.ts";
import { bytesOf, gitError, type Git, type GitResult, emptyTree } from "../git/git.ts";
import { type StatusEntry, readStatus } from "./read-status.ts";
import { mayHaveSubmodules } from "./hidden-changes.ts";
import type { SortedLeftovers } from "./read-leftovers.ts";
import { OWN_INDEX_PREFIX } from "../git/stale-locks.ts";
import { readHead } from "../git/read-head.ts";
import { withRealPaths } from "./whose-path.ts";

export interface CommittedLeftovers {
  /** False: everything stays uncommitted. */
  readonly isCommitted: boolean;
  /** What git itself would not take. */
  readonly refused: readonly StatusEntry[];
}

/** Commits what may be committed and nothing else, whatever the agent has staged. */
export async function commitLeftovers(
  checkout: Checkout,
  left: SortedLeftovers,
  request: CommitRequest,
  onRefusal?: (words: string) => void,
): Promise<CommittedLeftovers> {
  const hasConflict = left.stay.some((entry) => entry.is === "conflict");
  if (hasConflict || (left.take.length === 0 && !isMerging(checkout)))
    return { isCommitted: false, refused: [] };
  const commit = { message: commitMessage(request, request.title), hooks: request.hooks, onRefusal };
  const refused = await stageWhatGoes(checkout.git, left.take, onRefusal);
  const staged = [...left.ours, ...left.stay, ...left.tooRisky].filter((entry) => entry.staged);
  const isCommitted =
    staged.length === 0
      ? await commitIndex(checkout, commit)
      : await withOwnIndex(checkout, async (env) => {
          await unstage(checkout.git, staged, env);
          return commitIndex(checkout, { ...commit, env });
        });
  return { isCommitted, refused };
}

/** One file that git cannot take (an encoding that is not so, say) does not keep the others out. */
async function stageWhatGoes(
  git: Git,
  entries: readonly StatusEntry[],
  onRefusal: ((words: string) => void) | undefined,
): Promise<readonly StatusEntry[]> {
  try {
    await stage(git, entries);
    return [];
  } catch (error) {
    if (!isRefusal(error) || entries.length > ONE_BY_ONE_MAX) throw error;
  }
  const refused: StatusEntry[] = [];
  for (const entry of entries) {
    try {
      await stage(git, [entry]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push(entry);
      onRefusal?.(`${entry.path}: ${error.message}`);
    }
  }
  return refused;
}

const ONE_BY_ONE_MAX = 500;

/** About a file; a lock in the way is about all of them. */
function isRefusal(error: unknown): error is RalphError {
  return error instanceof RalphError && error.code === "git-failed" && !/\.lock\b/.test(error.message);
}

/** A merge or a cherry-pick that the agent began: git then commits the whole index or nothing. */
export function isMerging({ gitDir }: Checkout): boolean {
  return ["MERGE_HEAD", "CHERRY_PICK_HEAD"].some((name) => existsSync(join(gitDir, name)));
}

/** Puts exactly these paths into the index, as they are in the work tree. */
export async function stage(git: Git, entries: readonly StatusEntry[], env: Env = {}): Promise<void> {
  const gone = entries.filter((entry) => entry.missing);
  const there = entries.filter((entry) => !entry.missing);
  // A path below something that is now a link or a file cannot be looked at, only taken out.
  if (gone.length > 0) await update(git, ["--force-remove"], gone, env);
  if (there.length > 0) await update(git, ["--add", "--remove", "--replace"], there, env);
}

export interface Commit {
  readonly message: string;
  readonly hooks: boolean;
  /** Without it, what is in the index. */
  readonly what?: readonly string[];
  readonly env?: Env;
  /** Told what the hooks said, if they refused. */
  readonly onRefusal?: ((words: string) => void) | undefined;
}

/** False when git had nothing to commit or a hook refused. */
export async function commitIndex(checkout: Checkout, commit: Commit): Promise<boolean> {
  const { message, hooks, what = [], env = {} } = commit;
  if (what.length === 0 && shouldCommitByParts(checkout)) {
    if (!hooks) return commitTree(checkout, { message, env });
    if (!isMerging(checkout) && (await checkout.git.run(IS_STAGED, { env })).code === 0) return false;
  }
  const args = [...(await checkout.identity()), "commit", ...COMMIT_OPTIONS, ...what];
  const result = await checkout.git.run(args, { input: bytesOf(message), hooks, env });
  if (result.code === 0) return true;
  if (hooks && commit.onRefusal !== undefined) {
    const words = await refusalIn(result, checkout.git, env);
    if (words !== null) commit.onRefusal(words);
  }
  if (hooks || isNothingToCommit(result)) return false;
  throw gitError(args, result);
}

/** Works on a copy of the index; what the agent staged there stays as it is. */
export async function withOwnIndex<T>(
  { gitDir }: Pick<Checkout, "gitDir">,
  work: (env: Env) => Promise<T>,
): Promise<T> {
  const copy = join(gitDir, `${OWN_INDEX_PREFIX}${randomBytes(4).toString("hex")}`);
  try {
    if (existsSync(join(gitDir, "index"))) copyFileSync(join(gitDir, "index"), copy);
    return await work({ GIT_INDEX_FILE: copy });
  } finally {
    rmSync(copy, { force: true });
    rmSync(`${copy}.lock`, { force: true });
  }
}

export type Env = Readonly<Record<string, string>>;

const COMMIT_OPTIONS = ["--quiet", "--no-status", "--untracked-files=no", "--cleanup=whitespace", "--file=-"];

/** From about here on, waiting once for the disk is faster than waiting for each file. */
const MANY = 100;

async function update(
  git: Git,
  how: readonly string[],
  entries: readonly StatusEntry[],
  env: Env,
): Promise<void> {
  const input = entries.map((entry) => `${entry.bytes}\0`).join("");
  const sync = entries.length > MANY ? ["-c", "core.fsyncMethod=batch"] : [];
  await git.must([...sync, "update-index", ...how, "-z", "--stdin"], { input, env });
}

async function unstage(git: Git, entries: readonly StatusEntry[], env: Env): Promise<void> {
  const input = entries.map((entry) => `:(literal)${entry.bytes}\0`).join("");
  await git.must(["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"], { input, env });
}

function isNothingToCommit({ code, stderr }: GitResult): boolean {
  return code === 1 && !/^(fatal|error):/m.test(stderr);
}

/** The end of what was said; null when there was just nothing to commit, whatever a hook said to it. */
async function refusalIn(result: GitResult, git: Git, env: Env): Promise<string | null> {
  const isEmpty = async (): Promise<boolean> => (await git.run(IS_STAGED, { env })).code === 0;
  if (isNothingToCommit(result) && (await isEmpty())) return null;
  const words = result.stderr.trim().slice(-REFUSAL_KEPT);
  return words === "" ? `git commit ended with code ${result.code} and said nothing` : words;
}

const IS_STAGED = ["diff", "--cached", "--quiet"];
const REFUSAL_KEPT = 1_000;

/** Commits one file and nothing else, whatever is staged beside it; null when there was nothing to commit. */
export async function commitMark(checkout: Checkout, request: MarkRequest): Promise<MarkCommit | null> {
  const path = withRealPaths(checkout.root, [request.path]).at(-1) ?? request.path;
  // In the middle of a merge a commit would be the merge's, and without its files.
  if (isMerging(checkout)) return null;
  const mark = { path, message: commitMessage(request, request.what ?? "mark done"), hooks: request.hooks };
  const { head: parent } = await readHead(checkout, checkout.git);
  const isCommitted = (await commitAtOnce(checkout, mark)) ?? (await commitWithCare(checkout, mark));
  if (!isCommitted) return committedBefore(checkout, mark.message);
  const { head: commit } = await readHead(checkout, checkout.git);
  return commit === null ? null : { commit, parent };
}

/** The last commit, if it is this mark: no other one has the same run, iteration and subject. */
export async function committedBefore({ git }: Checkout, message: string): Promise<MarkCommit | null> {
  const { code, stdout } = await git.run(["log", "-1", "--format=%H %P%n%B", "HEAD"]);
  const [ids = "", ...lines] = stdout.split("\n");
  if (code !== 0 || lines.join("\n").trimEnd() !== bytesOf(message).trimEnd()) return null;
  const [commit = "", parent] = ids.split(" ").filter((id) => id !== "");
  return { commit, parent: parent ?? null };
}

interface Mark {
  readonly path: string;
  readonly message: string;
  readonly hooks: boolean;
}

/** Of a plain tracked file nothing has to be known before. Null: it has to. */
async function commitAtOnce(checkout: Checkout, mark: Mark): Promise<boolean | null> {
  if (mark.hooks || !isFile(join(checkout.root, mark.path))) return null;
  if (!(await isPlainlyTracked(checkout, mark.path))) return null;
  if (shouldCommitByParts(checkout)) return commitByParts(checkout, mark);
  const args = [...(await checkout.identity()), "commit", ...ONLY, `:(literal)${mark.path}`];
  const { code } = await checkout.git.run(args, { input: bytesOf(mark.message) });
  return code === 0 ? true : null;
}

async function commitByParts(checkout: Checkout, { path, message }: Mark): Promise<boolean | null> {
  const { git } = checkout;
  const bytes = bytesOf(path);
  await stage(git, [{ bytes, path, is: "tracked", staged: false, missing: false, committable: true }]);
  const { code, stdout } = await git.run(["diff-index", "--cached", "--name-only", "-z", "HEAD", "--"]);
  if (code === 0 && stdout === "") return false;
  return stdout === `${bytes}\0` ? commitTree(checkout, { message }) : null;
}

async function commitWithCare(checkout: Checkout, { path, message, hooks }: Mark): Promise<boolean> {
  const entry = (await readStatus(checkout, { path })).find((candidate) => candidate.path === path);
  if (entry === undefined || !entry.committable || entry.missing) return false;
  if (entry.is === "untracked") await stage(checkout.git, [entry]);
  return commitIndex(checkout, { message, hooks, what: ["--only", "--", `:(literal)${path}`] });
}

const ONLY = [...COMMIT_OPTIONS, "--only", "--"];

/** In the index, and without the flags by which an operator keeps changes of it private. Asked until a conflict once. */
async function isPlainlyTracked({ git, plainlyTracked }: Checkout, path: string): Promise<boolean> {
  if (plainlyTracked.has(path)) return true;
  const { stdout } = await git.run(["ls-files", "-v", "-z", "--", `:(literal)${path}`]);
  if (stdout !== `H ${bytesOf(path)}\0`) return false;
  plainlyTracked.add(path);
  return true;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

export interface TreeCommit {
  readonly message: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Whether to commit by parts. `git commit` looks at every file of the work tree, which a repository of a hundred
 * thousand feels; in a small one it is a single process instead of three. Where there is nothing to commit it looks into
 * repositories inside ours, too, and runs what their settings say. What git has begun only git may conclude.
 */
function shouldCommitByParts(checkout: Checkout): boolean {
  const isLookedAt = hasBigIndex(checkout) || mayHaveSubmodules(checkout);
  return isLookedAt && !UNDER_WAY.some((name) => existsSync(join(checkout.gitDir, name)));
}

/** Commits what is in the index, as `git commit` would, without a look at the work tree. False: nothing to commit. */
async function commitTree(checkout: Checkout, { message, env = {} }: TreeCommit): Promise<boolean> {
  const { git } = checkout;
  const [written, { head }, before, identity] = await Promise.all([
    git.must(["write-tree"], { env }),
    readHead(checkout, git),
    git.ask(["rev-parse", "--quiet", "--verify", "HEAD^{tree}"]),
    checkout.identity(),
  ]);
  const tree = written.trim();
  if (tree === (head === null ? emptyTree(tree) : before.stdout.trim())) return false;
  const parent = head === null ? [] : ["-p", head];
  const input = bytesOf(message);
  const commit = (await git.must([...identity, "commit-tree", ...parent, tree], { input })).trim();
  const subject = message.slice(0, message.indexOf("\n"));
  const why = `commit${head === null ? " (initial)" : ""}: ${subject}`;
  // Only from where we saw it: nobody's commit gets lost.
  await git.must([...identity, "update-ref", "-m", why, "HEAD", commit, head ?? nothing(tree)]);
  return true;
}

const UNDER_WAY = [
  "MERGE_HEAD",
  "MERGE_MSG",
  "SQUASH_MSG",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "sequencer",
  "rebase-merge",
  "rebase-apply",
];

/** How git writes that a reference must not exist yet. */
function nothing(sibling: string): string {
  return "0".repeat(sibling.length);
}
