import { asArgument } from "../../core/text.ts";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { OpenedWorktree, WorktreeEntry, Worktrees } from "../../engine/parallel-ports.ts";
import { contains, createGit, gitError } from "../git/git.ts";
import { deleteBranch, findRepository } from "../git/find-repository.ts";
import { resolveCommit } from "../git/read-head.ts";
import { OWN_INDEX_PREFIX } from "../git/stale-locks.ts";
import { inTurn } from "../process/system-clock.ts";
import type { Workspace } from "../../engine/ports.ts";
import { acceptedRef } from "../git/read-head.ts";
import type { Fence } from "./fence.ts";
import { type Clone, encodeName, type Move, seenRef } from "./remote-git.ts";
import { type Remote, headRef, lost } from "./remote.ts";

interface SharedWorktreesOptions {
  /** Those of the clone, with names that are alike on all machines. */
  readonly worktrees: Worktrees;
  readonly remote: Remote;
  readonly fence: Fence;
  /** The same on all machines. */
  readonly branchOf: (task: TaskId) => string;
  /** Whether others went on with a task since this worker left it. */
  readonly wasElsewhere: (task: TaskId) => boolean;
}

/** The branch of a task that was taken up. */
interface TakenBranch {
  /** Where it is on the remote; null while it is not there. */
  tip: string | null;
  /** What lies here is what the remote has, and has grown from it since. */
  isAligned: boolean;
}

interface Kept {
  readonly ref: string;
  readonly commit: string;
}

/** How often somebody else may push to a branch at the same moment. */
const TRIES_MAX = 5;
/** Others may have merged a task before this worker lets go of it. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 250;

/** Worktrees and branches of tasks that were begun on any machine, as far as this worker holds the tasks. */
export class SharedWorktrees {
  readonly #options: SharedWorktreesOptions;
  readonly #taken = new Map<TaskId, TakenBranch>();
  /**
   * When a task is taken up, what the remote has is what the task is: here its branch and checkout are made so, and
   * whatever else they hold is put aside, but for what this worker itself goes on with. As long as the same lease lasts,
   * nobody else can change it there, so opening again is a look at this clone alone.
   */
  readonly worktrees: Worktrees;

  constructor(options: SharedWorktreesOptions) {
    this.#options = options;
    const open: Worktrees["open"] = (task, base, signal) =>
      this.#inTurn(task, (clone) => this.#open(clone, task, base, signal));
    this.worktrees = { ...options.worktrees, open };
  }

  /** Brings the branch as it is here to the remote, and a commit under a name of ours; sends nothing that is there already. */
  async push(task: TaskId, kept?: Kept): Promise<void> {
    const { remote, fence, branchOf } = this.#options;
    const branch = this.#taken.get(task);
    if (branch === undefined) throw lost(task);
    const { git, remoteName } = await remote.clone();
    const name = branchOf(task);
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

  /** What an iteration committed is on the remote before anybody learns of it: the next may be on another machine. */
  pushing<Inner extends Workspace>(workspace: Inner): Inner {
    return {
      ...workspace,
      collect: async (request) => {
        const evidence = await workspace.collect(request);
        const { headAfter: commit } = evidence;
        const isKept = request.isClaimed && commit !== null && commit !== request.taskBase;
        await this.push(request.task, isKept ? { ref: acceptedRef(request), commit } : undefined);
        return evidence;
      },
    };
  }

  /** Removes a worktree. What nobody committed in it, and what was never pushed, is put aside first. */
  async remove(task: TaskId): Promise<boolean> {
    const { worktrees, remote } = this.#options;
    if (await worktrees.remove(task)) return true;
    const entry = (await worktrees.list()).find((one) => one.task === task);
    return entry?.isDirty === true && putAway(worktrees, await remote.clone(), entry);
  }

  /**
   * Removes what this clone has of tasks whose work is on the base: worktrees, branches. What nobody committed, and what
   * was never pushed, is put aside; a task that this worker holds is at work again. Answers the tasks of which nothing is
   * left here.
   */
  async clearMerged(tasks: readonly TaskId[]): Promise<readonly TaskId[]> {
    const { fence } = this.#options;
    const cleared: TaskId[] = [];
    for (const task of tasks) {
      for (let left = PATIENCE_MS; left > 0 && fence.isHeld(task); left -= LOOK_MS) await sleep(LOOK_MS);
      if (await this.#inTurn(task, (clone) => this.#clear(clone, task))) cleared.push(task);
    }
    return cleared;
  }

  async #clear(clone: Clone, task: TaskId): Promise<boolean> {
    const { fence, branchOf } = this.#options;
    if (fence.isHeld(task) || !(await this.remove(task))) return false;
    const { git } = clone;
    const name = branchOf(task);
    const tip = await resolveCommit(git, headRef(name));
    if (tip !== null) {
      await keepAside(clone, task, tip);
      // A person may have it checked out.
      if ((await deleteBranch(git, name)).code !== 0) return false;
    }
    await git.run(["update-ref", "-d", seenRef(headRef(name))]);
    return true;
  }

  async #inTurn<Result>(task: TaskId, work: (clone: Clone) => Promise<Result>): Promise<Result> {
    const clone = await this.#options.remote.clone();
    return inTurn(`${clone.commonDir} ${this.#options.branchOf(task)}`, () => work(clone));
  }

