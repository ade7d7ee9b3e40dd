import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { MarkRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { COMMIT_OPTIONS, commitIndex, isMerging, stage } from "./commit-leftovers.ts";
import { commitMessage } from "../git/commit-message.ts";
import { commitTree, shouldCommitByParts } from "./commit-tree.ts";
import { bytesOf } from "../git/git.ts";
import { readHead } from "../git/read-head.ts";
import { readStatus } from "./read-status.ts";
import { withRealPaths } from "./whose-path.ts";

/** Commits one file and nothing else, whatever is staged beside it; null when there was nothing to commit. */
export async function commitMark(checkout: Checkout, request: MarkRequest): Promise<string | null> {
  const path = withRealPaths(checkout.root, [request.path]).at(-1) ?? request.path;
  // In the middle of a merge a commit would be the merge's, and without its files.
  if (isMerging(checkout)) return null;
  const mark = { path, message: commitMessage(request, request.what ?? "mark done"), hooks: request.hooks };
  const isCommitted = (await commitAtOnce(checkout, mark)) ?? (await commitWithCare(checkout, mark));
  return isCommitted ? (await readHead(checkout, checkout.git)).head : null;
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
  const entry = (await readStatus(checkout.git, { path })).find((candidate) => candidate.path === path);
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
