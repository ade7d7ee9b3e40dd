import type { Settings } from "../../../core/settings.ts";
import { tableOf, type StoredEvent } from "./stored-event.ts";

/** The work tree was looked at again after gates, and what they had left was listed then. There were fewer brakes. */
export function toVersion3(event: StoredEvent): StoredEvent {
  switch (event.type) {
    case "run.started":
    case "run.resumed":
      return { ...event, settings: withLaterSettings(tableOf(event["settings"])) };
    case "baseline.measured":
    case "gates.checked":
      return { ...event, leftovers: { gatesRan: null, ...tableOf(event["leftovers"]) } };
    case "evidence.collected":
      return { ...event, evidence: { leftByGates: [], ...tableOf(event["evidence"]) } };
    case "question.asked":
      return { default: null, deadlineAt: null, ...event };
    case "question.answered":
    case "task.unblocked":
      return { by: "person", ...event };
    default:
      return event;
  }
}

const SETTINGS_OF_VERSION_2 = {
  adaptiveIterations: false,
  unblock: { autoSuggest: false, maxAutoAttempts: 0 },
  breaker: { noProgress: 0, sameError: 0, outputDecline: 0, cooldownMs: 0 },
} satisfies Partial<Settings>;
const LIMITS_OF_VERSION_2 = {
  idleMs: 0,
  callsPerHour: 0,
  budget: { run: null, task: null, day: null },
  maxDurationMs: null,
} satisfies Partial<Settings["limits"]>;

function withLaterSettings(settings: { readonly limits?: unknown }): object {
  const limits = { ...LIMITS_OF_VERSION_2, ...tableOf(settings.limits) };
  return { ...SETTINGS_OF_VERSION_2, ...settings, limits };
}
