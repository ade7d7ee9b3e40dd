import { existsSync } from "node:fs";
import { join } from "node:path";
import { hasBigIndex } from "./big-index.ts";
import type { Checkout } from "./checkout.ts";
import { emptyTree } from "../git/empty-tree.ts";
import { bytesOf } from "../git/git.ts";
import { readHead } from "../git/read-head.ts";

export interface TreeCommit {
  readonly message: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Whether to commit by parts. `git commit` looks at every file of the work tree, which a repository of a hundred
 * thousand feels; in a small one it is a single process instead of three. What git has begun only git may conclude.
 */
export function shouldCommitByParts(checkout: Checkout): boolean {
  return hasBigIndex(checkout) && !UNDER_WAY.some((name) => existsSync(join(checkout.gitDir, name)));
}

/** Commits what is in the index, as `git commit` would, without a look at the work tree. False: nothing to commit. */
export async function commitTree(checkout: Checkout, { message, env = {} }: TreeCommit): Promise<boolean> {
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
