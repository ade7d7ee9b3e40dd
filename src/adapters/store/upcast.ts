import { EVENT_VERSION, type Event } from "../../core/events.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { StoredEvent } from "./upcasters/stored-event.ts";
import { toVersion2 } from "./upcasters/to-version-2.ts";
import { toVersion3 } from "./upcasters/to-version-3.ts";

/** An event as it was stored, in today's meaning. */
export function upcast(v: number, data: unknown): Event {
  if (v > EVENT_VERSION) {
    throw new RalphError(
      "state-unusable",
      `the log holds events of a newer ralph (their version is ${v}, this ralph knows ${EVENT_VERSION})`,
      { hint: "update ralph" },
    );
  }
  return UPCASTERS.slice(v - 1).reduce(
    (older, toNext) => toNext(older),
    data as StoredEvent,
  ) as unknown as Event;
}

/** Entry n turns version n + 1 into version n + 2; one is added whenever `EVENT_VERSION` is raised. */
const UPCASTERS: readonly ((event: StoredEvent) => StoredEvent)[] = [toVersion2, toVersion3];