  async #open(clone: Clone, task: TaskId, base: string, signal?: AbortSignal): Promise<OpenedWorktree> {
    const name = this.#options.branchOf(task);
    const branch = await this.#takeUp(task);
    if (!branch.isAligned) await this.#align(clone, task, branch);
    branch.isAligned = true;
    const start = await this.#findStart(clone, task, base, branch);
    const opened = await this.#options.worktrees.open(task, start, signal);
    if (opened.branch !== name)
      throw new RalphError("internal", `${task} is on ${opened.branch}, others look for it on ${name}`);
    // So that everybody knows from where on the task's work counts.
    if (branch.tip === null) await this.push(task);
    return opened;
  }

  /** Nobody else pushes to the branch from now on. The network is asked once for each lease. */
  async #takeUp(task: TaskId): Promise<TakenBranch> {
    const { fence, remote, branchOf } = this.#options;
    const isNew = await fence.takeUp(task);
    const before = this.#taken.get(task);
    if (before !== undefined && !isNew) return before;
    this.#taken.delete(task);
    // Only now: whoever had it before may have pushed until the very last moment.
    const branch = { tip: await remote.fetch(headRef(branchOf(task)), task), isAligned: false };
    this.#taken.set(task, branch);
    return branch;
  }

  /** The branch and the checkout become what the remote has; nothing is lost by it. */
  async #align(clone: Clone, task: TaskId, { tip }: TakenBranch): Promise<void> {
    const { worktrees, branchOf, wasElsewhere } = this.#options;
    const name = branchOf(task);
    const local = await resolveCommit(clone.git, headRef(name));
    const entry = (await worktrees.list()).find((one) => one.task === task);
    const isOnBranch = entry === undefined || entry.head === local;
    if (tip !== null && local !== null && isOnBranch) {
      const isClean = local === tip && entry?.isDirty !== true;
      if (isClean || (!wasElsewhere(task) && (await contains(clone.git, local, tip)))) return;
    }
    if (entry !== undefined) await putAway(worktrees, clone, entry);
    if (local === null || local === tip) return;
    await keepAside(clone, task, local);
    await setBranch(clone, name, tip);
  }

  /** Where the checkout begins, if there is no branch here yet. */
  async #findStart(clone: Clone, task: TaskId, base: string, { tip }: TakenBranch): Promise<string> {
    const { remote, branchOf } = this.#options;
    const name = branchOf(task);
    const local = await resolveCommit(clone.git, headRef(name));
    if (local !== null) return local;
    if (tip !== null) {
      await setBranch(clone, name, tip);
      return tip;
    }
    await requireRoom(remote, name, task);
    const start = await remote.fetch(headRef(base), task);
    if (start !== null) return start;
    throw new RalphError(
      "git-failed",
      `"${base}" is not a commit: ${clone.remoteName} has no branch of that name`,
      { hint: `push it: git push ${asArgument(clone.remoteName)} ${asArgument(base)}` },
    );
  }
}

