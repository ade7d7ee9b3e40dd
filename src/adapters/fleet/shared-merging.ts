import { RalphError, withHint } from "../../core/errors.ts";
import { asArgument } from "../../core/text.ts";
import type { Advanced, AdvanceRequest, MergeRequest, Merging } from "../../engine/parallel-ports.ts";
import { compareBranch, type Git, isHere, whereBaseStands } from "../git/git.ts";
import { acceptedRef, keepBackup } from "../git/read-head.ts";
import { createMerging } from "../git/merging/git-merging.ts";
import { headRef, type Remote } from "./remote.ts";
import type { Fence } from "./fence.ts";
import type { Move } from "./remote-git.ts";

interface SharedMergingOptions {
  /** The clone. */
  readonly root: string;
  readonly scratch: string;
  readonly remote: Remote;
  readonly fence: Fence;
}

/** The part of whoever brings work to the base. */
const MERGER = "@merger";

/** Brings work to the base of the remote. The clone's own branches and checkout have no part in it. */
export function createSharedMerging({ root, scratch, remote, fence }: SharedMergingOptions): Merging {
  const merging = createMerging({ root, scratch, where: onRemote(remote) });
  return {
    ...merging,
    async whatMoved(branch, commit) {
      const tip = await remote.fetch(headRef(branch), MERGER);
      const { git, remoteName } = await remote.clone();
      const where = tip === null ? "" : `${keptRef(branch, tip)} on ${remoteName}`;
      const restore = `git push --force ${asArgument(remoteName)} ${commit}:${asArgument(headRef(branch))}`;
      return compareBranch(git, { commit, tip, where, restore });
    },
    advance: (request) => advance(remote, fence, request),
    async rename(branch, name) {
      await retire(remote, fence, branch);
      await merging.rename(branch, name);
    },
  };
}

/** Where `merging` finds commits. */
function onRemote(remote: Remote) {
  return {
    async findTip(_git: Git, branch: string): Promise<string> {
      const tip = await remote.fetch(headRef(branch), MERGER);
      if (tip !== null) return tip;
      const { remoteName } = await remote.clone();
      throw new RalphError("git-failed", `there is no branch ${branch} on ${remoteName}`, {
        hint: `git ls-remote --heads ${asArgument(remoteName)}`,
      });
    },
    async whyGone(git: Git, { run, iteration, commit, branch }: MergeRequest): Promise<string | null> {
      if (await isHere(git, commit)) return null;
      await remote.fetch(headRef(branch), MERGER);
      if (await isHere(git, commit)) return null;
      // Somebody moved the branch. It may have been accepted in an earlier run.
      const kept = await remote.refs([acceptedRef({ run: "*", iteration })], MERGER);
      const ref = [...kept.keys()].find((one) => kept.get(one) === commit);
      if (ref !== undefined && (await remote.fetch(ref, MERGER)) === commit) return null;
      const { remoteName } = await remote.clone();
      const push = `git push ${asArgument(remoteName)} ${commit}:${acceptedRef({ run, iteration })}`;
      return `${remoteName} no longer has the accepted commit of ${branch}; in the clone of the worker that made it: ${push}`;
    },
  };
}

async function advance(remote: Remote, fence: Fence, request: AdvanceRequest): Promise<Advanced> {
  const { base, from, to, run, iteration } = request;
  const clone = await remote.clone();
  // First of all: whoever was the merger before may be in the middle of a push, and must not move the base after we looked.
  try {
    await fence.takeUp(MERGER);
  } catch (error) {
    if (!(error instanceof RalphError) || error.code !== "git-failed") throw error;
    return { is: "waits", root: null, why: withHint(error), paths: [] };
  }
  for (;;) {
    const head = await remote.fetch(headRef(base), MERGER);
    // Another machine may have prepared it, and never sent it.
    const stands = await whereBaseStands(clone.git, head, request);
    if (stands !== "before") return stands;
    await keepBackup(clone.git, { run, iteration, commit: from });
    const pushed = await fence.push(MERGER, [{ ref: headRef(base), from, to }]);
    if (pushed.is === "pushed") return { is: "moved" };
    if (pushed.is === "refused")
      return {
        is: "waits",
        root: null,
        why: `${clone.remoteName} refuses the push: ${pushed.why}`,
        paths: [],
      };
  }
}

function keptRef(branch: string, tip: string): string {
  return `refs/ralph/merged/${branch.replace(/^ralph\//, "")}/${tip.slice(0, 12)}`;
}

/** How often the branch may move at the same moment. */
const TRIES_MAX = 3;

/** The branch goes, its commits stay under a name that is no branch. A server that keeps its branches is let alone. */
async function retire(remote: Remote, fence: Fence, branch: string): Promise<void> {
  await fence.takeUp(MERGER);
  let why = "it keeps moving";
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const tip = await remote.fetch(headRef(branch), MERGER);
    if (tip === null) return;
    const ref = keptRef(branch, tip);
    const kept = await remote.fetch(ref, MERGER);
    const moves: Move[] = [{ ref: headRef(branch), from: tip, to: null }];
    if (kept !== tip) moves.push({ ref, from: kept, to: tip });
    const pushed = await fence.push(MERGER, moves);
    if (pushed.is === "pushed") return;
    if (pushed.is === "refused") {
      ({ why } = pushed);
      break;
    }
  }
  await remote.tell(`the branch ${branch} is merged and could not be removed: ${why}`);
}
