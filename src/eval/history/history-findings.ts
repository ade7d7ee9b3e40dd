import type { Recorded } from "../../core/events.ts";
import type { Settings } from "../../core/settings.ts";
import { limitFinding, type LimitFinding } from "./limit-findings.ts";
import { pastIterations, type PastIteration } from "./past-iterations.ts";
import { recoveryFinding, type RecoveryFinding } from "./recovery-findings.ts";
import { timeoutFindings, type TimeoutFinding } from "./timeout-findings.ts";

/** What a project's own history says about its limits. */
export interface HistoryFindings {
  readonly iterations: number;
  readonly tasks: number;
  readonly completed: number;
  readonly runs: number;
  readonly timeouts: readonly TimeoutFinding[];
  readonly limits: readonly LimitFinding[];
  readonly recoveries: readonly RecoveryFinding[];
  /** Tasks that were let go on after a block, and how many of them were done later. */
  readonly unblocked: { readonly tasks: number; readonly completed: number };
  /** What nobody can know from it. */
  readonly unknown: readonly string[];
}

const FEW = 30;

/** Null when there is no iteration to learn from. */
export function historyFindings(events: readonly Recorded[]): HistoryFindings | null {
  const past = pastIterations(events);
  if (past.length === 0) return null;
  const settings = lastSettings(events);
  const completed = new Set(past.filter(({ isCompleted }) => isCompleted).map(({ task }) => task));
  return {
    iterations: past.length,
    tasks: new Set(past.map(({ task }) => task)).size,
    completed: completed.size,
    runs: new Set(past.map(({ run }) => run)).size,
    timeouts: timeoutFindings(past),
    limits: limitsIn(past, settings),
    recoveries: recoveriesIn(past, settings),
    unblocked: unblockedIn(events, completed),
    unknown: [
      ...(past.length < FEW
        ? [`${past.length} iterations are few: another week may say something else.`]
        : []),
      ...UNKNOWN,
    ],
  };
}

const UNKNOWN = [
  "What a higher limit than yours would have brought: the history ends where the limit was.",
  "Whether an iteration that was ended would have finished a minute later.",
  "Whether a person would have let a task go on that a lower limit had blocked sooner.",
  "What the agent would have done with another prompt, had a correction come sooner.",
];

function lastSettings(events: readonly Recorded[]): Settings | null {
  const last = events.findLast((event) => event.type === "run.started");
  return last?.type === "run.started" ? last.settings : null;
}

function limitsIn(past: readonly PastIteration[], settings: Settings | null): readonly LimitFinding[] {
  return [
    limitFinding(past, {
      setting: "run.max_stuck",
      what: "iterations in a row without progress",
      current: settings?.limits.maxStuck ?? null,
      // A timeout is counted elsewhere, and a question is no lack of progress.
      counts: ({ madeProgress, isAccepted, isTimedOut, isAsking }) =>
        madeProgress || isAccepted ? false : isTimedOut || isAsking ? null : true,
    }),
    limitFinding(past, {
      setting: "run.max_attempts",
      what: "iterations in a row that were rejected or failed",
      current: settings?.limits.maxAttempts ?? null,
      // Whatever ran out of time needs more of it, not fewer attempts.
      counts: ({ isFailed, isTimedOut }) => (isTimedOut ? null : isFailed),
    }),
  ];
}

function recoveriesIn(past: readonly PastIteration[], settings: Settings | null): readonly RecoveryFinding[] {
  return [
    recoveryFinding(past, {
      setting: "interventions.threshold_no_files",
      what: "an iteration without a changed file",
      current: settings?.interventions.thresholdNoFiles ?? null,
      isBad: ({ wroteFiles, isTimedOut, isAccepted, isAsking }) =>
        !wroteFiles && !isTimedOut && !isAccepted && !isAsking,
    }),
    recoveryFinding(past, {
      setting: "interventions.threshold_false_completion",
      what: "a claim that was rejected",
      current: settings?.interventions.thresholdFalseCompletion ?? null,
      isBad: ({ isFalseClaim }) => isFalseClaim,
    }),
  ];
}

function unblockedIn(
  events: readonly Recorded[],
  completed: ReadonlySet<string>,
): HistoryFindings["unblocked"] {
  const tasks = new Set(events.flatMap((event) => (event.type === "task.unblocked" ? [event.task] : [])));
  return { tasks: tasks.size, completed: [...tasks].filter((task) => completed.has(task)).length };
}
