import type { EventOf, Recorded } from "../events.ts";
import { type AgentReport, claimName, type Usage } from "../report/agent-report.ts";
import { type CheckedGate, failedBefore } from "../report/checked-gate.ts";
import type { Evidence } from "../report/evidence.ts";
import { REVIEW_MODES, type ReviewMode } from "../review/story-review.ts";
import { type Instant, isoTime } from "../time.ts";
import type { WeighedConcern } from "../verdict/concerns.ts";
import type { OldChecks } from "../verdict/facts.ts";
import type { Reading } from "../verdict/reader.ts";
import type { Reason, Ruling } from "../verdict/verdict.ts";
import { snakeCase } from "../wire.ts";

/** What its beginning tells of an iteration. */
export interface IterationStart extends Pick<
  EventOf<"iteration.started">,
  "iteration" | "run" | "task" | "stage" | "ordinal" | "maxIterations" | "agent"
> {
  /** Which of several workers it was; missing where one machine works alone. */
  readonly worker?: string;
  readonly startedAt: Instant;
}

/** Everything the log knows of one iteration. */
export interface IterationRecord extends IterationStart {
  readonly timeoutMs: number;
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

/** What the agent and the reader of its claim cost together; null: nobody told. */
export function costOf({ report, reading }: Pick<IterationRecord, "report" | "reading">): number | null {
  return sumOf(report?.usage.costUsd ?? null, reading?.usage.costUsd ?? null);
}

/** What is unknown counts as nothing, unless all of it is. */
export function sumOf(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

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
    case "old-checks.ran":
      return { ...record, oldChecks: { ...event.oldChecks, durationMs: event.durationMs } };
    case "reader.answered":
      return { ...record, reading: event.reading };
    case "verdict.reached": {
      const { verdict, reasons, madeProgress, concerns = [], at } = event;
      return { ...record, verdict, reasons, madeProgress, concerns, judgedAt: at };
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

export function iterationStart(event: Recorded<EventOf<"iteration.started">>): IterationStart {
  const { iteration, run, task, stage, ordinal, maxIterations, agent, worker, at: startedAt } = event;
  const about = { iteration, run, task, stage, ordinal, maxIterations, agent, startedAt };
  return worker === undefined ? about : { ...about, worker };
}

function begin(event: Recorded<EventOf<"iteration.started">>): IterationRecord {
  return {
    ...iterationStart(event),
    timeoutMs: event.timeoutMs,
    report: null,
    evidence: null,
    gates: [],
    oldChecks: null,
    reading: null,
    concerns: [],
    verdict: null,
    reasons: [],
    madeProgress: false,
    judgedAt: null,
    endedLoop: false,
    isCompleted: false,
  };
}

/** One iteration, as `ralph history --json` prints it. */
export interface HistoryEntry {
  readonly iteration: number;
  readonly run: string;
  readonly task: string;
  readonly stage: string;
  readonly mode: string;
  readonly agent: string;
  /** Who did it, of several workers. */
  readonly worker?: string;
  readonly started_at: string;
  readonly duration_seconds: number | null;
  /** Null when the agent did not exit by itself. */
  readonly exit_code: number | null;
  readonly claim: "complete" | "blocked" | "undecided" | "already_done" | "unfinished" | "none" | null;
  /** Null while it is open. */
  readonly verdict:
    "accepted" | "continue" | "challenged" | "rejected" | "blocked" | "decide" | "failed" | null;
  readonly reasons: readonly string[];
  readonly commit_hash: string | null;
  readonly files_changed: number | null;
  readonly gates: readonly {
    readonly name: string;
    readonly status: "passed" | "failed" | "missing" | "skipped" | "timeout";
    readonly exit_code: number | null;
    readonly duration_seconds: number | null;
    readonly baseline_failed: boolean | null;
  }[];
  /** The gates again, with the check files as they were; null: they did not run so. */
  readonly old_checks: {
    readonly files: readonly string[];
    readonly duration_seconds: number | null;
    readonly gates: readonly { readonly name: string; readonly status: string }[];
  } | null;
  /** The second reader; null: nobody was asked. */
  readonly reader: {
    readonly agent: string;
    readonly failure: string | null;
    readonly criteria: readonly unknown[];
    readonly concerns: readonly unknown[];
    readonly undone: readonly string[];
    readonly duration_seconds: number | null;
    readonly cost_usd: number | null;
  } | null;
  /** What was doubtful about a claim, each with who settled it. */
  readonly concerns: readonly {
    readonly name: string;
    readonly sentence: string;
    readonly settled_by: string | null;
    readonly answer: string | null;
  }[];
  /** The reader's included. */
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  readonly timeout_seconds: number | null;
  readonly failure_class: string | null;
  readonly output_snippet: string | null;
}

export function historyEntry(record: IterationRecord): HistoryEntry {
  const { report, evidence } = record;
  return {
    iteration: record.iteration,
    run: record.run,
    task: record.task,
    stage: record.stage,
    mode: modeOf(record),
    agent: record.agent,
    ...(record.worker !== undefined && { worker: record.worker }),
    started_at: isoTime(record.startedAt),
    duration_seconds: seconds(report?.durationMs ?? null),
    exit_code: exitCode(report),
    claim: report === null ? null : claimName(report.claim),
    verdict: record.verdict,
    reasons: record.reasons.map((reason) => reason.sentence),
    commit_hash: commitOf(record),
    files_changed: evidence?.changed.files ?? null,
    gates: record.gates.map((gate) => ({
      name: gate.name,
      status: gate.status,
      exit_code: gate.exitCode,
      duration_seconds: seconds(gate.durationMs),
      baseline_failed: gate.baseline === null ? null : failedBefore(gate),
    })),
    ...doubtsOf(record),
    cost_usd: costOf(record),
    tokens: report === null ? null : tokensOf(report.usage),
    timeout_seconds: seconds(record.timeoutMs),
    failure_class: failureClass(report),
    output_snippet: report?.finalText.slice(-500) ?? null,
  };
}

function doubtsOf({
  oldChecks,
  reading,
  concerns,
}: IterationRecord): Pick<HistoryEntry, "old_checks" | "reader" | "concerns"> {
  return {
    old_checks: oldChecks && {
      files: oldChecks.files,
      duration_seconds: seconds(oldChecks.durationMs),
      gates: oldChecks.gates.map(({ name, status }) => ({ name, status })),
    },
    reader: reading && {
      agent: reading.agent,
      failure: reading.failure,
      criteria: reading.review?.criteria ?? [],
      concerns: reading.review?.concerns ?? [],
      undone: reading.undone,
      duration_seconds: seconds(reading.durationMs),
      cost_usd: reading.usage.costUsd,
    },
    concerns: concerns.map(({ name, sentence, settledBy, answer }) => ({
      name,
      sentence,
      settled_by: settledBy,
      answer,
    })),
  };
}

/** What it was for in a review cycle; all else counts as implementing. */
export function modeOf({ stage }: IterationRecord): ReviewMode {
  return REVIEW_MODES.find((mode) => mode === stage) ?? "implement";
}

/** The commit an iteration led to; null when HEAD did not move. */
export function commitOf({ evidence }: IterationRecord): string | null {
  return evidence !== null && evidence.headAfter !== evidence.headBefore ? evidence.headAfter : null;
}

export function tokensOf({ inputTokens, outputTokens }: Usage): number | null {
  return inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0);
}

function exitCode(report: AgentReport | null): number | null {
  return report?.ending.is === "exited" ? report.ending.code : null;
}

function failureClass(report: AgentReport | null): string | null {
  if (report === null) return null;
  if (report.ending.is === "interrupted") return "internal";
  return report.failure?.class ?? null;
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / 1_000;
}

/** One attempt to end a task with words, as `ralph promises --json` shows it. */
export type PromiseEntry = ReturnType<typeof promiseEntry>;

/** The events of which the entries are made. */
export const PROMISE_EVENTS = ["iteration.started", "iteration.ended", "verdict.reached"] as const;

/** Every promise that was printed and every claim of completion, accepted or not. */
export function promiseEntries(records: readonly IterationRecord[]): readonly PromiseEntry[] {
  return records.flatMap((record) => {
    const { report } = record;
    return report !== null && isAttempt(report) ? [promiseEntry(record, report)] : [];
  });
}

function isAttempt({ claim, promise, signals }: AgentReport): boolean {
  return (
    claim.is === "complete" ||
    claim.is === "already-done" ||
    (promise ?? null) !== null ||
    signals?.isPromiseHidden === true
  );
}

/** Whether the promise that counts is the expected one. */
export function isExpectedPromise(report: AgentReport): boolean {
  const { promise, claimed } = promiseOf(report);
  return promise !== null && promise === claimed;
}

function promiseOf({ claim, promise }: AgentReport): {
  readonly promise: string | null;
  readonly claimed: string | null;
} {
  const claimed = claim.is === "complete" ? claim.promise : null;
  // Reports of an older ralph have the promise in the claim alone.
  return { promise: promise === undefined ? claimed : promise, claimed };
}

function promiseEntry(record: IterationRecord, report: AgentReport) {
  const { claim } = report;
  const { promise, claimed } = promiseOf(report);
  return {
    iteration: record.iteration,
    task: record.task,
    agent: record.agent,
    /** When the agent ended. */
    at: isoTime(record.startedAt + report.durationMs),
    /** As printed; null when the claim came in another form, or stood where it does not count. */
    promise,
    matches: isExpectedPromise(report),
    /** The expected one was printed, but where it does not count. */
    hidden: promise === null && claimed === null,
    claim: claimName(claim),
    verdict: record.verdict,
    reasons: record.reasons.map(({ sentence }) => sentence),
    /** What was doubtful, each with who settled it. */
    concerns: record.concerns.map((concern) => snakeCase(concern)),
  };
}
