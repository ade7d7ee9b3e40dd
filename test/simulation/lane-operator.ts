import { activeLoops } from "../../src/core/views/status.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { isOpen } from "../../src/core/state.ts";
import type { Log } from "../../src/engine/ports.ts";
import { joined, SHARED, type LaneTruth } from "./lane-truth.ts";
import { workText } from "./work-text.ts";
import type { World } from "./world.ts";

const NOTES = "person-notes";

/** A person who goes on working on the base while the run is on. */
export function schedulePerson(world: World, lanes: LaneTruth, log: Log): void {
  const { time, random } = world;
  const later = (ms: number, act: () => void): void => void time.at(time.now() + ms, act);
  for (let number = random.between(0, 3); number > 0; number -= 1)
    later(random.between(0, 200_000), () => commitSomething(world, number));
  if (random.chance(0.4)) {
    const from = random.between(0, 120_000);
    later(from, () => leaveUncommitted(world, lanes));
    if (random.chance(0.6)) later(from + random.between(1_000, 90_000), () => tidyUp(world, lanes));
  }
  if (random.chance(0.15)) {
    const from = random.between(0, 120_000);
    later(from, () => commitAs(world, "person-build", workText(1, "red")));
    later(from + random.between(10_000, 90_000), () => commitAs(world, "person-build", workText(2)));
  }
  if (random.chance(0.4)) later(random.between(1_000, 120_000), () => void cancel(world, log));
}

function commitSomething(world: World, number: number): void {
  const kind = world.random.between(0, 3);
  if (kind === 0) return void world.addTask("honest", 1, 0);
  if (kind === 1)
    return commitAs(world, SHARED, joined(world.repository.files.get(SHARED), `person-${number}`));
  commitAs(world, `person-${number}`, workText(1));
}

function commitAs(world: World, name: string, text: string): void {
  world.repository.put(name, text);
  world.commitByPerson(name);
}

/** A change of what is committed is in the way of every merge, a new file in that of none. */
function leaveUncommitted(world: World, { uncommitted }: LaneTruth): void {
  const { repository, random } = world;
  if (random.chance(0.8)) commitAs(world, NOTES, "an idea");
  uncommitted.set(NOTES, "half an idea");
  repository.put(NOTES, "half an idea");
}

/** Commits what lies there, or throws it away. */
function tidyUp(world: World, { uncommitted }: LaneTruth): void {
  if (!uncommitted.delete(NOTES)) return;
  if (world.random.chance(0.5)) world.commitByPerson(NOTES);
  else world.repository.restore(NOTES);
}

/** As `ralph cancel` does it: a loop that is under way. */
async function cancel({ random }: World, log: Log): Promise<void> {
  const state = evolveAll(await log.read(0));
  const loops = activeLoops(state);
  if (!isOpen(state.run) || loops.length === 0) return;
  await log.append([{ type: "task.cancelled", run: state.run.id, task: random.pick(loops).task }]);
}

/** Somebody who comes back to accepted work that waits clears the way for it, or lets it wait. */
export async function clearTheWay(
  world: World,
  lanes: LaneTruth,
  log: Log,
): Promise<"none" | "cleared" | "waits"> {
  const { tasks } = evolveAll(await log.read(0));
  if (!Object.values(tasks).some(({ merge }) => merge?.is === "held")) return "none";
  if (lanes.uncommitted.size > 0 && world.random.chance(0.3)) return "waits";
  tidyUp(world, lanes);
  return "cleared";
}
