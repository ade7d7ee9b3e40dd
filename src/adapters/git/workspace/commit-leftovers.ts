import { existsSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import type { CommitRequest, MarkCommit, MarkRequest } from "../../../engine/ports.ts";
import { type Checkout, readStatus, type StatusEntry, withRealPaths } from "./checkout.ts";
import { bytesOf, gitError, type Git, emptyTree } from "../git.ts";
import type { SortedLeftovers } from "./read-leftovers.ts";
import { type Env, withOwnIndex } from "../tree-entries.ts";
import { readHead } from "../read-head.ts";
import { commitMessage, underWay, writeCommit } from "../write-commit.ts";

/** Commits what may be committed and nothing else, whatever the agent has staged. `refused` is what git itself would not take. */
export async function commitLeftovers(
  checkout: Checkout,
  left: SortedLeftovers,
  request: CommitRequest,
  onRefusal?: (words: string) => void,
): Promise<{ readonly isCommitted: boolean; readonly refused: readonly StatusEntry[] }> {
  if (hasConflict(left) || (left.take.length === 0 && !isMerging(checkout)))
    return { isCommitted: false, refused: [] };
  const commit = { message: commitMessage(request, request.title), hooks: request.hooks, onRefusal };
  const refused = await stageWhatGoes(checkout.git, left.take, onRefusal);
  const staged = [...left.ours, ...left.stay, ...left.tooRisky].filter((entry) => entry.staged);
  const isCommitted =
    staged.length === 0
      ? await commitIndex(checkout, commit)
      : await withOwnIndex(checkout, async (env) => {
          const input = staged.map(({ bytes }) => `:(literal)${bytes}\0`).join("");
          const unstage = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"];
          await checkout.git.must(unstage, { input, env });
          return commitIndex(checkout, { ...commit, env });
        });
  return { isCommitted, refused };
}

/** Git commits nothing at all while there is one. */
export function hasConflict({ stay }: SortedLeftovers): boolean {
  return stay.some((entry) => entry.is === "conflict");
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
    // About a file; a lock in the way is about all of them.
    const isRefusal =
      error instanceof RalphError && error.code === "git-failed" && !/\.lock\b/.test(error.message);
    if (!isRefusal || entries.length > ONE_BY_ONE_MAX) throw error;
    const [only] = entries;
    if (entries.length === 1 && only !== undefined) {
      onRefusal?.(`${only.path}: ${error.message}`);
      return [only];
    }
  }
  const refused: StatusEntry[] = [];
  for (const entry of entries) refused.push(...(await stageWhatGoes(git, [entry], onRefusal)));
  return refused;
}

const ONE_BY_ONE_MAX = 500;

/** A merge or a cherry-pick that the agent began: git then commits the whole index or nothing. */
export function isMerging({ gitDir }: Checkout): boolean {
  return ["MERGE_HEAD", "CHERRY_PICK_HEAD"].some((name) => existsSync(join(gitDir, name)));
}

/** Puts exactly these paths into the index, as they are in the work tree. */
export async function stage(git: Git, entries: readonly StatusEntry[], env: Env = {}): Promise<void> {
  const update = async (isMissing: boolean, ...how: readonly string[]): Promise<void> => {
    const paths = entries.filter((entry) => entry.missing === isMissing).map(({ bytes }) => `${bytes}\0`);
    const sync = paths.length > MANY ? ["-c", "core.fsyncMethod=batch"] : [];
    const args = [...sync, "update-index", ...how, "-z", "--stdin"];
    if (paths.length > 0) await git.must(args, { input: paths.join(""), env });
  };
  // A path below something that is now a link or a file cannot be looked at, only taken out.
  await update(true, "--force-remove");
  await update(false, "--add", "--remove", "--replace");
}

/** From about here on, waiting once for the disk is faster than waiting for each file. */
const MANY = 100;

interface Commit {
  readonly message: string;
  readonly hooks: boolean;
  readonly env?: Env;
  /** Told what the hooks said, if they refused. */
  readonly onRefusal?: ((words: string) => void) | undefined;
}

/** Commits what is in the index. False when git had nothing to commit or a hook refused. */
export async function commitIndex(checkout: Checkout, commit: Commit): Promise<boolean> {
  const { message, hooks, env = {}, onRefusal } = commit;
  const { git, gitDir } = checkout;
  const isUnderWay =
    underWay(gitDir) !== null || ["MERGE_MSG", "SQUASH_MSG"].some((name) => existsSync(join(gitDir, name)));
  // What git has begun only git may conclude.
  if (!hooks && !isUnderWay) return commitTree(checkout, message, env);
  if (!isMerging(checkout) && (await git.run(IS_STAGED, { env })).code === 0) return false;
  const args = [...(await checkout.identity()), "commit", ...COMMIT_OPTIONS];
  const result = await git.run(args, { input: bytesOf(message), hooks, env });
  if (result.code === 0) return true;
  const isQuiet = result.code === 1 && !/^(fatal|error):/m.test(result.stderr);
  if (!hooks && !isQuiet) throw gitError(args, result);
  // There may just have been nothing to commit, whatever a hook said to it.
  if (hooks && !(isQuiet && (await git.run(IS_STAGED, { env })).code === 0)) {
    const words = result.stderr.trim().slice(-REFUSAL_KEPT);
    onRefusal?.(words === "" ? `git commit ended with code ${result.code} and said nothing` : words);
  }
  return false;
}

const IS_STAGED = ["diff", "--cached", "--quiet"];
const REFUSAL_KEPT = 1_000;
const COMMIT_OPTIONS = ["--quiet", "--no-status", "--untracked-files=no", "--cleanup=whitespace", "--file=-"];

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

/**
 * Commits what is in the index without a look at the work tree: in a big one that takes long, and in repositories inside
 * ours `git commit` runs what their settings say. False: nothing to commit.
 */
async function commitTree(checkout: Checkout, message: string, env: Env): Promise<boolean> {
  const { git } = checkout;
  const [written, { head }, before, identity] = await Promise.all([
    git.must(["write-tree"], { env }),
    readHead(checkout, git),
    git.ask(["rev-parse", "--quiet", "--verify", "HEAD^{tree}"]),
    checkout.identity(),
  ]);
  const tree = written.trim();
  if (tree === (head === null ? emptyTree(tree) : before.stdout.trim())) return false;
  const commit = await writeCommit(checkout, tree, [head], message);
  const subject = message.slice(0, message.indexOf("\n"));
  const why = `commit${head === null ? " (initial)" : ""}: ${subject}`;
  // Only from where we saw it, or nowhere: nobody's commit gets lost.
  const from = head ?? "0".repeat(tree.length);
  await git.must([...identity, "update-ref", "-m", why, "HEAD", commit, from]);
  return true;
}
