import { once } from "node:events";
import type { Recorded } from "../core/events.ts";
import type { Log, LogFilter } from "../engine/ports.ts";

const PAGE = 200;

/** Events oldest first, never more than a page of them in memory. */
export async function* eventsInPages(log: Log, filter: LogFilter = {}): AsyncGenerator<Recorded> {
  let after = 0;
  for (;;) {
    const page = await log.read(after, { ...filter, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.position;
  }
}

/** Waits for a slow reader; false when there is nobody who reads any more. */
export async function untilDrained(stream: NodeJS.WriteStream): Promise<boolean> {
  if (!stream.writableNeedDrain) return !stream.errored;
  try {
    await once(stream, "drain");
    return true;
  } catch {
    return false; // told by the stream's own handler, if it needs telling
  }
}
