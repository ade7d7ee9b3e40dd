import { EVENT_VERSION, type Event } from "../../core/events.ts";
import type { Instant } from "../../core/time.ts";
import { columnsOf } from "../store/stored-rows.ts";
import type { Transaction } from "./database.ts";
import { keyText } from "./read-query.ts";

/** A statement may have 65,535 values. */
const AT_ONCE = 1_000;

export interface Append {
  readonly project: string;
  /** Where it is said that the log has gone on. */
  readonly channel: string;
  readonly batch: string;
  readonly at: Instant;
}

/** Stores events after the last position, moves the end of the log behind them, and says so. */
export async function appendEvents(
  transaction: Transaction,
  { project, channel, batch, at }: Append,
  events: readonly Event[],
  last: number,
): Promise<void> {
  const end = last + events.length;
  for (let start = 0; start < events.length; start += AT_ONCE) {
    const values: unknown[] = [project, batch, at, EVENT_VERSION];
    const value = (one: unknown): string => `$${values.push(one)}`;
    const rows = events.slice(start, start + AT_ONCE).map((event, index) => {
      const { type, run, task, iteration, data } = columnsOf(event);
      const own = [last + 1 + start + index, type, keyOf(run), keyOf(task), iteration, costOf(event), data];
      return `($1, $2, $3, $4, ${own.map(value).join(", ")})`;
    });
    const insert = `INSERT INTO ralph.events (project, batch, at, v, position, type, run, task, iteration, cost, data)
       VALUES ${rows.join(", ")}`;
    const isLast = start + AT_ONCE >= events.length;
    const sql = isLast
      ? `WITH added AS (${insert}),
         moved AS (UPDATE ralph.projects SET position = ${value(end)}, at = $3 WHERE id = $1)
         SELECT pg_notify(${value(channel)}, '')`
      : insert;
    await transaction.query(sql, values);
  }
}

function keyOf(text: string | null): string | null {
  return text === null ? null : keyText(text);
}

/** Of its own column, so that adding up does not read whole events. */
function costOf(event: Event): number | null {
  return event.type === "iteration.ended" ? event.report.usage.costUsd : null;
}
