import { setTimeout as timeout } from "node:timers/promises";
import type { Recorded } from "../core/events.ts";
import { evolve } from "../core/loop/evolve.ts";
import type { State } from "../core/loop/state.ts";
import { latestState } from "./operator.ts";
import type { Clock, Log } from "./ports.ts";

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
