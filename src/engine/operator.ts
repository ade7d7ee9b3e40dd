import { randomUUID } from "node:crypto";
import { planAct, type Acted, type OperatorAct } from "../core/operator/operator-act.ts";
import { evolveAll, EVOLVE_VERSION } from "../core/loop/evolve.ts";
import { EMPTY_STATE, taskState, type State } from "../core/loop/state.ts";
import type { Log } from "./ports.ts";

export type { Acted };

/** Records what a person does from a screen; on the latest state, however much happens meanwhile. */
export async function actAsOperator(log: Log, act: OperatorAct, isDriven: boolean): Promise<Acted> {
  const id = randomUUID().slice(0, 8);
  for (;;) {
    const state = await latestState(log);
    const planned = planAct(state, act, isDriven, id);
    if (planned.is === "refused") return planned;
    const { event, about, said } = planned;
    const expected =
      about === null ? undefined : { task: { id: about, position: taskState(state, about).position } };
    if ((await log.append([event], expected)) !== null) return { is: "done", said };
  }
}

export async function latestState(log: Log): Promise<State> {
  const from = (await log.loadSnapshot(EVOLVE_VERSION)) ?? EMPTY_STATE;
  return evolveAll(await log.read(from.position), from);
}
