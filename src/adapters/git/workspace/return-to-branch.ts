import { asArgument } from "../../../core/text.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import type { CollectRequest, CommitRequest, Snapshot } from "../../../engine/ports.ts";
import type { Checkout, Owners } from "./checkout.ts";
import { commitLeftovers, hasConflict, stage } from "./commit-leftovers.ts";
import { contains, type Git } from "../git.ts";
import { withOwnIndex } from "../tree-entries.ts";
import { readHead, resolveCommit } from "../read-head.ts";
import { commitMessage, refOf, writeCommit } from "../write-commit.ts";
import { readLeftovers, type SortedLeftovers } from "./read-leftovers.ts";

/**
 * Puts HEAD back where the iteration began. Work that continues it comes along; any other stays where it is,
 * under the name that is answered. An agent may rewrite its own commits, not what was there before its task.
 */
export async function returnToBranch(
  checkout: Checkout,
  request: CollectRequest,
  whose: Owners["whose"],
): Promise<string | null> {
  const { git, walk } = checkout;
  const { from } = request;
  const now = await readHead(checkout, git);
  if (now.branch === from.branch) {
    if (await isRewritten(checkout, request, now.head)) {
      await walk.settled();
      await takeBackRewriting(checkout, request, whose);
    }
    return strayedBefore(checkout, request);
  }
  await walk.settled();
  // A branch that was deleted or renamed is where it was.
  const branchTip = from.branch === null ? null : await resolveCommit(git, refOf(from.branch));
  const tip = branchTip ?? from.head;
  const isRebasing = inRebase(checkout);
  if (await hasSwitched(git, request, now)) return strayedBefore(checkout, request);
  if (now.head === null) await pointHead(git, from, tip);
  else if (!isRebasing && (tip === null || (await contains(git, now.head, tip)))) {
    if (from.branch !== null && tip !== now.head)
      await git.must(["update-ref", refOf(from.branch), now.head]);
    await pointHead(git, from, now.head);
  } else {
    await leaveBehind(checkout, request, whose, tip);
  }
  return strayedBefore(checkout, request);
}

/**
 * Another branch was checked out, and nobody has committed to it since the task began: a person switched, most likely.
 * What is uncommitted comes back with us, and that branch stays as it is.
 */
async function hasSwitched(git: Git, { from, since }: CollectRequest, now: Snapshot): Promise<boolean> {
  if (now.branch === null || now.head === null || now.head === from.head || from.branch === null)
    return false;
  const committed = await git.must(["log", "-1", "--format=%ct", now.head]);
  // Git counts whole seconds.
  if (Number(committed) >= Math.floor(since / 1_000)) return false;
  await restoreBranch(git, from.branch, from.head);
  const back = ["checkout", "--quiet", "--no-guess", "--ignore-other-worktrees", from.branch, "--"];
  return (await git.run(back)).code === 0;
}

async function isRewritten(
  { git }: Checkout,
  { from, taskBase }: CollectRequest,
  head: string | null,
): Promise<boolean> {
  const base = taskBase ?? from.head;
  if (base === null || head === from.head) return false;
  // Of a repository that was made anew the base is gone.
  return head === null || (await git.run(["merge-base", "--is-ancestor", base, head])).code !== 0;
}

/** What the agent made of it is kept under a name of its own; the branch is where it was. */
async function takeBackRewriting(
  checkout: Checkout,
  request: CollectRequest,
  whose: Owners["whose"],
): Promise<void> {
  const { git } = checkout;
  const { from } = request;
  await commitLeftovers(checkout, await readLeftovers(checkout, whose), request);
  await rememberStray(git, request, (await readHead(checkout, git)).head, null);
  // Of a repository that was made anew nothing can be brought back.
  if (from.head === null || (await resolveCommit(git, from.head)) === null) return;
  await checkOut(git, { head: from.head, branch: null }, from.head, null);
  if (from.branch === null) return;
  await git.must(["update-ref", refOf(from.branch), from.head]);
  await pointHead(git, from, from.head);
}

