import { UNKNOWN_USAGE, type Claim, type Failure } from "../report/agent-report.ts";
import type { SignalReport, StatusBlock } from "../report/signals.ts";
import { isoTime } from "../time.ts";

/** What `ralph analyze` prints; scripts rely on the keys. What plain text cannot tell is null or empty. */
export function projectAnalysis(agent: string, report: SignalReport, failure: Failure | null): object {
  const { claim, signals } = report;
  return {
    agent,
    final_text: report.finalText,
    claim: claim.is,
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
    files_written: [],
    tool_calls: null,
    session_id: null,
    usage: {
      input_tokens: UNKNOWN_USAGE.inputTokens,
      output_tokens: UNKNOWN_USAGE.outputTokens,
      cache_read_tokens: UNKNOWN_USAGE.cacheReadTokens,
      cost_usd: UNKNOWN_USAGE.costUsd,
    },
    failure: failure === null ? null : failureOf(failure),
    error_signature: signals.errorSignature,
  };
}

function holdOf(claim: Claim): object {
  const asked = claim.is === "undecided" ? claim : null;
  return {
    blocked_reason: claim.is === "blocked" ? claim.reason : null,
    decide_question: asked?.question ?? null,
    decide_options: asked?.options ?? [],
    decide_default: asked?.default ?? null,
    decide_deadline_seconds: asked?.deadlineMs == null ? null : asked.deadlineMs / 1_000,
  };
}

function failureOf({ class: kind, message, resetsAt }: Failure): object {
  return { class: kind, message, resets_at: resetsAt == null ? null : isoTime(resetsAt) };
}

function blockOf(block: StatusBlock): object {
  return {
    status: block.status,
    tasks_completed_this_loop: block.tasksCompleted,
    files_modified: block.filesModified,
    tests_status: block.testsStatus,
    work_type: block.workType,
    exit_signal: block.exitSignal,
    recommendation: block.recommendation,
    unknown_fields: block.unknownFields,
    missing_fields: block.missingFields,
  };
}
