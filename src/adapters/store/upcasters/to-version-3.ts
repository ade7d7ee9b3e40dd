import type { Settings } from "../../../core/settings.ts";
import { tableOf, type StoredEvent } from "./stored-event.ts";

/** The work tree was looked at again after gates, and what they had left was listed then. There were fewer brakes. */
export function toVersion3(event: StoredEvent): StoredEvent {
  switch (event.type) {
    case "run.started":
    case "run.resumed":
      return { ...event, settings: { ...SETTINGS_OF_VERSION_2, ...tableOf(event["settings"]) } };
    case "baseline.measured":
    case "gates.checked":
      return { ...event, leftovers: { gatesRan: null, ...tableOf(event["leftovers"]) } };
    case "evidence.collected":
      return { ...event, evidence: { leftByGates: [], ...tableOf(event["evidence"]) } };
    default:
      return event;
  }
}

const SETTINGS_OF_VERSION_2 = {} satisfies Partial<Settings>;
