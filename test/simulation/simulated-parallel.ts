import type {
  ParallelWork,
  OpenedCheckout,
  PullRequests,
  Worktrees,
} from "../../src/engine/parallel-ports.ts";
import { RalphError } from "../../src/core/errors.ts";
import type { Workspace } from "../../src/engine/ports.ts";
import { Checkout } from "./checkout.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { branchOf, type LaneTruth } from "./lane-truth.ts";
import { checkRemoval } from "./merge-invariants.ts";
import { simulatedMerging } from "./simulated-merging.ts";
import { simulatedOwnCheckout } from "./simulated-own-checkout.ts";
import { simulatedWorkspace } from "./simulated-workspace.ts";
import { setUpCheckout } from "./simulated-set-up.ts";
import type { World } from "./world.ts";

/** What one process of ours works side by side with; whoever dies awaits its next step for ever. */
export function simulatedParallel(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): ParallelWork {
  const workspaces = new Map<Checkout, Workspace>();
  return {
    worktrees: simulatedWorktrees(world, lanes, facts, step),
    merging: simulatedMerging(world, lanes, facts, step),
    checkout: simulatedOwnCheckout(world.repository, step),
    pullRequests: simulatedPullRequests(world, lanes, facts, step),
    workspaceAt: (root) => {
      const trial = trialWorkspace(world, root, step);
      if (trial !== null) return trial;
      const checkout = world.checkoutAt(root);
      const workspace = workspaces.get(checkout) ?? simulatedWorkspace(checkout, step);
      workspaces.set(checkout, workspace);
      return workspace;
    },
  };
}

/** In a checkout of one commit; null where there is none. */
export function trialWorkspace(world: World, root: string, step: () => Promise<void>): Workspace | null {
  const trial = world.trials.get(root);
  return trial === undefined ? null : simulatedWorkspace(trial, step);
}

export function simulatedPullRequests(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): PullRequests {
  return {
    requireUsable: async () => {
      await step();
      if (!lanes.hasHub) throw new RalphError("config", "there is no place for pull requests");
    },
    propose: async ({ branch, commit }) => {
      await step();
      if (world.random.chance(0.2)) return { is: "refused", why: "nobody is there" };
      if (!world.tasks.some(({ id }) => branch === branchOf(id) && facts.isAccepted(id)))
        world.violate(`a pull request was opened for ${branch}, which is not accepted`);
      lanes.proposed.set(branch, commit);
      await step();
      return { is: "proposed", url: `https://example.org/${branch}` };
    },
  };
}

function simulatedWorktrees(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): Worktrees {
  const { branches } = world;
  const { worktrees } = lanes;
  const { trials } = world;
  const ownTrials = new Set<string>();
  const setUp = async (root: string, signal?: AbortSignal): Promise<OpenedCheckout> => {
    await step();
    return setUpCheckout(world, lanes, root, signal);
  };
  return {
    open: async (task, base, signal) => {
      const branch = branchOf(task);
      await step();
      if (!worktrees.has(task)) useBranch(world, branch, base);
      await step();
      const worktree = worktrees.get(task) ?? new Checkout(branches, `/worktrees/${task}`, branch);
      worktrees.set(task, worktree);
      return { ...(await setUp(worktree.root, signal)), branch };
    },
    at: async (commit, use, signal) => {
      if (!branches.has(commit)) throw new RalphError("git-failed", `"${commit}" is not a commit`);
      const root = `/worktrees/@${commit}-${world.nextTrial()}`;
      await step();
      ownTrials.add(root);
      world.openTrial(root, commit);
      try {
        return await use(await setUp(root, signal));
      } finally {
        await step();
        trials.delete(root);
      }
    },
    isGone: async (task) => {
      await step();
      return !worktrees.has(task);
    },
    list: async () => {
      await step();
      return [...worktrees].map(([task, worktree]) => {
        const { root, branch, head } = worktree;
        return { task, root, branch, head, isDirty: worktree.uncommitted().length > 0 };
      });
    },
    remove: async (task, { force = false } = {}) => {
      await step();
      const worktree = worktrees.get(task);
      if (worktree === undefined) return true;
      const isKept = worktree.uncommitted().length > 0 || lanes.locked.has(worktree.root);
      if (isKept && !force) return false;
      await step();
      checkRemoval(world, facts, task, worktree);
      worktrees.delete(task);
      lanes.setUp.delete(worktree.root);
      await step();
      return true;
    },
    clearLeftovers: async () => {
      await step();
      for (const root of trials.keys()) if (!ownTrials.has(root)) trials.delete(root);
    },
  };
}

/** The branch as it is, or made from the base. */
function useBranch({ branches, repository }: World, branch: string, base: string): void {
  if (repository.branch === branch)
    throw new RalphError("not-writable", `the branch ${branch} is checked out in ${repository.root}`);
  if (branches.tip(branch) !== null) return;
  const inTheWay = branches.names.find(
    (name) => branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`),
  );
  if (inTheWay !== undefined)
    throw new RalphError("not-writable", `the branch ${inTheWay} is in the way of the branch ${branch}`);
  const tip = branches.tip(base);
  if (tip === null) throw new RalphError("git-failed", `"${base}" is not a commit`);
  branches.move(branch, tip);
}
