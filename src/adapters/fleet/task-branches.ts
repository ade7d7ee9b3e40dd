import type { TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { Workspace } from "../../engine/ports.ts";
import { acceptedRef, resolveCommit } from "../git/read-head.ts";
import { type Remote, headRef, lost } from "./remote.ts";
import type { Fence } from "./fence.ts";
import { encodeName, type Move } from "./push-once.ts";

/** The branches of tasks on the remote, as far as this worker holds the tasks. */
export interface TaskBranches {
  branchOf(task: TaskId): string;
  isHeld(task: TaskId): boolean;
  /** Nobody else pushes to it from now on. The network is asked once for each lease. */
  takeUp(task: TaskId): Promise<TakenBranch>;
  /** Brings the branch as it is here to the remote, and a commit under a name of ours; sends nothing that is there already. */
  push(task: TaskId, kept?: Kept): Promise<void>;
}

interface Kept {
  readonly ref: string;
  readonly commit: string;
}

export interface TakenBranch {
  /** Where it is on the remote; null while it is not there. */
  tip: string | null;
  /** What lies here is what the remote has, and has grown from it since. */
  isAligned: boolean;
}

interface TaskBranchesOptions {
  readonly remote: Remote;
  readonly fence: Fence;
  /** The same on all machines. */
  readonly branchOf: (task: TaskId) => string;
}

export function createTaskBranches({ remote, fence, branchOf }: TaskBranchesOptions): TaskBranches {
  const taken = new Map<TaskId, TakenBranch>();
  return {
    branchOf,
    isHeld: (task) => fence.isHeld(task),
    async takeUp(task) {
      const isNew = await fence.takeUp(task);
      const before = taken.get(task);
      if (before !== undefined && !isNew) return before;
      taken.delete(task);
      // Only now: whoever had it before may have pushed until the very last moment.
      const tip = await remote.fetch(headRef(branchOf(task)), task);
      const branch = { tip, isAligned: false };
      taken.set(task, branch);
      return branch;
    },
    async push(task, kept) {
      const branch = taken.get(task);
      if (branch === undefined) throw lost(task);
      await pushBranch({ remote, fence, task, name: branchOf(task) }, branch, kept);
    },
  };
}

/** How often somebody else may push to the branch at the same moment. */
const TRIES_MAX = 5;

interface Pushing extends Pick<TaskBranchesOptions, "remote" | "fence"> {
  readonly task: TaskId;
  readonly name: string;
}

async function pushBranch(
  { remote, fence, task, name }: Pushing,
  branch: TakenBranch,
  kept: Kept | undefined,
): Promise<void> {
  const { git, remoteName } = await remote.clone();
  const ref = headRef(name);
  const to = (await resolveCommit(git, ref)) ?? branch.tip;
  let aside: readonly Move[] = [];
  let known: string | null = null;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const moves: Move[] = [...aside];
    if (to !== branch.tip) moves.push({ ref, from: branch.tip, to });
    if (kept !== undefined && known !== kept.commit)
      moves.push({ ref: kept.ref, from: known, to: kept.commit });
    if (moves.length === 0) return;
    const pushed = await fence.push(task, moves);
    if (pushed.is === "pushed") {
      branch.tip = to;
      return;
    }
    if (pushed.is === "refused")
      throw new RalphError(
        "git-failed",
        `the remote ${remoteName} does not take the branch ${name}: ${pushed.why}`,
      );
    const theirs = await remote.fetch(ref, task);
    aside = theirs === null || theirs === branch.tip ? aside : await keepTheirs(remote, task, theirs);
    branch.tip = theirs;
    if (kept !== undefined) known = await remote.fetch(kept.ref, task);
  }
  throw new RalphError("git-failed", `somebody else keeps pushing to the branch ${name} of ${remoteName}`);
}

/** A person's commits on a branch of ours are in nobody's plan, and yet are not lost. */
async function keepTheirs(remote: Remote, task: TaskId, theirs: string): Promise<readonly Move[]> {
  const ref = asideRef(task, theirs);
  await remote.tell(`somebody else pushed to the branch of ${task}; it is kept there as ${ref}`);
  const kept = await remote.fetch(ref, task);
  return kept === theirs ? [] : [{ ref, from: kept, to: theirs }];
}

/** Where commits of a task are kept that are not on its branch. */
export function asideRef(task: TaskId, commit: string): string {
  return `refs/ralph/aside/${encodeName(task)}/${commit.slice(0, 12)}`;
}

/** What an iteration committed is on the remote before anybody learns of it: the next may be on another machine. */
export function pushingWorkspace<Inner extends Workspace>(workspace: Inner, branches: TaskBranches): Inner {
  return {
    ...workspace,
    async collect(request) {
      const evidence = await workspace.collect(request);
      const { headAfter: commit } = evidence;
      const isKept = request.isClaimed && commit !== null && commit !== request.taskBase;
      await branches.push(request.task, isKept ? { ref: acceptedRef(request), commit } : undefined);
      return evidence;
    },
  };
}
