import type { Failure } from "../../core/report/agent-report.ts";
import { isoTime } from "../../core/time.ts";
import type { Attempt } from "./make-plan.ts";
import { exitCodeOf, totalUsage, type PlanReport } from "./plan-report.ts";

/** What came of the planning, for scripts. */
export function reportJson(report: PlanReport): Readonly<Record<string, unknown>> {
  const { outcome, attempts, agent, logs } = report;
  return {
    outcome: outcome.is,
    exit_code: exitCodeOf(outcome),
    prd: report.prdPath,
    path: outcome.is === "planned" ? report.planPath : null,
    backup: report.backup,
    draft: report.draft,
    tasks:
      outcome.is === "planned"
        ? outcome.tasks.map(({ id, title, dependsOn, criteria, priority }) => ({
            id,
            title,
            depends_on: dependsOn,
            acceptance_criteria: criteria,
            priority,
          }))
        : [],
    checks: outcome.is === "planned" ? outcome.checks : [],
    mistakes: outcome.is === "wrong" ? outcome.mistakes : [],
    changed: outcome.is === "meddled" ? outcome.changes.paths : [],
    question: outcome.is === "undecided" ? outcome.question : null,
    options: outcome.is === "undecided" ? outcome.options : [],
    blocked_reason: outcome.is === "blocked" ? outcome.reason : null,
    failure: outcome.is === "failed" ? failureJson(outcome.failure) : null,
    attempts: attempts.map((attempt) => ({ ...attemptJson(attempt, logs), agent })),
    cost_usd: totalUsage(attempts).costUsd,
  };
}

function attemptJson(
  { ordinal, report, outcome, prdPutBack }: Attempt,
  logs: string,
): Readonly<Record<string, unknown>> {
  return {
    attempt: ordinal,
    outcome: outcome.is,
    mistakes: outcome.is === "wrong" ? outcome.mistakes : [],
    prd_put_back: prdPutBack !== null,
    duration_seconds: report.durationMs / 1_000,
    input_tokens: report.usage.inputTokens,
    output_tokens: report.usage.outputTokens,
    cost_usd: report.usage.costUsd,
    transcript: `${logs}/${report.transcript.path}`,
  };
}

function failureJson({ class: kind, message, resetsAt }: Failure): Readonly<Record<string, unknown>> {
  return { class: kind, message, resets_at: resetsAt == null ? null : isoTime(resetsAt) };
}
