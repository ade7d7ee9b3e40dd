import type { EventOf } from "../../../core/events.ts";
import { DEFAULT_COMPLEXITY } from "../../../core/limits/complexity.ts";
import type { CheckedGate } from "../../../core/report/checked-gate.ts";
import { NO_CHANGES, NOTHING_FOUND } from "../../../core/report/evidence.ts";
import type { Settings } from "../../../core/settings.ts";
import type { Certificate } from "../../../core/verdict/certificate.ts";
import { tableOf, type StoredEvent } from "./stored-event.ts";

/** Evidence was less, gates had no baseline, settings knew no protection, interventions or adaptive timeouts. */
export function toVersion2(event: StoredEvent): StoredEvent {
  switch (event.type) {
    case "run.started":
    case "run.resumed":
      return { ...event, settings: { ...SETTINGS_OF_VERSION_1, ...tableOf(event["settings"]) } };
    case "iteration.started":
      return { timeoutFrom: "formula", complexity: "medium", ...event };
    case "task.unblocked":
      return { timeoutMs: null, ...event };
    case "evidence.collected":
      return { ...event, evidence: { ...NOTHING_FOUND, ...tableOf(event["evidence"]) } };
    case "gates.checked":
      return {
        ...event,
        gates: (event["gates"] as unknown[]).map((gate) => ({ ...GATE_OF_VERSION_1, ...tableOf(gate) })),
      };
    case "intervention.chosen":
      return { ...INTERVENTION_OF_VERSION_1, ...event };
    case "task.completed":
      return { certificate: CERTIFICATE_OF_VERSION_1, ...event };
    case "task.marked":
      return { parent: null, ...event };
    default:
      return event;
  }
}

const SETTINGS_OF_VERSION_1 = {
  protect: { paths: [], pins: [], weakenedTests: "off" },
  interventions: {
    enabled: true,
    thresholdNoFiles: 0,
    thresholdFalseCompletion: 0,
    window: 5,
    rotationDays: 30,
    aggressive: false,
    midStream: false,
  },
  // Every iteration had the timeout of its mode.
  adaptiveTimeout: {
    enabled: false,
    complexityScaling: true,
    failureScaling: true,
    maxMs: 3_600_000,
    minMs: 60_000,
    perTimeout: 1.5,
    learn: true,
    levels: DEFAULT_COMPLEXITY,
  },
  fallbackAgents: [],
  noWait: false,
} satisfies Partial<Settings>;

const INTERVENTION_OF_VERSION_1 = {
  agent: "",
  rule: "",
  details: { returnCode: null, claimedCompletion: false, filesWritten: 0, evidenceCount: 0 },
  isFedBack: true,
  leads: false,
} satisfies Partial<EventOf<"intervention.chosen">>;

const GATE_OF_VERSION_1 = {
  tries: 1,
  unmet: null,
  failures: [],
  baseline: null,
  onBaseline: "require",
} satisfies Partial<CheckedGate>;

const CERTIFICATE_OF_VERSION_1: Certificate = {
  claim: null,
  agent: "",
  base: null,
  changed: NO_CHANGES,
  gates: [],
  checks: [],
  warnings: [],
  iterations: 0,
  costUsd: null,
};
