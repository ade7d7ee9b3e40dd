import { type AgentReport, claimName } from "../streams/agent-report.ts";
import { isoTime } from "../time.ts";
import { failedBefore } from "../verdict/checked-gate.ts";
import { snakeCase } from "../wire.ts";
import { commitOf, costOf, type IterationRecord, modeOf, tokensOf } from "./iteration-record.ts";

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
  const { report, evidence, oldChecks, reading } = record;
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
    exit_code: report?.ending.is === "exited" ? report.ending.code : null,
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
    concerns: record.concerns.map(({ name, sentence, settledBy, answer }) => {
      return { name, sentence, settled_by: settledBy, answer };
    }),
    cost_usd: costOf(record),
    tokens: report === null ? null : tokensOf(report.usage),
    timeout_seconds: seconds(record.timeoutMs),
    failure_class: failureClass(report),
    output_snippet: report?.finalText.slice(-500) ?? null,
  };
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
    promise != null ||
    signals?.isPromiseHidden === true
  );
}

/** Whether the promise that counts is the expected one. Reports of an older ralph have it in the claim alone. */
export function isExpectedPromise({ claim, promise }: AgentReport): boolean {
  return claim.is === "complete" && (promise === undefined || promise === claim.promise);
}

function promiseEntry(record: IterationRecord, report: AgentReport) {
  const { claim } = report;
  const claimed = claim.is === "complete" ? claim.promise : null;
  const { promise = claimed } = report;
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
