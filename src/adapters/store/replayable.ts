import { EVENT_VERSION } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../core/loop/state.ts";
import type { Damaged, StoredRow } from "./read-damaged.ts";
import { recordedFrom } from "./stored-rows.ts";

/**
 * Of each project the events from its first one on, up to one that is missing or cannot be replayed. What is known of
 * an iteration whose end is lost is left out: it would be taken for one that was interrupted just now, and everything
 * that has happened since for its work.
 */
export function replayable({ rows, isWhole }: Damaged): Damaged {
  const ends = new Map<string, State>();
  const broken = new Set<string>();
  const good = rows.filter((row) => {
    const after = broken.has(row.project) ? null : replayed(ends.get(row.project) ?? EMPTY_STATE, row);
    if (after === null) broken.add(row.project);
    else ends.set(row.project, after);
    return after !== null;
  });
  if (isWhole && broken.size === 0) return { rows: good, isWhole: true };
  return { rows: numbered(good.filter((row) => !isOfOpen(row, ends.get(row.project)))), isWhole: false };
}

function replayed(state: State, row: StoredRow): State | null {
  if (row.position !== state.position + 1) return null;
  // What a newer ralph recorded is kept for it, though nobody here can replay it.
  if (row.v > EVENT_VERSION) return { ...state, position: row.position };
  try {
    const event = recordedFrom(row, row.project);
    return event.type === row.type ? evolve(state, event) : null;
  } catch {
    return null; // half of an event, or none: what came after it cannot be understood without it
  }
}

function isOfOpen({ iteration }: StoredRow, end: State | undefined): boolean {
  return end?.iterations.some(({ number }) => number === iteration) === true;
}

/** Positions have no gaps, also where something was left out. */
function numbered(rows: readonly StoredRow[]): readonly StoredRow[] {
  const last = new Map<string, number>();
  return rows.map((row) => {
    const position = (last.get(row.project) ?? 0) + 1;
    last.set(row.project, position);
    return { ...row, position };
  });
}
