import type { Event, Recorded } from "../../core/events.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import type { State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { upcast } from "./upcast.ts";

/** An event as tables hold it, in any database. */
export interface EventRow {
  readonly position: number;
  readonly at: number;
  readonly v: number;
  readonly data: string;
}

/** The whole event as JSON, which has no NUL and no half of a surrogate pair in it; and what it is found by. */
export function columnsOf(event: Event): EventColumns {
  return {
    type: event.type,
    run: "run" in event ? event.run : null,
    task: taskOf(event),
    iteration: "iteration" in event ? event.iteration : null,
    data: JSON.stringify(event),
  };
}

interface EventColumns {
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly data: string;
}

export function recordedFrom(row: EventRow, place: string): Recorded {
  let data: unknown;
  try {
    data = JSON.parse(row.data);
  } catch (cause) {
    throw new RalphError("state-unusable", `event ${row.position} in ${place} is unreadable`, { cause });
  }
  return Object.assign(upcast(row.v, data), { position: row.position, at: row.at });
}

export function stateFrom(row: { readonly position: number; readonly state: string }): State | null {
  try {
    const state = JSON.parse(row.state) as State;
    return state.position === row.position ? state : null;
  } catch {
    return null; // a snapshot is only a short cut: the log is replayed instead
  }
}
