import type {
  Beside,
  OpenedCheckout,
  OwnCheckout,
  PullRequests,
  Worktrees,
} from "../../src/engine/parallel-ports.ts";
import type { Workspace } from "../../src/engine/ports.ts";
import { Checkout } from "./checkout.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { branchOf, type LaneTruth } from "./lane-truth.ts";
import { checkRemoval } from "./merge-invariants.ts";
import { simulatedMerging } from "./simulated-merging.ts";
import { simulatedWorkspace } from "./simulated-workspace.ts";
import type { World } from "./world.ts";

/** What one process of ours works side by side with; whoever dies awaits its next step for ever. */
export function simulatedBeside(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): Beside {
  const workspaces = new Map<string, Workspace>();
  return {
    worktrees: simulatedWorktrees(world, lanes, facts, step),
    merging: simulatedMerging(world, lanes, facts, step),
    checkout: ownCheckout(world.repository, step),
    pullRequests: simulatedPullRequests(world, lanes, facts, step),
    workspaceAt: (root) => {
      const workspace = workspaces.get(root) ?? simulatedWorkspace(world.checkoutAt(root), step);
      workspaces.set(root, workspace);
      return workspace;
    },
  };
}

function simulatedPullRequests(
  world: World,
  { proposed }: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): PullRequests {
  return {
    requireUsable: () => step(),
    propose: async ({ branch }) => {
      await step();
      if (world.random.chance(0.2)) return { is: "refused", why: "nobody is there" };
      if (!world.tasks.some(({ id }) => branch === branchOf(id) && facts.isAccepted(id)))
        world.violate(`a pull request was opened for ${branch}, which is not accepted`);
      proposed.add(branch);
      await step();
      return { is: "proposed", url: `https://example.org/${branch}` };
    },
  };
}

function ownCheckout(repository: Checkout, step: () => Promise<void>): OwnCheckout {
  return {
    watch: async () => {
      await step();
      const { head } = repository;
      const known = repository.uncommitted();
      return async (isOurs) => {
        await step();
        const now = repository.uncommitted();
        const paths = [
          ...now.filter((name) => !known.includes(name)),
          ...known.filter((name) => !now.includes(name)),
        ];
        const moved = repository.head === head || isOurs(repository.head) ? null : repository.head;
        return moved === null && paths.length === 0 ? null : { head: moved, paths };
      };
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
  const { worktrees, trials } = lanes;
  const setUp = async (root: string, signal?: AbortSignal): Promise<OpenedCheckout> => {
    await step();
    if (signal?.aborted) return { is: "failed", root, why: "stopped" };
    const fails = lanes.setupFailures > 0 && world.random.chance(0.3);
    if (fails) lanes.setupFailures -= 1;
    return fails ? { is: "failed", root, why: "npm ci" } : { is: "ready", root, copied: [] };
  };
  return {
    open: async (task, base, signal) => {
      const branch = branchOf(task);
      await step();
      if (branches.tip(branch) === null) branches.move(branch, branches.tip(base));
      await step();
      const worktree = worktrees.get(task) ?? new Checkout(branches, `/worktrees/${task}`, branch);
      worktrees.set(task, worktree);
      return { ...(await setUp(worktree.root, signal)), branch };
    },
    at: async (commit, use, signal) => {
      const root = `/worktrees/@${commit}-${trials.size}`;
      await step();
      trials.set(root, branches.files(commit));
      const answer = await use(await setUp(root, signal));
      await step();
      trials.delete(root);
      return answer;
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
      if (!force && worktree.uncommitted().length > 0) return false;
      await step();
      checkRemoval(world, facts, task, worktree);
      worktrees.delete(task);
      await step();
      return true;
    },
    clearLeftovers: async () => {
      await step();
      trials.clear();
    },
  };
}
