import type { Event, Outcome } from "../../src/core/events.ts";
import type { Log } from "../../src/engine/ports.ts";
import { clearTheWay } from "./lane-operator.ts";
import type { World } from "./world.ts";

/** A person who, while the run is on, tells the agents something. */
export function scheduleMessages(world: World, log: Log): void {
  const { time, random } = world;
  for (const number of [1, 2]) {
    const task = random.chance(0.5) ? null : random.pick(world.tasks).id;
    const given = { type: "steer.given", task, id: `m${number}`, text: `remark number ${number}` } as const;
    time.at(time.now() + random.between(0, 60_000), () => void log.append([given]));
  }
}

/** A person who, while the run is on, adds a task or asks it to stop. */
export function scheduleOperator(world: World, log: Log): void {
  const { time, random } = world;
  time.at(time.now() + random.between(1_000, 90_000), () => void world.addTask("honest", 1, 0));
  const urgency = random.pick(["now", "after-iteration"] as const);
  time.at(time.now() + random.between(1_000, 120_000), () => {
    void requestStop(log, urgency);
  });
}

/** A person who comes back to a run that ended: answers, clears what blocks. False when there is nothing to do. */
export async function operatorActs(world: World, outcome: Outcome | null, log: Log): Promise<boolean> {
  switch (outcome) {
    case "undecided":
      for (const [file, text] of world.letters) {
        if (file.startsWith("decide")) world.letters.set(file, `${text}this\n`);
      }
      return world.letters.size > 0 || fail(world, "a run ended undecided and left no letter");
    case "blocked":
      return clearBlocks(world, log);
    case "stopped":
      return true;
    case "stuck":
      if (world.random.chance(0.3)) return false;
      if (world.random.chance(0.5)) await log.append([RESET]);
      return true;
    case "exhausted":
    case "limited":
      return world.random.chance(0.7);
    default:
      return false;
  }
}

async function clearBlocks(world: World, log: Log): Promise<boolean> {
  const merges = world.lanes === null ? "none" : await clearTheWay(world, world.lanes, log);
  const letters = [...world.letters.keys()].filter((file) => file.startsWith("blocked"));
  if (letters.length === 0 && merges === "none")
    return fail(world, "a run ended blocked and left no letter that can be removed");
  // Of many tasks one may stay blocked.
  if (world.lanes !== null && world.random.chance(0.3)) return false;
  for (const file of letters) world.letters.delete(file);
  for (const task of world.tasks) if (task.character === "blocks") task.misbehaves = 0;
  return letters.length > 0 || merges === "cleared";
}

/** A person closes the breaker. */
export const RESET: Event = {
  type: "breaker.moved",
  run: null,
  from: "OPEN",
  to: "HALF_OPEN",
  reason: "somebody reset it",
  head: null,
};

async function requestStop(log: Log, urgency: "now" | "after-iteration"): Promise<void> {
  const started = (await log.read(0, { types: ["run.started"] })).at(-1);
  if (started?.type === "run.started")
    await log.append([{ type: "stop.requested", run: started.run, urgency }]);
}

function fail(world: World, sentence: string): false {
  world.violate(sentence);
  return false;
}
