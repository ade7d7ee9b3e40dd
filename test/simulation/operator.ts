import type { Event, Outcome, Recorded } from "../../src/core/events.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import type { TaskState } from "../../src/core/state.ts";
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
      return answerLetters(world, await log.read(0));
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

/** Below what stands there. Some inbox files are left without an answer. */
function answerLetters(world: World, events: readonly Recorded[]): boolean {
  const asking = Object.values(evolveAll(events).tasks).filter(
    ({ question, inboxFile }) => question?.answer === null && inboxFile?.kind === "decide",
  );
  if (!asking.some(({ inboxFile }) => world.inboxFiles.has(inboxFile?.file ?? "")))
    return fail(world, "a run ended undecided and left no letter");
  const answers = asking.map((task) => {
    const answer = answerTo(world, task);
    const { file = "" } = task.inboxFile ?? {};
    if (answer !== null) world.inboxFiles.set(file, `${world.inboxFiles.get(file) ?? ""}${answer}\n`);
    return answer;
  });
  return answers.some((answer) => answer !== null);
}

/** What a person says to a question; whether a claim is right they mostly see, and sometimes nobody looks. */
export function answerTo(world: World, { id, question }: TaskState): string | null {
  if (question?.acceptance == null) return "this";
  if (world.random.chance(0.1)) return null;
  const isDone = world.isDoneIn(world.filesOfTask(id), id);
  if (isDone === world.random.chance(0.15)) return "reject: I looked";
  world.agreements.push({ task: id, iteration: question.iteration, by: "person" });
  return "accept: I looked";
}

async function clearBlocks(world: World, log: Log): Promise<boolean> {
  const merges = world.lanes === null ? "none" : await clearTheWay(world, world.lanes, log);
  const inboxFiles = [...world.inboxFiles.keys()].filter((file) => file.startsWith("blocked"));
  if (inboxFiles.length === 0 && merges === "none")
    return fail(world, "a run ended blocked and left no letter that can be removed");
  // Of many tasks one may stay blocked.
  if (world.lanes !== null && world.random.chance(0.3)) return false;
  for (const file of inboxFiles) world.inboxFiles.delete(file);
  for (const task of world.tasks) if (task.character === "blocks") task.misbehaves = 0;
  return inboxFiles.length > 0 || merges === "cleared";
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
