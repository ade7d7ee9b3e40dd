import type { Settings } from "../../src/core/settings.ts";
import { LaneTruth } from "./lane-truth.ts";
import type { Random } from "../../src/eval/random.ts";
import type { VirtualTime } from "../../src/eval/virtual-time.ts";
import { CHARACTERS, plainSettings } from "./worlds.ts";
import { World, MAIN, type Character } from "./world.ts";

/** Every third world works side by side; the others are what they were without these. */
export function hasLanes(seed: number): boolean {
  return seed % 3 === 0;
}

/** A project with up to twelve tasks in one to eight lanes, some of which get in each other's way. */
export function createLaneWorld(
  random: Random,
  time: VirtualTime,
  characters: readonly Character[] = CHARACTERS,
): { readonly world: World; readonly settings: Settings } {
  const merge = random.pick(["squash", "squash", "merge", "rebase", "none", "pr"] as const);
  const lanes = new LaneTruth(random.pick([1, 2, 2, 3, 3, 4, 5, 8]), merge);
  const world = new World(random, time, null, lanes);
  const count = Math.min(random.between(2, 12), random.between(2, 12));
  for (let number = 0; number < count; number += 1) {
    const loops = random.chance(0.9);
    const before = world.tasks.at(-1);
    const dependsOn = before !== undefined && random.chance(0.15) ? [before.id] : [];
    const character = random.chance(0.5) ? "honest" : random.pick(characters);
    const needs = loops ? random.between(1, 2) : 1;
    const stubborn = random.chance(0.2) ? random.between(1, 2) : 0;
    const task = world.addTask(character, needs, random.between(1, 2), { loops, dependsOn, stubborn });
    if (random.chance(0.4)) lanes.sharing.add(task.id);
    if (before !== undefined && random.chance(0.2)) lanes.clashes.push([before.id, task.id]);
  }
  if (random.chance(0.2)) lanes.setupFailures = random.between(1, 3);
  return { world, settings: settingsFor(lanes, random) };
}

function settingsFor({ count, merge }: LaneTruth, random: Random): Settings {
  const settings = plainSettings(random);
  const { limits } = settings;
  const budget = { ...limits.budget, run: random.chance(0.15) ? random.between(4, 12) : null };
  return {
    ...settings,
    lanes: count,
    worktrees: { base: MAIN, merge },
    keepGoing: random.chance(0.8),
    limits: {
      ...limits,
      budget,
      maxIterations: random.pick([12, 40, 80]),
      callsPerHour: random.pick([0, 0, 8, 20]),
    },
  };
}
