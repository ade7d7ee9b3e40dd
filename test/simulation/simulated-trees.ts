import { RalphError } from "../../src/core/errors.ts";
import type { OpenedCheckout, Worktrees } from "../../src/engine/parallel-ports.ts";
import { Checkout } from "./checkout.ts";
import { branchOf, type LaneTruth } from "./lane-truth.ts";
import { lost, type SimulatedFence } from "./simulated-fence.ts";
import type { Machine } from "./worker-truth.ts";
import { setUpCheckout } from "./simulated-set-up.ts";
import type { World } from "./world.ts";

export interface TreeParts {
  readonly world: World;
  readonly lanes: LaneTruth;
  readonly machine: Machine;
  readonly fence: SimulatedFence;
  readonly step: () => Promise<void>;
  /** Whether what lies here of a task is older than what others did to it. */
  readonly isStale: (task: string) => boolean;
}

interface Taken {
  /** Where the branch is on the remote. */
  tip: string | null;
  isAligned: boolean;
}

/** The worktrees of one clone: what the remote has of a task is what the task is. */
export class SharedTrees {
  readonly #parts: TreeParts;
  readonly #taken = new Map<string, Taken>();
  readonly #ownTrials = new Set<string>();

  constructor(parts: TreeParts) {
    this.#parts = parts;
  }

  async push(task: string): Promise<void> {
    const { world, machine, fence } = this.#parts;
    const taken = this.#taken.get(task);
    if (taken === undefined) throw lost(task);
    const branch = branchOf(task);
    const to = world.branches.tip(machine.local(branch));
    if (to === null || to === taken.tip) return;
    if (!(await fence.push(task, [{ branch, from: taken.tip, to }])))
      throw new RalphError("git-failed", `somebody else pushed to ${branch}`);
    taken.tip = to;
  }

  get worktrees(): Worktrees {
    const { world, lanes, machine, step } = this.#parts;
    const keyOf = (task: string): string => machine.rootOf(task);
    return {
      open: async (task, base, signal) => {
        await step();
        const taken = await this.#takeUp(task);
        if (!taken.isAligned) this.#align(task, taken.tip);
        taken.isAligned = true;
        await step();
        const worktree = this.#checkOut(task, taken.tip ?? world.branches.tip(base));
        const opened = await this.#setUp(worktree.root, signal);
        if (taken.tip === null) await this.push(task);
        return { ...opened, branch: branchOf(task) };
      },
      at: (commit, use, signal) => this.#at(commit, use, signal),
      isGone: async (task) => {
        await step();
        return !lanes.worktrees.has(keyOf(task));
      },
      list: async () => {
        await step();
        const here = [...lanes.worktrees.values()].filter(({ root }) => machine.has(root));
        return here.map((worktree) => {
          const { root, head } = worktree;
          const task = root.slice(machine.rootOf("").length);
          return {
            task,
            root,
            branch: branchOf(task),
            head,
            isDirty: worktree.uncommitted().length > 0,
          };
        });
      },
      remove: async (task, { force = false } = {}) => {
        await step();
        const worktree = lanes.worktrees.get(keyOf(task));
        if (worktree !== undefined && worktree.uncommitted().length > 0 && !force) return false;
        this.#remove(task);
        return true;
      },
      clearLeftovers: async () => {
        await step();
        for (const root of world.trials.keys())
          if (machine.has(root) && !this.#ownTrials.has(root)) world.trials.delete(root);
      },
    };
  }

  async #takeUp(task: string): Promise<Taken> {
    const { world, fence, step } = this.#parts;
    const isNew = await fence.takeUp(task);
    const before = this.#taken.get(task);
    if (before !== undefined && !isNew) return before;
    await step();
    const taken = { tip: world.branches.tip(branchOf(task)), isAligned: false };
    this.#taken.set(task, taken);
    return taken;
  }

  /** The branch and the checkout become what the remote has; what they were is put aside. */
  #align(task: string, tip: string | null): void {
    const { world, lanes, machine, isStale } = this.#parts;
    const name = machine.local(branchOf(task));
    const local = world.branches.tip(name);
    const worktree = lanes.worktrees.get(machine.rootOf(task));
    const isDirty = worktree !== undefined && worktree.uncommitted().length > 0;
    const isKept = isStale(task) ? local === tip && !isDirty : world.branches.contains(local, tip ?? "");
    if (tip !== null && isKept) return;
    if (worktree !== undefined) this.#remove(task);
    if (local === null || local === tip) return;
    world.branches.move(machine.local(`aside/${task}/${local}`), local);
    world.branches.move(name, tip);
  }

  #checkOut(task: string, start: string | null): Checkout {
    const { world, lanes, machine } = this.#parts;
    const { branches } = world;
    if (start === null) throw new RalphError("git-failed", "the base is not a commit");
    const name = machine.local(branchOf(task));
    if (branches.tip(name) === null) branches.move(name, start);
    const root = machine.rootOf(task);
    const worktree = lanes.worktrees.get(root) ?? new Checkout(branches, root, name);
    lanes.worktrees.set(root, worktree);
    return worktree;
  }

  #remove(task: string): void {
    const { world, lanes, machine } = this.#parts;
    const root = machine.rootOf(task);
    if (world.livingProcesses.some((process) => process.root === root))
      world.violate(`${root} was removed while an agent worked in it`);
    lanes.worktrees.delete(root);
    lanes.setUp.delete(root);
  }

  async #setUp(root: string, signal?: AbortSignal): Promise<OpenedCheckout> {
    const { world, lanes, step } = this.#parts;
    await step();
    return setUpCheckout(world, lanes, root, signal);
  }

  async #at<Result>(
    commit: string,
    use: (opened: OpenedCheckout) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { world, machine, step } = this.#parts;
    const root = machine.rootOf(`@${commit}-${world.nextTrial()}`);
    await step();
    this.#ownTrials.add(root);
    world.openTrial(root, commit);
    try {
      return await use(await this.#setUp(root, signal));
    } finally {
      await step();
      world.trials.delete(root);
    }
  }
}
