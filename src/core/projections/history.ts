import { isoTime } from "../time.ts";
import { REVIEW_MODES, type ReviewMode } from "../review/story-review.ts";
import { failedBefore } from "../report/checked-gate.ts";
import type { AgentReport, Usage } from "../report/agent-report.ts";
import type { IterationRecord } from "./iteration-record.ts";

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
  readonly claim: "complete" | "blocked" | "undecided" | "unfinished" | "none" | null;
  /** Null while it is open. */
  readonly verdict: "accepted" | "continue" | "rejected" | "blocked" | "decide" | "failed" | null;
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
    claim: report?.claim.is ?? null,
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
    cost_usd: report?.usage.costUsd ?? null,
    tokens: report === null ? null : tokensOf(report.usage),
    timeout_seconds: seconds(record.timeoutMs),
    failure_class: failureClass(report),
    output_snippet: report?.finalText.slice(-500) ?? null,
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
