import { activeLoops } from "../../src/core/views/status.ts";
import { randomUUID } from "node:crypto";
import { restOf } from "../../src/core/loop/decide.ts";
import { isOpen, type State } from "../../src/core/state.ts";
import type { OperatorAct } from "../../src/core/loop/operator-act.ts";
import { latestState } from "../../src/engine/follow-log.ts";
import { actAsOperator, submit } from "../../src/engine/operator.ts";
import type { Log } from "../../src/engine/ports.ts";
import { answerTo, RESET } from "./operator.ts";
import { SOURCE } from "./simulated-source.ts";
import type { WorkerWorld } from "./worker-worlds.ts";
import type { World } from "./world.ts";

/** As `ralph submit` does it, from any clone. */
export async function submitTasks({ world, crew, settings }: WorkerWorld, log: Log): Promise<void> {
  const tasks = world.plan().map((task) => {
    const labels = crew.labels.get(task.id);
    return labels === undefined ? task : { ...task, labels };
  });
  await submit(
    log,
    {
      run: randomUUID(),
      settings,
      plan: { source: SOURCE, tasks },
      pid: 1,
      version: "simulated",
      head: world.branches.tip("main"),
    },
    () => world.time.now(),
  );
}

/** People who, from wherever they are, do something while the workers work. */
export function schedulePeople(around: WorkerWorld, log: Log): void {
  const { world } = around;
  const { time, random } = world;
  const later = (chance: number, act: () => void): void => {
    const at = time.now() + random.between(1_000, 200_000);
    if (random.chance(chance)) time.at(at, act);
  };
  const soon = (act: OperatorAct): void => void doAsPerson(log, act);
  later(0.5, () => void submitTasks(around, log));
  later(0.4, () => {
    world.addTask("honest", 1, 0);
    void submitTasks(around, log);
  });
  later(0.5, () => soon({ do: "steer", task: null, text: "remark number 1" }));
  later(0.3, () => soon({ do: "steer", task: random.pick(world.tasks).id, text: "remark number 2" }));
  later(0.3, () => void cancelSomething(around, log));
  later(0.12, () => void stop(log, random.pick(["now", "after-iteration"] as const)));
  later(0.3, () => {
    world.repository.put("person-1", "1");
    world.commitByPerson("person-1");
  });
}

async function cancelSomething({ world }: WorkerWorld, log: Log): Promise<void> {
  const loops = activeLoops(await latestState(log));
  if (loops.length > 0) await doAsPerson(log, { do: "cancel", task: world.random.pick(loops).task });
}

async function stop(log: Log, urgency: "now" | "after-iteration"): Promise<void> {
  const { run } = await latestState(log);
  if (isOpen(run)) await log.append([{ type: "stop.requested", run: run.id, urgency }]);
}

/** As the commands and screens do it: each message has an id of its own. */
async function doAsPerson(log: Log, act: OperatorAct): Promise<void> {
  await actAsOperator(log, act, { isDriven: true, id: randomUUID().slice(0, 8) });
}

/** So long somebody looks after it. */
const PATIENCE_MS = 4_000_000;

/** Somebody who comes to a run that goes on no further. False: there is nothing to do, or nobody does it. */
export async function personComes(around: WorkerWorld, log: Log): Promise<boolean> {
  const { world, crew } = around;
  const { random } = world;
  const state = await latestState(log);
  const outcome = restOf(state, world.time.now())?.outcome ?? null;
  crew.actedAt = world.time.now();
  const isTooLate = world.time.now() > crew.faultsUntil + PATIENCE_MS;
  if (outcome === "completed" || isTooLate) return false;
  const acts = [...answers(world, state), ...unblocks(state)];
  if (acts.length > 0 && random.chance(0.85)) {
    for (const act of acts) await doAsPerson(log, act);
    for (const { id, character } of world.tasks) if (character === "blocks") world.truth(id).misbehaves = 0;
    if (random.chance(0.7)) crew.deadly.clear();
    return true;
  }
  if (outcome === "stuck" && random.chance(0.5)) await log.append([RESET]);
  else if (random.chance(0.4)) return false;
  await submitTasks(around, log);
  return true;
}

function answers(world: World, { tasks }: State): readonly OperatorAct[] {
  return Object.values(tasks)
    .filter(({ question }) => question !== null && question.answer === null)
    .flatMap((task): OperatorAct[] => {
      const answer = answerTo(world, task);
      return answer === null ? [] : [{ do: "decide", task: task.id, answer }];
    });
}

function unblocks({ tasks }: State): readonly OperatorAct[] {
  return Object.values(tasks)
    .filter(({ blockedReason }) => blockedReason !== null)
    .map(({ id }) => ({ do: "unblock", task: id, reason: "it is mended" }));
}
