import type { ParallelWork } from "../../src/engine/parallel-ports.ts";
import { DurableFacts } from "../simulation/durable-facts.ts";
import { LaneTruth } from "../simulation/lane-truth.ts";
import { Random } from "../../src/eval/random.ts";
import { simulatedParallel } from "../simulation/simulated-parallel.ts";
import { VirtualTime } from "../../src/eval/virtual-time.ts";
import { World } from "../simulation/world.ts";
import { BASE, type RepositoryHands } from "./repository-hands.ts";

export interface SimulatedHands extends RepositoryHands {
  readonly world: World;
  readonly lanes: LaneTruth;
  readonly chance: FixedChance;
  /** What a process of ours works with, one of many. */
  parallel(): ParallelWork;
}

/** Everything that may go wrong does so, or nothing. */
export class FixedChance extends Random {
  isBad = false;

  override chance(): boolean {
    return this.isBad;
  }
}

export function simulatedHands(): SimulatedHands {
  const chance = new FixedChance(1);
  const lanes = new LaneTruth(2, "squash");
  const world = new World(chance, new VirtualTime(), null, lanes);
  const { branches, repository } = world;
  const checkoutAt = (root: string): World["repository"] =>
    root === repository.root ? repository : world.checkoutAt(root);
  return {
    world,
    lanes,
    chance,
    root: repository.root,
    parallel: () => simulatedParallel(world, lanes, new DurableFacts([]), () => Promise.resolve()),
    async commit(branch, changes, { merged } = {}) {
      const from = branches.tip(branch) ?? branches.tip(BASE) ?? "0";
      const files = new Map(branches.files(from));
      for (const [name, text] of Object.entries(changes)) {
        if (text === null) files.delete(name);
        else files.set(name, text);
        if (branch === repository.branch) repository.put(name, text ?? undefined);
      }
      const commit = branches.add(files, merged === undefined ? [from] : [from, merged], "agent");
      branches.move(branch, commit);
      return commit;
    },
    tip: async (branch) => branches.tip(branch),
    async move(branch, commit) {
      branches.move(branch, commit);
    },
    filesOf: async (commit) => Object.fromEntries(branches.files(commit)),
    async put(root, name, text) {
      checkoutAt(root).put(name, text ?? undefined);
    },
    async filesIn(root) {
      const places = [repository, ...lanes.worktrees.values()];
      const files = world.trials.get(root)?.files ?? places.find((place) => place.root === root)?.files;
      return files === undefined ? null : Object.fromEntries(files);
    },
    async switchTo(branch) {
      repository.switchTo(branch);
    },
    everything: async () => ({
      tips: branches.names.map((name) => [name, branches.tip(name)]),
      backups: [...branches.backups],
      branch: repository.branch,
      files: [...repository.files],
    }),
    async dispose() {},
  };
}