/** Moves HEAD alone; index and work tree stay. A branch that was deleted is made again, or its history would end here. */
async function pointHead(git: Git, from: Snapshot, commit: string | null): Promise<void> {
  if (from.branch !== null) {
    await restoreBranch(git, from.branch, commit);
    await git.must(["symbolic-ref", "HEAD", refOf(from.branch)]);
  } else if (commit !== null) await git.must(["update-ref", "--no-deref", "HEAD", commit]);
}

async function restoreBranch(git: Git, branch: string, commit: string | null): Promise<void> {
  if (commit !== null && (await resolveCommit(git, refOf(branch))) === null)
    await git.must(["update-ref", refOf(branch), commit]);
}

async function leaveBehind(
  checkout: Checkout,
  request: CollectRequest,
  whose: Owners["whose"],
  tip: string | null,
): Promise<void> {
  const { git } = checkout;
  const left = await readLeftovers(checkout, whose);
  const saved = hasConflict(left) ? await saveConflict(checkout, left, request) : null;
  if (saved === null) await commitLeftovers(checkout, left, request);
  const now = await readHead(checkout, git);
  const isKnown = saved === null && tip !== null && now.head !== null && (await contains(git, tip, now.head));
  // An agent that only looked at an older commit has left no work.
  if (!isKnown) await rememberStray(git, request, saved ?? now.head, saved === null ? now.branch : null);
  if (inRebase(checkout)) await git.must(["rebase", "--abort"]);
  else if (saved !== null) await git.must(["reset", "--quiet", "--merge"]);
  const target = request.from.branch ?? request.from.head;
  if (target === null) return;
  await checkOut(git, request.from, target, tip);
}

async function checkOut(git: Git, from: Snapshot, target: string, tip: string | null): Promise<void> {
  if (from.branch !== null) await restoreBranch(git, from.branch, tip);
  const how = from.branch === null ? ["--detach"] : ["--no-guess", "--ignore-other-worktrees"];
  const result = await git.run(["checkout", "--quiet", ...how, target, "--"]);
  if (result.code === 0) return;
  throw new RalphError("git-failed", `the agent left ${target}, and git cannot check it out again`, {
    hint: `see what is in the way: git checkout ${asArgument(target)}`,
    cause: result,
  });
}

/** Unresolved files cannot be committed in place, so they are saved beside it, markers and all. */
export async function saveConflict(
  checkout: Checkout,
  left: SortedLeftovers,
  request: CommitRequest,
): Promise<string> {
  const { git } = checkout;
  return withOwnIndex(checkout, async (env) => {
    const head = await resolveCommit(git, "HEAD");
    await git.must(["read-tree", head ?? "--empty"], { env });
    const conflicts = left.stay.filter((entry) => entry.is !== "untracked" || entry.committable);
    await stage(git, conflicts, env);
    const tree = (await git.must(["write-tree"], { env })).trim();
    return writeCommit(checkout, tree, [head], commitMessage(request, request.title));
  });
}

/** Iterations are counted anew after a reset, so the run is part of the name. */
function strayRef({ run, iteration }: CommitRequest): string {
  return `refs/ralph/stray/${run.replaceAll(/[^\w-]/g, "").slice(0, 8)}/${iteration}`;
}

async function rememberStray(
  git: Git,
  request: CollectRequest,
  commit: string | null,
  branch: string | null,
): Promise<void> {
  if (branch !== null) await git.must(["symbolic-ref", strayRef(request), `refs/heads/${branch}`]);
  else if (commit !== null) await git.must(["update-ref", strayRef(request), commit]);
}

/** Also true after a crash that came between the return and the record of it. */
function strayedBefore({ commonDir }: Checkout, request: CollectRequest): string | null {
  const ref = strayRef(request);
  try {
    const content = readFileSync(join(commonDir, ref), "utf8").trim();
    return content.startsWith("ref: refs/heads/") ? content.slice("ref: refs/heads/".length) : ref;
  } catch {
    return null;
  }
}

function inRebase({ gitDir }: Checkout): boolean {
  return ["rebase-merge", "rebase-apply"].some((name) => existsSync(join(gitDir, name)));
}
