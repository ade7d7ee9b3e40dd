import type { Recorded } from "../core/events.ts";
import { evolve, evolveAll, EVOLVE_VERSION } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/state.ts";
import type { Log } from "./ports.ts";

/** The state of a log as it is now. */
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
