import type { Recorded } from "../core/events.ts";
import { evolve } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/loop/state.ts";
import { blockedIds, blockedTasks, type BlockedTask } from "../core/projections/blocked.ts";
import { iterationRecords, RECORD_EVENTS } from "../core/projections/iteration-record.ts";
import type { Log } from "../engine/ports.ts";
import { eventsInPages } from "./events-in-pages.ts";

/** What was recorded from the start of a run to its end, of the latest one until now; and the state after that. */
export async function eventsOfRun(
  log: Log,
  run: string,
  isLatest: boolean,
): Promise<{ readonly events: readonly Recorded[]; readonly state: State }> {
  const events: Recorded[] = [];
  let state: State = EMPTY_STATE;
  for await (const event of eventsInPages(log)) {
    if (event.type === "run.started" && events.length > 0) break;
    state = evolve(state, event);
    if (events.length > 0 || (event.type === "run.started" && event.run === run)) events.push(event);
    if (!isLatest && event.type === "run.ended" && event.run === run) break;
  }
  return { events, state };
}

/** The tasks that are blocked in a state of the past, with what the log knew of them then. */
export async function blockedThen(log: Log, state: State): Promise<readonly BlockedTask[]> {
  const events: Recorded[] = [];
  for (const task of blockedIds(state)) events.push(...(await log.read(0, { task, types: RECORD_EVENTS })));
  return blockedTasks(state, iterationRecords(events.filter(({ position }) => position <= state.position)));
}
