import { tableOf, type StoredEvent } from "./stored-event.ts";

/** The work tree was looked at again after gates, and what they had left was listed then. */
export function toVersion3(event: StoredEvent): StoredEvent {
  switch (event.type) {
    case "baseline.measured":
    case "gates.checked":
      return { ...event, leftovers: { gatesRan: null, ...tableOf(event["leftovers"]) } };
    case "evidence.collected":
      return { ...event, evidence: { leftByGates: [], ...tableOf(event["evidence"]) } };
    default:
      return event;
  }
}
