import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { MarkCommit, MarkRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { COMMIT_OPTIONS, commitIndex, isMerging, stage } from "./commit-leftovers.ts";
import { commitMessage } from "../git/commit-message.ts";
import { commitTree, shouldCommitByParts } from "./commit-tree.ts";
import { bytesOf } from "../git/git.ts";
import { readHead } from "../git/read-head.ts";
import { readStatus } from "./read-status.ts";
import { withRealPaths } from "./whose-path.ts";

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
async function committedBefore({ git }: Checkout, message: string): Promise<MarkCommit | null> {
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
