import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Task } from "../plan/task.ts";
import { isoTime } from "../time.ts";
import { commitOf, modeOf, tokensOf } from "./history.ts";
import type { IterationRecord } from "./iteration-record.ts";
import { isExpectedPromise } from "./promises.ts";

export const SUMMARY_HEADER =
  "iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,timestamp,task,stage,verdict,agent,cost_usd,tokens";

/** One line of `logs/summary.csv`; `state` is the state at the moment of the verdict. */
export function summaryRow(record: IterationRecord, state: State): string {
  const tasks = state.plan?.tasks ?? [];
  const isDone = (task: Task): boolean =>
    task.id === record.task ? record.isCompleted : statusOf(state, task) === "done";
  const cells = [
    record.iteration,
    modeOf(record),
    Math.round((record.report?.durationMs ?? 0) / 1_000),
    commitOf(record) ?? "",
    tasks.filter(isDone).length,
    tasks.length,
    state.run?.stuckCount ?? 0,
    isoTime(record.judgedAt ?? record.startedAt),
    record.task,
    record.stage,
    record.verdict ?? "",
    record.agent,
    record.report?.usage.costUsd ?? "",
    record.report === null ? "" : (tokensOf(record.report.usage) ?? ""),
  ];
  return cells.map((cell) => csvCell(String(cell))).join(",");
}

/** One record of `logs/execution.jsonl`, made when everything that follows from the verdict is known. */
export function executionRow(record: IterationRecord): Record<string, unknown> {
  const { report } = record;
  return {
    task_id: record.task,
    stage: record.stage,
    ralph_iteration: record.ordinal,
    ralph_max: record.maxIterations,
    promise_found: report !== null && isExpectedPromise(report),
    continuing: record.verdict !== "accepted" && !record.endedLoop,
    duration_ms: Math.round(report?.durationMs ?? 0),
    iteration: record.iteration,
    verdict: record.verdict,
    reasons: record.reasons.map(({ sentence }) => sentence),
    timed_out: report?.ending.is === "timed-out" || report?.ending.is === "idle",
    cost_usd: report?.usage.costUsd ?? null,
  };
}

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
