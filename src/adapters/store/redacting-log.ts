import type { Event } from "../../core/events.ts";
import { redactAll } from "../../core/redact.ts";
import type { Deciding, Expectation, Log } from "../../engine/ports.ts";

/** Every fact passes here, so what is redacted here is redacted in state, views, screens and reports. */
export function redactingLog(log: Log, redact: (text: string) => string): Log {
  const clean = (events: readonly Event[]): readonly Event[] =>
    events.map((event) => redactAll(event, redact));
  const appendDecided = log.appendDecided?.bind(log);
  return {
    ...(appendDecided && {
      appendDecided: (after: number, decide: Deciding, calls?: Expectation["calls"]) =>
        appendDecided(
          after,
          (news) => {
            const events = decide(news);
            return events && clean(events);
          },
          calls,
        ),
    }),
    append: (events, expected, following = () => []) =>
      log.append(clean(events), expected, (...told) => clean(following(...told))),
    read: (after, filter) => log.read(after, filter),
    countCalls: (since) => log.countCalls(since),
    sumCosts: (since) => log.sumCosts(since),
    loadSnapshot: (version) => log.loadSnapshot(version),
    saveSnapshot: (state, version) => log.saveSnapshot(state, version),
    forget: () => log.forget(),
    close: () => log.close(),
  };
}

/**
 * The same for who knows all secrets only after a look at the configuration: that is worth its time when there is a
 * fact. Deciding in the store is not offered, as it is an abbreviation only.
 */
export function lateRedactingLog(log: Log, redactor: () => Promise<(text: string) => string>): Log {
  const { appendDecided: _, ...others } = redactingLog(log, (text) => text);
  return {
    ...others,
    append: async (...parts) => redactingLog(log, await redactor()).append(...parts),
  };
}
