import type { Result } from "./simulate.ts";

/** Of runs, and the short ones of what people said. */
const ID = /\b[0-9a-f]{8}(?:(-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b/g;

/** A result in which everything that is unique has a number instead, so that two of them can be compared. */
export function withoutIds({ events, ...result }: Result): unknown {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size}`);
    return ids.get(id) ?? "";
  };
  return { ...result, events: JSON.parse(JSON.stringify(events).replace(ID, numbered)) as unknown };
}
