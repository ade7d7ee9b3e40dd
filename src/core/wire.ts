import type { Recorded } from "./events.ts";
import { isoTime } from "./time.ts";

/** Records by names of the user's (variables, say) or of the configuration, which are not ours to rename. */
export const NAMED_RECORDS: ReadonlySet<string> = new Set(["env", "levels"]);

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
  if (Array.isArray(value)) return value.map(snakeCase);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeKey(key), onWire(key, inner)]));
}

function onWire(key: string, value: unknown): unknown {
  if (NAMED_RECORDS.has(key)) return value;
  return TIMES.has(key) && typeof value === "number" && isDate(value) ? isoTime(value) : snakeCase(value);
}

/** What an agent calls a time may be beyond all calendars. */
function isDate(at: number): boolean {
  return !Number.isNaN(new Date(at).getTime());
}

function snakeKey(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
