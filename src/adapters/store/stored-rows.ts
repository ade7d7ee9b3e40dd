import { crc32 } from "node:zlib";
import { type Event, EVENT_VERSION, type Recorded } from "../../core/events.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import type { State } from "../../core/state.ts";
import { RalphError } from "../../core/errors.ts";
import type { Instant } from "../../core/time.ts";
import type { LogFilter } from "../../engine/ports.ts";
import { DamagedFact } from "./store-error.ts";

/** An event as tables hold it, in any database. */
export interface EventRow {
  readonly position: number;
  readonly at: number;
  readonly v: number;
  readonly data: string;
}

/** The whole event as JSON, which has no NUL and no half of a surrogate pair in it; and what it is found by. */
export function columnsOf(event: Event, position: number, at: Instant): EventColumns {
  return {
    type: event.type,
    run: "run" in event ? event.run : null,
    task: taskOf(event),
    iteration: "iteration" in event ? event.iteration : null,
    data: sealed(JSON.stringify(event), position, at, EVENT_VERSION),
  };
}

/** What an agent or a reader has cost; null where nobody knows, or nothing was paid for. */
export function costOf(event: Event): number | null {
  if (event.type === "reader.answered") return event.reading.usage.costUsd;
  return event.type === "iteration.ended" ? event.report.usage.costUsd : null;
}

export interface EventColumns {
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly data: string;
}

/** What a `read` asks for besides types, in SQL; `value` gives the name of a value in the statement. */
export function conditionsOf(
  { task, iteration, iterations }: LogFilter,
  value: (one: unknown) => string,
): readonly string[] {
  return [
    ...(task === undefined ? [] : [`task = ${value(task)}`]),
    ...(iteration === undefined ? [] : [`iteration = ${value(iteration)}`]),
    ...(iterations === undefined
      ? []
      : [`iteration >= ${value(iterations.from)}`, `iteration <= ${value(iterations.to)}`]),
  ];
}

export function recordedFrom(row: EventRow, place: string): Recorded {
  const data = dataOf(row);
  if (data === null) throw new DamagedFact(`event ${row.position}`, place);
  return Object.assign(upcast(row.v, data), { position: row.position, at: row.at });
}

/** What a row holds, of any version; null when that is not what was written. */
export function dataOf({ data, position, at, v }: EventRow): unknown {
  try {
    return JSON.parse(unsealed(data, position, at, v));
  } catch {
    return null;
  }
}

/** Null when it is damaged: a snapshot is only a short cut, and the log is replayed instead. */
export function stateFrom(row: { readonly position: number; readonly state: string }): State | null {
  try {
    const state = JSON.parse(unsealed(row.state, row.position)) as State;
    return state.position === row.position ? state : null;
  } catch {
    return null;
  }
}

/** JSON with a checksum as its last field: of the text, and of the numbers beside it. An older ralph reads over it. */
export function sealed(json: string, ...beside: readonly number[]): string {
  return json.slice(0, -1) + sealOf(json, beside);
}

/** The JSON as it was written; nothing at all when it is damaged. Without a checksum it is of an older ralph. */
export function unsealed(text: string, ...beside: readonly number[]): string {
  const seal = text.slice(-SEAL_LENGTH);
  if (!seal.startsWith(MARK)) return text;
  const json = `${text.slice(0, -SEAL_LENGTH)}}`;
  return seal === sealOf(json, beside) ? json : "";
}

const MARK = ',"#":"';
const SEAL_LENGTH = `${MARK}00000000"}`.length;

function sealOf(json: string, beside: readonly number[]): string {
  return `${MARK}${crc32(beside.join(" "), crc32(json)).toString(16).padStart(8, "0")}"}`;
}

/** The meaning that events have in the first ralph that was released. */
const FIRST_VERSION = 3;

/** Entry n turns events of version `FIRST_VERSION + n` into the next; one is added whenever `EVENT_VERSION` is raised. */
const UPCASTERS: readonly ((event: unknown) => unknown)[] = [];

/** An event as it was stored, in today's meaning. */
export function upcast(v: number, data: unknown): Event {
  if (v > EVENT_VERSION || v < FIRST_VERSION)
    throw new RalphError(
      "state-unusable",
      `the log holds events of ${v > EVENT_VERSION ? "a newer" : "an older"} ralph (their version is ${v}, this ralph knows ${EVENT_VERSION})`,
      { hint: v > EVENT_VERSION ? "update ralph" : "forget this project's history: ralph reset --all" },
    );
  return UPCASTERS.slice(v - FIRST_VERSION).reduce((older, toNext) => toNext(older), data) as Event;
}
