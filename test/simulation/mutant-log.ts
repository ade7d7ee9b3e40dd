import type { Event } from "../../src/core/events.ts";
import type { Ports } from "../../src/engine/ports.ts";

/** Changes what is recorded. */
export function onAppend(
  ports: Ports,
  change: (events: readonly Event[]) => readonly Event[] | Promise<readonly Event[]>,
): Ports {
  return {
    ...ports,
    log: forwarding(ports, {
      append: async (events, expected) => ports.log.append(await change(events), expected),
    }),
  };
}

/** The log is an object with private parts: it cannot be spread. */
export function forwarding(ports: Ports, changed: Partial<Ports["log"]>): Ports["log"] {
  const { log } = ports;
  return {
    append: (events, expected) => log.append(events, expected),
    read: (after, filter) => log.read(after, filter),
    countCalls: (since) => log.countCalls(since),
    sumCosts: (since) => log.sumCosts(since),
    loadSnapshot: (version) => log.loadSnapshot(version),
    saveSnapshot: (state, version) => log.saveSnapshot(state, version),
    forget: () => log.forget(),
    close: () => log.close(),
    ...changed,
  };
}