async function setBranch({ git }: Clone, name: string, tip: string | null): Promise<void> {
  const args = ["branch", "--force", "--no-track", name, ...(tip === null ? [] : [tip])];
  const result = tip === null ? await deleteBranch(git, name) : await git.run(args);
  if (result.code === 0) return;
  const where = /(?:checked out|used by worktree) at '(.+)'/.exec(result.stderr)?.[1];
  if (where === undefined) throw gitError(args, result);
  throw new RalphError("not-writable", `the branch ${name} is checked out in ${where}`, {
    hint: `check out another branch there, for instance: git -C ${asArgument(where)} switch --detach`,
  });
}

/** Git cannot have a branch where another is a folder, on the server neither. */
async function requireRoom(remote: Remote, name: string, task: TaskId): Promise<void> {
  const folder = name.split("/")[0] ?? "";
  const heads = await remote.refs([headRef(folder), headRef(`${name}/*`)], task);
  const names = [...heads.keys()].map((ref) => ref.slice(headRef("").length));
  const inTheWay = names.find((head) => head === folder || head.startsWith(`${name}/`));
  if (inTheWay === undefined) return;
  throw new RalphError("not-writable", `the branch ${inTheWay} is in the way of the branch ${name}`, {
    hint: `git cannot have both; rename it on the remote`,
  });
}

/** A person's commits on a branch of ours are in nobody's plan, and yet are not lost. */
async function keepTheirs(remote: Remote, task: TaskId, theirs: string): Promise<readonly Move[]> {
  const ref = asideRef(task, theirs);
  await remote.tell(`somebody else pushed to the branch of ${task}; it is kept there as ${ref}`);
  const kept = await remote.fetch(ref, task);
  return kept === theirs ? [] : [{ ref, from: kept, to: theirs }];
}

async function putAway(worktrees: Worktrees, clone: Clone, entry: WorktreeEntry): Promise<boolean> {
  const { task, root, head, isDirty } = entry;
  if (isDirty) await keepUncommitted(clone, task, root);
  if (head !== null) await keepAside(clone, task, head);
  return worktrees.remove(task, { force: true });
}

/** Keeps a commit that would be on no branch any more, unless the remote has it. */
async function keepAside({ git }: Clone, task: TaskId, commit: string): Promise<void> {
  const known = await git.must([
    "for-each-ref",
    "--count=1",
    `--contains=${commit}`,
    "refs/ralph/remote",
    "refs/ralph/aside",
  ]);
  if (known !== "") return;
  await git.must(["update-ref", "-m", "ralph: put aside", asideRef(task, commit), commit]);
}

/**
 * Keeps what lies uncommitted in a worktree, as a commit on top of what is checked out there. Where git cannot, as with a
 * repository inside of it, the folder itself is kept under another name.
 */
async function keepUncommitted(clone: Clone, task: TaskId, root: string): Promise<void> {
  const commit = await commitAll(clone, root).catch(() => null);
  if (commit === null) renameSync(root, freePath(root));
  else await keepAside(clone, task, commit);
}

/** Null when a commit does not hold it all. */
async function commitAll({ identity }: Clone, root: string): Promise<string | null> {
  const { gitDir } = await findRepository(root);
  const index = join(gitDir, `${OWN_INDEX_PREFIX}aside`);
  const git = createGit(root, { place: { GIT_DIR: gitDir, GIT_WORK_TREE: root, GIT_INDEX_FILE: index } });
  try {
    await git.must(["read-tree", "HEAD"]);
    await git.must(["add", "--all"]);
    const added = await git.must([
      "diff-index",
      "--cached",
      "--raw",
      "--no-renames",
      "--diff-filter=A",
      "HEAD",
    ]);
    if (/^:000000 160000 /m.test(added)) return null;
    const tree = (await git.must(["write-tree"])).trim();
    const args = ["commit-tree", "-p", "HEAD", "-m", "ralph: put aside, uncommitted", tree];
    return (await git.must([...(await identity()), ...args])).trim();
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

function freePath(root: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${root}~aside-${number}`;
    if (!existsSync(path)) return path;
  }
}

/** Where commits of a task are kept that are not on its branch. */
function asideRef(task: TaskId, commit: string): string {
  return `refs/ralph/aside/${encodeName(task)}/${commit.slice(0, 12)}`;
}
