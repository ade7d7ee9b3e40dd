import type { Settings } from "../../src/core/settings.ts";
import { LaneTruth } from "./lane-truth.ts";
import type { Random } from "../../src/eval/random.ts";
import { FleetStorage } from "./simulated-fleet.ts";
import type { VirtualTime } from "../../src/eval/virtual-time.ts";
import { Crew, Machine } from "./worker-truth.ts";
import { CHARACTERS, plainSettings } from "./worlds.ts";
import { MAIN, World, type Character } from "./world.ts";

/** Every sixth world has workers on several machines; the others are what they were without these. */
export function hasWorkers(seed: number): boolean {
  return seed % 6 === 1;
}

/** More than there are machines for. */
const SHARED_LANES = 40;
const LEASES_MS = [5_000, 10_000, 30_000];
const AGENTS = ["agent:simulated", "agent:simulated-2"];

export interface WorkerWorld {
  readonly world: World;
  readonly lanes: LaneTruth;
  readonly crew: Crew;
  readonly settings: Settings;
}

/** Two to five machines, and a project with up to eight tasks that they share. */
export function createWorkerWorld(
  random: Random,
  time: VirtualTime,
  characters: readonly Character[] = CHARACTERS,
): WorkerWorld {
  const merge = random.pick(["squash", "squash", "squash", "merge", "rebase", "none", "pr"] as const);
  const lanes = new LaneTruth(SHARED_LANES, merge);
  const world = new World(random, time, null, lanes);
  const crew = new Crew(machinesFor(random), new FleetStorage(), random.pick(LEASES_MS));
  world.crew = crew;
  // Slow ones outlive a lease, and stay below their time limit.
  world.pace = random.pick([1, 2.5]);
  const count = Math.min(random.between(2, 8), random.between(2, 8));
  for (let number = 0; number < count; number += 1) {
    const loops = random.chance(0.9);
    const before = world.tasks.at(-1);
    const dependsOn = before !== undefined && random.chance(0.15) ? [before.id] : [];
    const character = random.chance(0.6) ? "honest" : random.pick(characters);
    const needs = loops ? random.between(1, 3) : 1;
    const task = world.addTask(character, needs, random.between(1, 2), { loops, dependsOn });
    if (random.chance(0.4)) lanes.sharing.add(task.id);
    if (before !== undefined && random.chance(0.15)) lanes.clashes.push([before.id, task.id]);
    if (random.chance(0.2)) crew.labels.set(task.id, ["gpu"]);
  }
  if (random.chance(0.15)) crew.deadly.add(random.pick(world.tasks).id);
  return { world, lanes, crew, settings: settingsFor(lanes, random) };
}

/** The first has all that any task may need, and always comes back. */
function machinesFor(random: Random): readonly Machine[] {
  return Array.from({ length: random.between(2, 5) }, (_, index) => {
    const agents = index === 0 || random.chance(0.7) ? AGENTS : AGENTS.slice(0, 1);
    const hasGpu = index === 0 || random.chance(0.5);
    return new Machine({
      id: `w${index + 1}`,
      labels: hasGpu ? [...agents, "gpu"] : agents,
      lanes: random.pick([1, 1, 2, 3]),
      merges: index === 0 || random.chance(0.8),
      clock: { aheadMs: random.between(-7_200_000, 7_200_000), rate: 1 + random.between(-200, 200) / 1e6 },
    });
  });
}

function settingsFor({ merge }: LaneTruth, random: Random): Settings {
  const settings = plainSettings(random);
  const { limits } = settings;
  return {
    ...settings,
    shared: true,
    lanes: SHARED_LANES,
    worktrees: { base: MAIN, merge },
    keepGoing: true,
    noWait: false,
    timeoutMs: 90_000,
    limits: {
      ...limits,
      budget: { ...limits.budget, run: random.chance(0.15) ? random.between(4, 12) : null },
      maxIterations: random.pick([12, 40, 80]),
      callsPerHour: random.chance(0.15) ? random.between(3, 8) : 0,
    },
  };
}
