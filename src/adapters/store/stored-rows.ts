import { crc32 } from "node:zlib";
import { type Event, EVENT_VERSION, type EventOf, type Recorded } from "../../core/events.ts";
import { DEFAULT_COMPLEXITY } from "../../core/limits/iteration-timeout.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import type { State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { CheckedGate } from "../../core/report/checked-gate.ts";
import { NO_CHANGES, NOTHING_FOUND } from "../../core/report/evidence.ts";
import type { Settings } from "../../core/settings.ts";
import type { Instant } from "../../core/time.ts";
import type { Certificate } from "../../core/verdict/certificate.ts";
import { DamagedFact } from "./store-error.ts";

/** An event as tables hold it, in any database. */
export interface EventRow {
  readonly position: number;
  readonly at: number;
  readonly v: number;
  readonly data: string;
}

/** The whole event as JSON, which has no NUL and no half of a surrogate pair in it; and what it is found by. */
export function columnsOf(event: Event, position: number, at: Instant): EventColumns {
  return {
    type: event.type,
    run: "run" in event ? event.run : null,
    task: taskOf(event),
    iteration: "iteration" in event ? event.iteration : null,
    data: sealed(JSON.stringify(event), position, at, EVENT_VERSION),
  };
}

/** What an agent or a reader has cost; null where nobody knows, or nothing was paid for. */
export function costOf(event: Event): number | null {
  if (event.type === "reader.answered") return event.reading.usage.costUsd;
  return event.type === "iteration.ended" ? event.report.usage.costUsd : null;
}

export interface EventColumns {
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly data: string;
}

export function recordedFrom(row: EventRow, place: string): Recorded {
  const data = dataOf(row);
  if (data === null) throw new DamagedFact(`event ${row.position}`, place);
  return Object.assign(upcast(row.v, data), { position: row.position, at: row.at });
}

/** What a row holds, of any version; null when that is not what was written. */
export function dataOf({ data, position, at, v }: EventRow): unknown {
  try {
    return JSON.parse(unsealed(data, position, at, v));
  } catch {
    return null;
  }
}

/** Null when it is damaged: a snapshot is only a short cut, and the log is replayed instead. */
export function stateFrom(row: { readonly position: number; readonly state: string }): State | null {
  try {
    const state = JSON.parse(unsealed(row.state, row.position)) as State;
    return state.position === row.position ? state : null;
  } catch {
    return null;
  }
}

/** JSON with a checksum as its last field: of the text, and of the numbers beside it. An older ralph reads over it. */
export function sealed(json: string, ...beside: readonly number[]): string {
  return json.slice(0, -1) + sealOf(json, beside);
}

/** The JSON as it was written; nothing at all when it is damaged. Without a checksum it is of an older ralph. */
export function unsealed(text: string, ...beside: readonly number[]): string {
  const seal = text.slice(-SEAL_LENGTH);
  if (!seal.startsWith(MARK)) return text;
  const json = `${text.slice(0, -SEAL_LENGTH)}}`;
  return seal === sealOf(json, beside) ? json : "";
}

const MARK = ',"#":"';
const SEAL_LENGTH = `${MARK}00000000"}`.length;

function sealOf(json: string, beside: readonly number[]): string {
  return `${MARK}${crc32(beside.join(" "), crc32(json)).toString(16).padStart(8, "0")}"}`;
}

/** An event of any version: only its type is known. */
type StoredEvent = Readonly<Record<string, unknown>> & { readonly type: string };

function tableOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** Evidence was less, gates had no baseline, settings knew no protection, interventions or adaptive timeouts. */
function toVersion2(event: StoredEvent): StoredEvent {
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
  protect: { paths: [] },
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

/** The work tree was looked at again after gates, and what they had left was listed then. There were fewer brakes. */
function toVersion3(event: StoredEvent): StoredEvent {
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
