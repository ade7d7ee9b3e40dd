import type { SharedLog } from "../../engine/fleet-ports.ts";
import type { LogFilter } from "../../engine/ports.ts";
import type { Recorded } from "../../core/events.ts";

/** So old may an answer be when no news came: whoever tells of news may be cut off. */
const STALE_MS = 2_000;

/** For screens, which ask several times a second: while there is no news, they get the last short answer. */
export async function quietLog(log: SharedLog): Promise<SharedLog> {
  const known = new Map<string, readonly Recorded[]>();
  let since = performance.now();
  const forget = (): void => {
    known.clear();
    since = performance.now();
  };
  const ear = await log.listen(forget);
  const read = async (after: number, filter?: LogFilter): Promise<readonly Recorded[]> => {
    if (performance.now() - since > STALE_MS) forget();
    const question = JSON.stringify([after, filter]);
    const answer = known.get(question);
    if (answer !== undefined) return answer;
    const asked = since;
    const events = await log.read(after, filter);
    // News that came meanwhile may not be in it.
    if (events.length <= 1 && asked === since) known.set(question, events);
    return events;
  };
  return {
    ...log,
    read,
    async append(events, expected, following) {
      const recorded = await log.append(events, expected, following);
      forget();
      return recorded;
    },
    async forget() {
      await log.forget();
      forget();
    },
    async close() {
      await ear.close();
      await log.close();
    },
  };
}
