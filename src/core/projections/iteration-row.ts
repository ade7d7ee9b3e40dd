import type { EventOf, Recorded } from "../events.ts";
import type { Ruling } from "../verdict/verdict.ts";
import type { Instant } from "../time.ts";

/** One iteration in few words, for lists and charts of thousands. */
export interface IterationRow {
  readonly iteration: number;
  readonly run: string;
  readonly task: string;
  readonly stage: string;
  readonly agent: string;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly lane: number;
  /** Which of several workers it was; missing where one machine works alone. */
  readonly worker?: string;
  readonly startedAt: Instant;
  /** Null while it runs. */
  readonly durationMs: number | null;
  readonly claim: string | null;
  readonly verdict: Ruling | null;
  /** The first reason, as a sentence. */
  readonly why: string | null;
  readonly files: number | null;
  readonly costUsd: number | null;
  readonly isCompleted: boolean;
  /** Types of the interventions that it led to. */
  readonly interventions: readonly string[];
}

/** The events of which rows are made. */
export const ITERATION_ROW_EVENTS = [
  "iteration.started",
  "iteration.ended",
  "evidence.collected",
  "verdict.reached",
  "intervention.chosen",
  "task.completed",
] as const;

/** In the order in which they began. */
export function iterationRows(events: Iterable<Recorded>): readonly IterationRow[] {
  const rows = new Map<number, IterationRow>();
  for (const event of events) {
    const next = "iteration" in event ? extendRow(rows.get(event.iteration), event) : undefined;
    if (next !== undefined) rows.set(next.iteration, next);
  }
  return [...rows.values()];
}

/** The row with one more fact; undefined as long as its beginning is not known. */
export function extendRow(row: IterationRow | undefined, event: Recorded): IterationRow | undefined {
  if (event.type === "iteration.started") return begin(event);
  if (row === undefined) return undefined;
  switch (event.type) {
    case "iteration.ended": {
      const { durationMs, claim, usage } = event.report;
      return { ...row, durationMs, claim: claim.is, costUsd: usage.costUsd };
    }
    case "evidence.collected":
      return { ...row, files: event.evidence.changed.files };
    case "verdict.reached":
      return { ...row, verdict: event.verdict, why: event.reasons[0]?.sentence ?? null };
    case "intervention.chosen":
      return { ...row, interventions: [...row.interventions, event.intervention] };
    case "task.completed":
      return { ...row, isCompleted: true };
    default:
      return row;
  }
}

function begin(event: Recorded<EventOf<"iteration.started">>): IterationRow {
  const { iteration, run, task, stage, agent, ordinal, maxIterations, lane, worker, at } = event;
  return {
    iteration,
    run,
    task,
    stage,
    agent,
    ordinal,
    maxIterations,
    lane,
    ...(worker !== undefined && { worker }),
    startedAt: at,
    durationMs: null,
    claim: null,
    verdict: null,
    why: null,
    files: null,
    costUsd: null,
    isCompleted: false,
    interventions: [],
  };
}
