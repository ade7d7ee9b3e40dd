import type { Event } from "../../core/events.ts";
import type { Log } from "../../engine/ports.ts";

/**
 * The one place through which every fact passes: state, views, screens and reports are made from what comes
 * back out of the log, so what is redacted here is redacted everywhere.
 */
export function redactingLog(log: Log, redact: (text: string) => string): Log {
  const clean = (events: readonly Event[]): readonly Event[] =>
    events.map((event) => redacted(event, redact) as Event);
  return {
    append: (events, expected, following = () => []) =>
      log.append(clean(events), expected, (recorded) => clean(following(recorded))),
    read: (after, filter) => log.read(after, filter),
    countCalls: (since) => log.countCalls(since),
    sumCosts: (since) => log.sumCosts(since),
    loadSnapshot: (version) => log.loadSnapshot(version),
    saveSnapshot: (state, version) => log.saveSnapshot(state, version),
    forget: () => log.forget(),
    close: () => log.close(),
  };
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redacted(inner, redact)]));
}
