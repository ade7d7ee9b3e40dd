import { EVENT_VERSION, type Event } from "../../core/events.ts";
import type { Instant } from "../../core/time.ts";
import { columnsOf } from "../store/stored-rows.ts";
import type { Transaction } from "./database.ts";
import { keyText } from "./read-query.ts";

/** A statement may have 65,535 values. */
const AT_ONCE = 1_000;

/** Stores events of one append, the first of them at the given position. */
export async function insertEvents(
  transaction: Transaction,
  project: string,
  batch: string,
  events: readonly Event[],
  first: number,
  at: Instant,
): Promise<void> {
  for (let start = 0; start < events.length; start += AT_ONCE) {
    const values: unknown[] = [project, batch, at, EVENT_VERSION];
    const rows = events.slice(start, start + AT_ONCE).map((event, index) => {
      const { type, run, task, iteration, data } = columnsOf(event);
      const own = [first + start + index, type, keyOf(run), keyOf(task), iteration, costOf(event), data];
      return `($1, $2, $3, $4, ${own.map((value) => `$${values.push(value)}`).join(", ")})`;
    });
    await transaction.query(
      `INSERT INTO ralph.events (project, batch, at, v, position, type, run, task, iteration, cost, data)
       VALUES ${rows.join(", ")}`,
      values,
    );
  }
}

function keyOf(text: string | null): string | null {
  return text === null ? null : keyText(text);
}

/** Of its own column, so that adding up does not read whole events. */
function costOf(event: Event): number | null {
  return event.type === "iteration.ended" ? event.report.usage.costUsd : null;
}
