import { RalphError } from "../../src/core/errors.ts";
import { MERGER } from "../../src/core/loop/effects.ts";
import type { Advanced, AdvanceRequest, ParallelWork, Merging } from "../../src/engine/parallel-ports.ts";
import type { Workspace } from "../../src/engine/ports.ts";
import { Checkout } from "./checkout.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { LaneTruth } from "./lane-truth.ts";
import { checkMove } from "./merge-invariants.ts";
import { simulatedPullRequests, trialWorkspace } from "./simulated-parallel.ts";
import { SharedTrees, type TreeParts } from "./simulated-trees.ts";
import { prepareMerge, prepareRevert, whatMoved } from "./simulated-merging.ts";
import { simulatedOwnCheckout } from "./simulated-own-checkout.ts";
import { simulatedWorkspace } from "./simulated-workspace.ts";
import { MAIN, type World } from "./world.ts";

export interface CloneParts extends TreeParts {
  readonly lanes: LaneTruth;
  readonly facts: DurableFacts;
}

/** What one process of a worker has of git: its clone, and through it the remote that all of them share. */
export function simulatedClone(parts: CloneParts): ParallelWork {
  const { world, lanes, facts, machine, step } = parts;
  const trees = new SharedTrees(parts);
  const own = new Checkout(world.branches, `/${machine.id}/clone`, machine.local(MAIN));
  return {
    worktrees: trees.worktrees,
    merging: simulatedSharedMerging(parts),
    checkout: simulatedOwnCheckout(own, step),
    pullRequests: simulatedPullRequests(world, lanes, facts, step),
    workspaceAt: (root) =>
      trialWorkspace(world, root, step) ??
      pushing(workspaceIn(world, root, step), (task) => trees.push(task)),
  };
}

/** Of the folder, whoever made it; git fails in one that is gone. */
function workspaceIn(world: World, root: string, step: () => Promise<void>): Workspace {
  const here = (): Workspace => {
    if (!world.hasPlace(root)) throw new RalphError("git-failed", `${root} is gone`);
    return simulatedWorkspace(world.checkoutAt(root), step);
  };
  return {
    snapshot: async () => here().snapshot(),
    hasWritten: async (request) => here().hasWritten(request),
    lookAhead: () => {},
    collect: async (request) => here().collect(request),
    commitWork: async (request) => here().commitWork(request),
    commitMark: async (request) => here().commitMark(request),
    beforeGates: async () => here().beforeGates(),
    leftoversAfterGates: async (before, began) => here().leftoversAfterGates(before, began),
    withOldChecks: async (request, use) => here().withOldChecks(request, use),
    patch: async (from, to) => here().patch(from, to),
    dirtyPaths: async (ignore) => here().dirtyPaths(ignore),
    clearLeftovers: async () => here().clearLeftovers(),
  };
}

function pushing(workspace: Workspace, push: (task: string) => Promise<void>): Workspace {
  return {
    ...workspace,
    collect: async (request) => {
      const evidence = await workspace.collect(request);
      await push(request.task);
      return evidence;
    },
  };
}

/** Brings work to the remote's base. */
function simulatedSharedMerging(parts: CloneParts): Merging {
  const { world, machine, fence, step } = parts;
  const { branches } = world;
  return {
    prepare: async (request) => {
      await step();
      const prepared = prepareMerge(branches, request);
      if (prepared.is === "ready") machine.commits.add(prepared.to);
      await step();
      return prepared;
    },
    whatMoved: async (branch, commit) => {
      await step();
      return whatMoved(branches, branch, commit);
    },
    advance: (request) => advance(parts, request),
    rename: async (branch) => {
      await fence.takeUp(MERGER);
      await step();
      const tip = branches.tip(branch);
      if (tip === null) return;
      const kept = `merged/${branch}/${tip}`;
      await fence.push(MERGER, [
        { branch, from: tip, to: null },
        { branch: kept, from: branches.tip(kept), to: tip },
      ]);
    },
    ...atHome("workers leave no work in the operator's checkout"),
    revert: async (request) => {
      await step();
      return prepareRevert(branches, request);
    },
  };
}

/** What only happens in the operator's own checkout. */
function atHome(why: string): Pick<Merging, "set" | "has" | "keep" | "drop"> {
  const refuse = (): never => {
    throw new Error(why);
  };
  return { set: refuse, has: refuse, keep: refuse, drop: refuse };
}

async function advance(parts: CloneParts, request: AdvanceRequest): Promise<Advanced> {
  const { world, lanes, facts, fence, step } = parts;
  const { base, from, to } = request;
  await fence.takeUp(MERGER);
  for (;;) {
    await step();
    const stands = whereItStands(parts, request);
    if (stands !== "before") return stands;
    const before = world.branches.files(from);
    const arrived = (): void => {
      checkMove(world, lanes, facts, request);
      world.repository.follow(before);
    };
    if (await fence.push(MERGER, [{ branch: base, from, to }], arrived)) return { is: "moved" };
  }
}

function whereItStands({ world, machine }: CloneParts, request: AdvanceRequest): Advanced | "before" {
  const { branches } = world;
  const { base, from, to } = request;
  const head = branches.tip(base);
  if (head === to) return { is: "moved" };
  const isKnown = machine.commits.has(to) || branches.contains(head, to);
  if (head === null || !isKnown) return { is: "elsewhere", head };
  if (head === from) return "before";
  return branches.contains(head, to) ? { is: "moved" } : { is: "elsewhere", head };
}
