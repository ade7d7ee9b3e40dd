import type { EventOf, EventType, Recorded } from "../events.ts";
import type { AgentReport, Usage } from "../streams/agent-report.ts";
import type { CheckedGate } from "../verdict/checked-gate.ts";
import type { Evidence } from "../verdict/evidence.ts";
import { REVIEW_MODES, type ReviewMode } from "../review/story-review.ts";
import type { Instant } from "../time.ts";
import type { WeighedConcern } from "../verdict/concerns.ts";
import type { OldChecks } from "../verdict/facts.ts";
import type { Reading } from "../verdict/reader.ts";
import type { Reason, Ruling } from "../verdict/verdict.ts";

/** Everything the log knows of one iteration: lists, pages, reports, explanations and traces are made from it. */
export interface IterationRecord extends Recorded<EventOf<"iteration.started">> {
  readonly startedAt: Instant;
  readonly report: AgentReport | null;
  readonly evidence: Evidence | null;
  readonly gates: readonly CheckedGate[];
  /** The gates with the check files as they were; null: they did not run so. */
  readonly oldChecks: (OldChecks & { readonly durationMs: number }) | null;
  readonly reading: Reading | null;
  readonly concerns: readonly WeighedConcern[];
  readonly verdict: Ruling | null;
  readonly reasons: readonly Reason[];
  readonly madeProgress: boolean;
  /** After a transient failure. */
  readonly retryAt: Instant | null;
  /** When each fact of it was recorded. */
  readonly times: Readonly<Partial<Record<EventType, Instant>>>;
  /** The facts beside those above, in order: corrections, and what followed from the verdict. */
  readonly followed: readonly Recorded[];
}

/** The events that lists of iterations need. */
export const RECORD_EVENTS = [
  "iteration.started",
  "iteration.ended",
  "evidence.collected",
  "gates.checked",
  "old-checks.ran",
  "reader.answered",
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

/** Iteration records in the order in which they began. Facts about other things are passed over. */
export function iterationRecords(events: Iterable<Recorded>): readonly IterationRecord[] {
  const records = new Map<number, IterationRecord>();
  for (const event of events) keepRecord(records, event);
  return [...records.values()];
}

/** Adds a fact to the record that it is about; undefined where it is about none whose beginning is known. */
export function keepRecord(
  records: Map<number, IterationRecord>,
  event: Recorded,
): IterationRecord | undefined {
  if (!("iteration" in event)) return undefined;
  const record = records.get(event.iteration);
  if (event.type === "iteration.started") {
    records.set(event.iteration, { ...event, startedAt: event.at, ...NOTHING_YET });
  } else if (record !== undefined) {
    const times = { ...record.times, [event.type]: event.at };
    records.set(event.iteration, { ...record, times, ...partOf(record, event) });
  }
  return records.get(event.iteration);
}

const NOTHING_YET = {
  report: null,
  evidence: null,
  gates: [],
  oldChecks: null,
  reading: null,
  concerns: [],
  verdict: null,
  reasons: [],
  madeProgress: false,
  retryAt: null,
  times: {},
  followed: [],
} as const;

function partOf(record: IterationRecord, event: Recorded): Partial<IterationRecord> {
  switch (event.type) {
    case "iteration.ended":
      return { report: event.report };
    case "evidence.collected":
      return { evidence: event.evidence };
    case "gates.checked":
      return { gates: event.gates };
    case "old-checks.ran":
      return { oldChecks: { ...event.oldChecks, durationMs: event.durationMs } };
    case "reader.answered":
      return { reading: event.reading };
    case "verdict.reached": {
      const { verdict, reasons, madeProgress, retryAt, concerns = [] } = event;
      return { verdict, reasons, madeProgress, retryAt, concerns };
    }
    default:
      return { followed: [...record.followed, event] };
  }
}

/** Set when it completed its task. */
export function completionOf({ followed }: IterationRecord): Recorded<EventOf<"task.completed">> | null {
  return followed.findLast((event) => event.type === "task.completed") ?? null;
}

/** What its agent was told because of it. */
export function correctionsOf({ followed }: IterationRecord): readonly EventOf<"intervention.chosen">[] {
  return followed.filter((event) => event.type === "intervention.chosen");
}

const LOOP_ENDS: ReadonlySet<EventType> = new Set([
  "task.completed",
  "stage.passed",
  "stage.objected",
  "question.asked",
  "task.blocked",
  "task.failed",
  "task.exhausted",
]);

/** With it the loop of its stage ended: done, given up, or a person has to do something first. */
export function endedLoop({ followed }: IterationRecord): boolean {
  return followed.some(
    (event) => LOOP_ENDS.has(event.type) || (event.type === "story.settled" && event.from !== event.to),
  );
}

/** What the agent and the reader of its claim cost together; null: nobody told. */
export function costOf({ report, reading }: Pick<IterationRecord, "report" | "reading">): number | null {
  return sumOf(report?.usage.costUsd ?? null, reading?.usage.costUsd ?? null);
}

/** What is unknown counts as nothing, unless all of it is. */
export function sumOf(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

/** What it was for in a review cycle; all else counts as implementing. */
export function modeOf({ stage }: IterationRecord): ReviewMode {
  return REVIEW_MODES.find((mode) => mode === stage) ?? "implement";
}

/** The commit an iteration led to; null when HEAD did not move. */
export function commitOf({ evidence }: Pick<IterationRecord, "evidence">): string | null {
  return evidence !== null && evidence.headAfter !== evidence.headBefore ? evidence.headAfter : null;
}

export function tokensOf({ inputTokens, outputTokens }: Usage): number | null {
  return sumOf(inputTokens, outputTokens);
}

/** The events of which rows are made. */
export const ITERATION_ROW_EVENTS = [
  "iteration.started",
  "iteration.ended",
  "evidence.collected",
  "reader.answered",
  "verdict.reached",
  "intervention.chosen",
  "task.completed",
] as const;

/** In the order in which they began. */
export function iterationRows(events: Iterable<Recorded>): readonly IterationRow[] {
  return iterationRecords(events).map(iterationRow);
}

/** One iteration in few words, for lists and charts of thousands. */
export type IterationRow = ReturnType<typeof iterationRow>;

export function iterationRow(record: IterationRecord) {
  const { iteration, run, task, stage, ordinal, maxIterations, agent, worker, lane } = record;
  const { startedAt, verdict, report, reasons, evidence } = record;
  const about = { iteration, run, task, stage, ordinal, maxIterations, agent, lane, startedAt, verdict };
  return {
    ...about,
    ...(worker !== undefined && { worker }),
    /** Null while it runs. */
    durationMs: report?.durationMs ?? null,
    claim: report?.claim.is ?? null,
    /** The first reason, as a sentence. */
    why: reasons[0]?.sentence ?? null,
    files: evidence?.changed.files ?? null,
    costUsd: costOf(record),
    /** With it the task was done. */
    isCompleted: completionOf(record) !== null,
    interventions: correctionsOf(record).map(({ intervention }) => intervention),
  };
}
