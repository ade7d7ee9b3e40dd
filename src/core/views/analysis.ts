import {
  claimName,
  UNKNOWN_USAGE,
  type Claim,
  type Failure,
  type Usage,
  type SignalReport,
  type StatusBlock,
} from "../streams/agent-report.ts";
import { isoTime } from "../time.ts";
import { snakeCase } from "../wire.ts";

/** What only a structured stream tells. */
export interface StreamPart {
  readonly filesWritten: readonly string[];
  readonly toolCalls: number;
  readonly sessionId: string | null;
  readonly usage: Usage;
  readonly unknownEvents: number;
  readonly damagedLines: number;
}

/** What `ralph analyze` prints; scripts rely on the keys. What plain text cannot tell is null or empty. */
export function projectAnalysis(
  agent: string,
  report: SignalReport,
  failure: Failure | null,
  stream: StreamPart | null = null,
): object {
  const { claim, signals } = report;
  return {
    agent,
    final_text: report.finalText,
    claim: claimName(claim),
    promise: report.promise,
    promise_matches: report.promiseMatches,
    ...holdOf(claim),
    status_block: signals.statusBlock === null ? null : blockOf(signals.statusBlock),
    exit_signal: signals.exitSignal,
    confidence: signals.confidence,
    work_type: signals.workType,
    tests_status: signals.testsStatus,
    is_test_only: signals.isTestOnly,
    is_stuck: signals.isStuck,
    contradictions: signals.contradictions,
    citations: signals.citations,
    answers: signals.answers ?? [],
    files_written: stream?.filesWritten ?? [],
    tool_calls: stream?.toolCalls ?? null,
    session_id: stream?.sessionId ?? null,
    usage: snakeCase(stream?.usage ?? UNKNOWN_USAGE),
    failure: failure === null ? null : failureOf(failure),
    error_signature: signals.errorSignature,
    ...(stream !== null && { unknown_events: stream.unknownEvents, damaged_lines: stream.damagedLines }),
  };
}

function holdOf(claim: Claim): object {
  const asked = claim.is === "undecided" ? claim : null;
  return {
    blocked_reason: claim.is === "blocked" ? claim.reason : null,
    already_done_reason: claim.is === "already-done" ? claim.reason : null,
    decide_question: asked?.question ?? null,
    decide_options: asked?.options ?? [],
    decide_default: asked?.default ?? null,
    decide_deadline_seconds: asked?.deadlineMs == null ? null : asked.deadlineMs / 1_000,
  };
}

function failureOf({ class: kind, message, resetsAt }: Failure): object {
  return { class: kind, message, resets_at: resetsAt == null ? null : isoTime(resetsAt) };
}

function blockOf({ status, tasksCompleted, ...block }: StatusBlock): object {
  return { status, tasks_completed_this_loop: tasksCompleted, ...(snakeCase(block) as object) };
}
