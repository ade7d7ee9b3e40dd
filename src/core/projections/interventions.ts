import type { EventOf, Recorded } from "../events.ts";
import type { InterventionType, Severity } from "../interventions/intervention.ts";
import { isoTime, type Instant } from "../time.ts";

export type RecordedIntervention = Recorded<EventOf<"intervention.chosen">>;

/** One entry of `events.json`; the names are part of the public contract. */
export interface InterventionEntry {
  readonly iteration: number;
  readonly event_type: InterventionType;
  readonly timestamp: string;
  readonly severity: Severity;
  readonly details: {
    readonly task_id: string;
    readonly agent: string;
    readonly agent_return_code: number | null;
    readonly exit_signal_claimed: boolean;
    readonly files_written: number;
    readonly evidence_count: number;
  };
  /** Whether the next prompt says it. */
  readonly remediation_attempted: boolean;
  readonly rule: string;
  readonly message: string;
}

export function interventionEntry(event: RecordedIntervention): InterventionEntry {
  const { details } = event;
  return {
    iteration: event.iteration,
    event_type: event.intervention,
    timestamp: isoTime(event.at),
    severity: event.severity,
    details: {
      task_id: event.task,
      agent: event.agent,
      agent_return_code: details.returnCode,
      exit_signal_claimed: details.claimedCompletion,
      files_written: details.filesWritten,
      evidence_count: details.evidenceCount,
    },
    remediation_attempted: event.isFedBack,
    rule: event.rule,
    message: event.feedback.text,
  };
}

export function isIntervention(event: Recorded): event is RecordedIntervention {
  return event.type === "intervention.chosen";
}

/** The text of `events.json`: one serialised entry a line. */
export function interventionsDocument(entries: readonly string[]): string {
  const list = entries.length === 0 ? "[]" : `[\n    ${entries.join(",\n    ")}\n  ]`;
  return `{\n  "$schema": "ralph_gold.interventions.v1",\n  "events": ${list}\n}\n`;
}

/** When no run says otherwise. */
export const ROTATION_DAYS = 30;

const DAY_MS = 86_400_000;

/** Whether an event belongs in an archive, and no longer in `events.json`. */
export function isRotated(at: Instant, now: Instant, rotationDays: number): boolean {
  return at < now - rotationDays * DAY_MS;
}

const KEPT = 500;

/**
 * How many of so many events are in archives by their number alone, the oldest first: the file is written anew with
 * every event, and a long run must not make that slow. Whoever counts them again comes to the same.
 */
export function rotatedByNumber(count: number): number {
  return Math.max(0, Math.floor(count / KEPT) - 1) * KEPT;
}

/** The archive of an event: `events-2026-01.json.gz`. */
export function archiveName(at: Instant): string {
  return `events-${isoTime(at).slice(0, 7)}.json.gz`;
}

/** Every type there is, for people who ask for one. */
export const INTERVENTION_TYPES = Object.keys({
  no_files_detected: true,
  evidence_validation_failed: true,
  false_completion_detected: true,
  mid_stream_prompt_injected: true,
  agent_reinforced: true,
  gate_failed: true,
  contradiction_detected: true,
  dirty_tree: true,
  illegal_transition: true,
  timeout: true,
} satisfies Record<InterventionType, true>);
