import type { Recorded } from "../../core/events.ts";
import {
  iterationRecords,
  RECORD_EVENTS,
  type IterationRecord,
} from "../../core/projections/iteration-record.ts";

/** What of a finished iteration tells something about limits. */
export interface PastIteration {
  readonly iteration: number;
  readonly task: string;
  readonly run: string;
  readonly complexity: string;
  readonly timeoutMs: number;
  readonly durationMs: number;
  readonly isTimedOut: boolean;
  readonly madeProgress: boolean;
  readonly isAccepted: boolean;
  /** Rejected or failed. */
  readonly isFailed: boolean;
  /** It asked a person. */
  readonly isAsking: boolean;
  readonly wroteFiles: boolean;
  /** It claimed to be done, and was not believed. */
  readonly isFalseClaim: boolean;
  /** With it the task was done. */
  readonly isCompleted: boolean;
  readonly costUsd: number | null;
}

/** The facts of which past iterations are made. */
export const HISTORY_EVENTS = [...RECORD_EVENTS, "run.started", "task.unblocked"] as const;

/** Oldest first. Those that somebody else ended, or the agent's service refused, say nothing about limits. */
export function pastIterations(events: readonly Recorded[]): readonly PastIteration[] {
  const complexities = new Map(
    events.flatMap((event) =>
      event.type === "iteration.started" ? [[event.iteration, event.complexity] as const] : [],
    ),
  );
  return iterationRecords(events).flatMap((record) => {
    const past = pastIteration(record, complexities.get(record.iteration) ?? "medium");
    return past === null ? [] : [past];
  });
}

const OTHERS_DOING: readonly string[] = ["interrupted", "stopped", "not-started"];

function pastIteration(record: IterationRecord, complexity: string): PastIteration | null {
  const { report, verdict, evidence } = record;
  if (report === null || verdict === null || OTHERS_DOING.includes(report.ending.is)) return null;
  if (report.failure !== null && report.failure.class !== "agent") return null;
  const { iteration, task, run, timeoutMs, madeProgress, isCompleted } = record;
  return {
    iteration,
    task,
    run,
    complexity,
    timeoutMs,
    durationMs: report.durationMs,
    isTimedOut: report.ending.is === "timed-out",
    madeProgress,
    isAccepted: verdict === "accepted",
    isFailed: verdict === "rejected" || verdict === "failed",
    isAsking: verdict === "blocked" || verdict === "decide",
    wroteFiles: (evidence?.changed.files ?? 0) > 0,
    isFalseClaim: report.claim.is === "complete" && verdict === "rejected",
    isCompleted,
    costUsd: report.usage.costUsd,
  };
}
