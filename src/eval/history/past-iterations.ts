import { iterationRecords, RECORD_EVENTS, type IterationRecord } from "../../core/projections/history.ts";
import type { Recorded } from "../../core/events.ts";

/** What of a finished iteration tells something about limits. */
export interface PastIteration {
  readonly iteration: number;
  readonly task: string;
  readonly run: string;
  /** Which loop of its task in the run: the counts begin anew with each. */
  readonly loop: number;
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
export const HISTORY_EVENTS = [...RECORD_EVENTS, "run.started", "task.unblocked", "agent.suspended"] as const;

/** Oldest first. Those that somebody else ended, or the agent's service refused, say nothing about limits. */
export function pastIterations(events: readonly Recorded[]): readonly PastIteration[] {
  const beginnings = beginningsIn(events);
  return iterationRecords(events).flatMap((record) => {
    const past = pastIteration(record, beginnings.get(record.iteration) ?? { complexity: "medium", loop: 0 });
    return past === null ? [] : [past];
  });
}

type Beginning = Pick<PastIteration, "complexity" | "loop">;

/** By iteration. */
function beginningsIn(events: readonly Recorded[]): ReadonlyMap<number, Beginning> {
  const loops = new Map<string, number>();
  const beginnings = new Map<number, Beginning>();
  for (const event of events) {
    if (event.type === "iteration.started") {
      const { iteration, complexity, task } = event;
      beginnings.set(iteration, { complexity, loop: loops.get(task) ?? 0 });
    }
    const anew = countedAnew(event);
    if (anew !== null) loops.set(anew, (loops.get(anew) ?? 0) + 1);
  }
  return beginnings;
}

/** The task whose attempts and iterations without progress are counted from nothing after this fact. */
function countedAnew(event: Recorded): string | null {
  switch (event.type) {
    case "task.unblocked":
    case "stage.passed":
    case "stage.objected":
      return event.task;
    case "story.settled":
      return event.from === event.to ? null : event.task;
    case "agent.suspended":
      return event.successor === null ? null : event.task;
    default:
      return null;
  }
}

const OTHERS_DOING: readonly string[] = ["interrupted", "stopped", "not-started"];

function pastIteration(record: IterationRecord, beginning: Beginning): PastIteration | null {
  const { report, verdict, evidence } = record;
  if (report === null || verdict === null || OTHERS_DOING.includes(report.ending.is)) return null;
  if (report.failure !== null && report.failure.class !== "agent") return null;
  const { iteration, task, run, timeoutMs, madeProgress, isCompleted } = record;
  return {
    iteration,
    task,
    run,
    ...beginning,
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
