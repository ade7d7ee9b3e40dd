import type { Recorded } from "./events.ts";
import { isoTime } from "./time.ts";

/** Records by names of the user's (variables, say) or of the configuration, which are not ours to rename. */
const NAMED_RECORDS: ReadonlySet<string> = new Set(["env", "levels"]);

/** Moments, wherever they are in an event. */
export const TIMES: ReadonlySet<string> = new Set(["until", "retryAt", "resetsAt", "deadlineAt"]);

/** An event as scripts see it: snake_case keys, the envelope first, times in ISO 8601. */
export function toWire(event: Recorded): Record<string, unknown> {
  const { position, at, type, ...rest } = event;
  const { run = null, task = null, ...payload } = rest as { run?: string; task?: string };
  return { position, at: isoTime(at), type, run, task, ...(snakeCase(payload) as object) };
}

/** The same data with every key of ours in snake_case. */
export function snakeCase(value: unknown): unknown {
  return mapped(value, (key, inner) => [
    snakeKey(key),
    NAMED_RECORDS.has(key)
      ? inner
      : TIMES.has(key) && typeof inner === "number" && isDate(inner)
        ? isoTime(inner)
        : snakeCase(inner),
  ]);
}

/** With the entries of an object, or of each in a list, changed; any other value as it is. */
function mapped(
  value: unknown,
  change: (key: string, inner: unknown) => readonly [key: string, inner: unknown],
): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapped(item, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => change(key, inner)));
}

/** What an agent calls a time may be beyond all calendars. */
function isDate(at: number): boolean {
  return !Number.isNaN(new Date(at).getTime());
}

export function snakeKey(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An event as it was exported: its envelope, and the rest as it is stored. */
export interface Exported {
  readonly position: number;
  readonly at: number;
  /** The version of the event's meaning; null where the line does not say. */
  readonly v: number | null;
  readonly data: unknown;
}

/** On the wire every event has a run and a task, null where it is about none; of these the null is a part. */
const MAY_BE_NULL: Readonly<Record<string, "run" | "task">> = {
  "breaker.moved": "run",
  "steer.given": "task",
};

/** The reverse of `toWire`. Answers a sentence about what is wrong when it cannot be one of our events. */
export function fromWire(value: unknown): Exported | string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "it is not an object";
  const { position, at, type, run, task, v = null, ...payload } = value as Record<string, unknown>;
  if (typeof position !== "number" || !Number.isSafeInteger(position) || position < 1)
    return 'it has no "position"';
  const instant = typeof at === "string" ? Date.parse(at) : NaN;
  if (Number.isNaN(instant)) return 'it has no time in "at"';
  if (v !== null && (typeof v !== "number" || !Number.isSafeInteger(v) || v < 1))
    return '"v" is not a version';
  if (typeof type !== "string") return 'it has no "type"';
  const mayBeNull = MAY_BE_NULL[type];
  const about = {
    ...((typeof run === "string" || (run === null && mayBeNull === "run")) && { run }),
    ...((typeof task === "string" || (task === null && mayBeNull === "task")) && { task }),
  };
  return { position, at: instant, v, data: { type, ...about, ...(camelCase(payload) as object) } };
}

export function camelCase(value: unknown): unknown {
  return mapped(value, (key, inner) => {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (NAMED_RECORDS.has(name)) return [name, inner];
    return [name, TIMES.has(name) && typeof inner === "string" ? Date.parse(inner) : camelCase(inner)];
  });
}
