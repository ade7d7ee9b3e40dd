import { randomUUID } from "node:crypto";
import { setTimeout as timeout } from "node:timers/promises";
import { planAct, type Acted, type OperatorAct } from "../core/operator/operator-act.ts";
import { evolveAll, EVOLVE_VERSION, evolve } from "../core/loop/evolve.ts";
import { EMPTY_STATE, taskState, type State } from "../core/loop/state.ts";
import type { Log, Clock } from "./ports.ts";
import type { Recorded } from "../core/events.ts";

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

/** The state of a log that others write to, kept up to date. */
export interface Followed {
  readonly state: State;
  /** What came since the last time, oldest first, each with the state after it. */
  catchUp(): Promise<readonly { readonly event: Recorded; readonly state: State }[]>;
}

export async function followLog(log: Log): Promise<Followed> {
  let state = await latestState(log);
  return {
    get state() {
      return state;
    },
    async catchUp() {
      const news = [];
      for (const event of await log.read(state.position)) {
        if (event.position <= state.position) continue;
        state = evolve(state, event);
        news.push({ event, state });
      }
      return news;
    },
  };
}

/** Calls again and again, the next time only when the last call is over, until the signal says stop. */
export async function every(
  ms: number,
  signal: AbortSignal,
  look: () => Promise<void>,
  sleep: Clock["sleep"] = (forMs) => timeout(forMs, undefined, { signal }).catch(() => {}),
): Promise<void> {
  while (!signal.aborted) {
    await look();
    await sleep(ms, signal);
  }
}
