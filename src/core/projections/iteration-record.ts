import type { Recorded } from "../events.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import type { CheckedGate } from "../report/checked-gate.ts";
import type { Instant } from "../time.ts";
import type { Reason, Ruling } from "../verdict/verdict.ts";

/** Everything the log knows of one iteration. */
export interface IterationRecord {
  readonly iteration: number;
  readonly run: string;
  readonly task: string;
  readonly stage: string;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly agent: string;
  /** Which of several workers it was; missing where one machine works alone. */
  readonly worker?: string;
  readonly startedAt: Instant;
  readonly timeoutMs: number;
  readonly report: AgentReport | null;
  readonly evidence: Evidence | null;
  readonly gates: readonly CheckedGate[];
  readonly verdict: Ruling | null;
  readonly reasons: readonly Reason[];
  readonly madeProgress: boolean;
  readonly judgedAt: Instant | null;
  /** With it the loop of its stage ended: done, given up, or a person has to do something first. */
  readonly endedLoop: boolean;
  /** With it the task was done. */
  readonly isCompleted: boolean;
}

/** The events of which a record is made. */
export const RECORD_EVENTS = [
  "iteration.started",
  "iteration.ended",
  "evidence.collected",
  "gates.checked",
  "verdict.reached",
  "stage.passed",
  "stage.objected",
  "story.settled",
  "question.asked",
  "task.completed",
  "task.blocked",
  "task.failed",
  "task.exhausted",
] as const;

/** Iteration records in the order in which they began. */
export function iterationRecords(events: Iterable<Recorded>): readonly IterationRecord[] {
  const records = new Map<number, IterationRecord>();
  for (const event of events) {
    const next = "iteration" in event ? extendRecord(records.get(event.iteration), event) : undefined;
    if (next !== undefined) records.set(next.iteration, next);
  }
  return [...records.values()];
}

/** The record with one more fact; undefined as long as its beginning is not known. */
export function extendRecord(
  record: IterationRecord | undefined,
  event: Recorded,
): IterationRecord | undefined {
  if (event.type === "iteration.started") return begin(event);
  if (record === undefined) return undefined;
  switch (event.type) {
    case "iteration.ended":
      return { ...record, report: event.report };
    case "evidence.collected":
      return { ...record, evidence: event.evidence };
    case "gates.checked":
      return { ...record, gates: event.gates };
    case "verdict.reached": {
      const { verdict, reasons, madeProgress, at } = event;
      return { ...record, verdict, reasons, madeProgress, judgedAt: at };
    }
    case "story.settled":
      return { ...record, endedLoop: record.endedLoop || event.from !== event.to };
    case "task.completed":
      return { ...record, endedLoop: true, isCompleted: true };
    case "stage.passed":
    case "stage.objected":
    case "question.asked":
    case "task.blocked":
    case "task.failed":
    case "task.exhausted":
      return { ...record, endedLoop: true };
    default:
      return record;
  }
}

function begin(event: Extract<Recorded, { type: "iteration.started" }>): IterationRecord {
  return {
    iteration: event.iteration,
    run: event.run,
    task: event.task,
    stage: event.stage,
    ordinal: event.ordinal,
    maxIterations: event.maxIterations,
    agent: event.agent,
    ...(event.worker !== undefined && { worker: event.worker }),
    startedAt: event.at,
    timeoutMs: event.timeoutMs,
    report: null,
    evidence: null,
    gates: [],
    verdict: null,
    reasons: [],
    madeProgress: false,
    judgedAt: null,
    endedLoop: false,
    isCompleted: false,
  };
}
