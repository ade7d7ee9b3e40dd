import type { Recorded } from "./events.ts";
import { isoTime } from "./time.ts";

/** Records by names of the user's (variables, say) or of the configuration, which are not ours to rename. */
export const NAMED_RECORDS: ReadonlySet<string> = new Set(["env", "levels"]);

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
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      snakeKey(key),
      NAMED_RECORDS.has(key) ? inner : snakeCase(inner),
    ]),
  );
}

function snakeKey(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
