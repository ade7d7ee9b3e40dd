import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import type { CommitRequest, MarkCommit, MarkRequest } from "../../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { commitMessage } from "../commit-message.ts";
import { bytesOf, gitError, type Git, type GitResult, emptyTree } from "../git.ts";
import { type StatusEntry, readStatus } from "./read-status.ts";
import type { SortedLeftovers } from "./read-leftovers.ts";
import { OWN_INDEX_PREFIX } from "../stale-locks.ts";
import { readHead } from "../read-head.ts";
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

interface Commit {
  readonly message: string;
  readonly hooks: boolean;
  readonly env?: Env;
  /** Told what the hooks said, if they refused. */
  readonly onRefusal?: ((words: string) => void) | undefined;
}

/** Commits what is in the index. False when git had nothing to commit or a hook refused. */
export async function commitIndex(checkout: Checkout, commit: Commit): Promise<boolean> {
  const { message, hooks, env = {} } = commit;
  if (!hooks && !isUnderWay(checkout)) return commitTree(checkout, { message, env });
  if (!isMerging(checkout) && (await checkout.git.run(IS_STAGED, { env })).code === 0) return false;
  const args = [...(await checkout.identity()), "commit", ...COMMIT_OPTIONS];
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
  const { git } = checkout;
  const path = withRealPaths(checkout.root, [request.path]).at(-1) ?? request.path;
  // In the middle of a merge a commit would be the merge's, and without its files.
  if (isMerging(checkout)) return null;
  const commit = { message: commitMessage(request, request.what ?? "mark done"), hooks: request.hooks };
  const entry = (await readStatus(checkout, { path })).find((candidate) => candidate.path === path);
  if (entry === undefined || !entry.committable || entry.missing)
    return committedBefore(checkout, commit.message);
  const { head: parent } = await readHead(checkout, git);
  await stage(git, [entry]);
  const staged = await git.run(["diff-index", "--cached", "--name-only", "-z", "HEAD", "--"]);
  const isCommitted =
    staged.code === 0 && staged.stdout === `${entry.bytes}\0`
      ? await commitIndex(checkout, commit)
      : await withOwnIndex(checkout, async (env) => {
          await git.must(["read-tree", parent ?? "--empty"], { env });
          await stage(git, [entry], env);
          return commitIndex(checkout, { ...commit, env });
        });
  if (!isCommitted) return committedBefore(checkout, commit.message);
  const { head } = await readHead(checkout, git);
  return head === null ? null : { commit: head, parent };
}

/** The last commit, if it is this mark: no other one has the same run, iteration and subject. */
export async function committedBefore({ git }: Checkout, message: string): Promise<MarkCommit | null> {
  const { code, stdout } = await git.run(["log", "-1", "--format=%H %P%n%B", "HEAD"]);
  const [ids = "", ...lines] = stdout.split("\n");
  if (code !== 0 || lines.join("\n").trimEnd() !== bytesOf(message).trimEnd()) return null;
  const [commit = "", parent] = ids.split(" ").filter((id) => id !== "");
  return { commit, parent: parent ?? null };
}

/** What git has begun only git may conclude. */
function isUnderWay({ gitDir }: Checkout): boolean {
  return UNDER_WAY.some((name) => existsSync(join(gitDir, name)));
}

/**
 * Commits what is in the index without a look at the work tree: in a big one that takes long, and in repositories inside
 * ours `git commit` runs what their settings say. False: nothing to commit.
 */
async function commitTree(
  checkout: Checkout,
  { message, env = {} }: Pick<Commit, "message" | "env">,
): Promise<boolean> {
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
