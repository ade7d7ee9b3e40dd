import { RalphError } from "../../core/ralph-error.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { Worktrees } from "../../engine/parallel-ports.ts";
import { inTurn } from "../system/in-turn.ts";
import { contains } from "../git/contains.ts";
import { gitError } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import type { Clone } from "./clone.ts";
import { headRef, type Exchange } from "./exchange.ts";
import { keepAside, keepUncommitted } from "./put-aside.ts";
import type { TakenBranch, TaskBranches } from "./task-branches.ts";

export interface SharedWorktreesOptions {
  /** Those of the clone, with names that are alike on all machines. */
  readonly worktrees: Worktrees;
  readonly exchange: Exchange;
  readonly branches: TaskBranches;
  /** Whether others went on with a task since this worker left it. */
  readonly wasElsewhere: (task: TaskId) => boolean;
}

/**
 * Worktrees of tasks that were begun on any machine. When a task is taken up, what the remote has is what the task is:
 * here its branch and checkout are made so, and whatever else they hold is put aside, but for what this worker itself
 * goes on with. As long as the same lease lasts, nobody else can change it there, so opening again is a look at this clone
 * alone.
 */
export function createSharedWorktrees(options: SharedWorktreesOptions): Worktrees {
  const { worktrees, exchange, branches } = options;
  return {
    ...worktrees,
    async open(task, base, signal) {
      const clone = await exchange.clone();
      const name = branches.branchOf(task);
      return inTurn(`${clone.commonDir} ${name}`, async () => {
        const branch = await branches.takeUp(task);
        if (!branch.isAligned) await align(options, clone, task, branch);
        branch.isAligned = true;
        const start = await startOf(options, clone, task, base, branch);
        const opened = await worktrees.open(task, start, signal);
        if (opened.branch !== name)
          throw new RalphError("internal", `${task} is on ${opened.branch}, others look for it on ${name}`);
        // So that everybody knows from where on the task's work counts.
        if (branch.tip === null) await branches.push(task);
        return opened;
      });
    },
  };
}

/** The branch and the checkout become what the remote has; nothing is lost by it. */
async function align(
  { worktrees, branches, wasElsewhere }: SharedWorktreesOptions,
  clone: Clone,
  task: TaskId,
  { tip }: TakenBranch,
): Promise<void> {
  const name = branches.branchOf(task);
  const local = await resolveCommit(clone.git, headRef(name));
  const entry = (await worktrees.list()).find((one) => one.task === task);
  const isOnBranch = entry === undefined || entry.head === local;
  if (tip !== null && local !== null && isOnBranch) {
    const isClean = local === tip && entry?.isDirty !== true;
    if (isClean || (!wasElsewhere(task) && (await contains(clone.git, local, tip)))) return;
  }
  if (entry !== undefined) {
    if (entry.isDirty) await keepUncommitted(clone, task, entry.root);
    if (entry.head !== null) await keepAside(clone, task, entry.head);
    await worktrees.remove(task, { force: true });
  }
  if (local === null || local === tip) return;
  await keepAside(clone, task, local);
  await setBranch(clone, name, tip);
}

/** Where the checkout begins, if there is no branch here yet. */
async function startOf(
  { exchange, branches }: SharedWorktreesOptions,
  clone: Clone,
  task: TaskId,
  base: string,
  { tip }: TakenBranch,
): Promise<string> {
  const name = branches.branchOf(task);
  const local = await resolveCommit(clone.git, headRef(name));
  if (local !== null) return local;
  if (tip !== null) {
    await setBranch(clone, name, tip);
    return tip;
  }
  await requireRoom(exchange, name, task);
  const [start = null] = await exchange.tips([base], task);
  if (start !== null) return start;
  throw new RalphError(
    "git-failed",
    `"${base}" is not a commit: ${clone.remote} has no branch of that name`,
    {
      hint: `push it: git push ${clone.remote} ${base}`,
    },
  );
}

async function setBranch({ git }: Clone, name: string, tip: string | null): Promise<void> {
  const args = tip === null ? ["branch", "-D", name] : ["branch", "--force", "--no-track", name, tip];
  const result = await git.run(args);
  if (result.code === 0) return;
  const where = /(?:checked out|used by worktree) at '(.+)'/.exec(result.stderr)?.[1];
  if (where === undefined) throw gitError(args, result);
  throw new RalphError("not-writable", `the branch ${name} is checked out in ${where}`, {
    hint: `check out another branch there, for instance: git -C '${where}' switch --detach`,
  });
}

/** Git cannot have a branch where another is a folder, on the server neither. */
async function requireRoom(exchange: Exchange, name: string, task: TaskId): Promise<void> {
  const folder = name.split("/")[0] ?? "";
  const heads = await exchange.heads([folder, `${name}/*`], task);
  const inTheWay = [...heads.keys()].find((head) => head === folder || head.startsWith(`${name}/`));
  if (inTheWay === undefined) return;
  throw new RalphError("not-writable", `the branch ${inTheWay} is in the way of the branch ${name}`, {
    hint: `git cannot have both; rename it on the remote`,
  });
}
