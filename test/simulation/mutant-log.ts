import type { Event } from "../../src/core/events.ts";
import type { Log, OperatorsList, Ports } from "../../src/engine/ports.ts";

/** Changes what is recorded. */
export function onAppend(
  ports: Ports,
  change: (events: readonly Event[]) => readonly Event[] | Promise<readonly Event[]>,
): Ports {
  const { log } = ports;
  const append: Log["append"] = async (events, expected) => log.append(await change(events), expected);
  return { ...ports, log: forwarding(log, { append }) };
}

/** The same log, with some of its ways changed. It is an object with private parts, which cannot be spread. */
export function forwarding<Some extends Log>(log: Some, changed: Partial<Some>): Some {
  return new Proxy(log, {
    get(target, name) {
      const isChanged = name in changed;
      const member: unknown = Reflect.get(isChanged ? changed : target, name);
      return typeof member === "function" && !isChanged ? member.bind(target) : member;
    },
  });
}

export function withList(ports: Ports, change: (list: OperatorsList) => Partial<OperatorsList>): Ports {
  const { list } = ports.source;
  if (list === undefined) return ports;
  return { ...ports, source: { ...ports.source, list: { ...list, ...change(list) } } };
}
