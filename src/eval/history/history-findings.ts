import { formatDuration } from "../../core/time.ts";
import type { Recorded } from "../../core/events.ts";
import type { Settings } from "../../core/settings.ts";
import { pastIterations, type PastIteration } from "./past-iterations.ts";

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

/** What one value of a limit would have done. */
interface LimitValue {
  readonly value: number;
  /** Loops that it would have ended sooner, and that came to nothing anyway: what came after is saved. */
  readonly endedInTime: number;
  readonly saved: Saving;
  /** Loops that it would have ended, and that completed their task after all. */
  readonly tasksLost: number;
}

export interface LimitFinding {
  /** As it stands in the configuration. */
  readonly setting: string;
  readonly what: string;
  /** What the last run had. */
  readonly current: number | null;
  /** Those that would have changed anything. */
  readonly values: readonly LimitValue[];
  /** The value that saves most and loses no task; null when nothing would be gained. */
  readonly best: number | null;
}

const MOST_LIMIT = 6;

export interface LimitQuestion {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  /** Whether an iteration counts towards the limit; null: it neither counts nor breaks a row. */
  readonly counts: (iteration: PastIteration) => boolean | null;
}

/** Goes through every loop again under each value of the limit. */
export function limitFinding(past: readonly PastIteration[], question: LimitQuestion): LimitFinding {
  const { setting, what, current } = question;
  const loops = loopsOf(past);
  const values = Array.from({ length: MOST_LIMIT }, (_, index) =>
    limitValue(loops, index + 1, question),
  ).filter(({ endedInTime, tasksLost }) => endedInTime + tasksLost > 0);
  const harmless = values.filter(({ tasksLost, saved }) => tasksLost === 0 && saved.iterations > 0);
  const best = harmless.toSorted((a, b) => b.saved.iterations - a.saved.iterations)[0];
  return { setting, what, current, values, best: best?.value ?? null };
}

/** The iterations of one task that are counted together: a new run, a new stage, another agent, a person begins anew. */
function loopsOf(past: readonly PastIteration[]): readonly (readonly PastIteration[])[] {
  const loops = Map.groupBy(past, ({ run, loop, task }) => `${run} ${loop} ${task}`);
  return [...loops.values()];
}

function limitValue(
  loops: readonly (readonly PastIteration[])[],
  value: number,
  { counts }: LimitQuestion,
): LimitValue {
  const cut = loops
    .map((loop) => loop.slice(endUnder(loop, value, counts)))
    .filter((rest) => rest.length > 0);
  const lost = cut.filter((rest) => rest.some(({ isCompleted }) => isCompleted));
  const inTime = cut.filter((rest) => !lost.includes(rest));
  return { value, endedInTime: inTime.length, saved: savingOf(inTime.flat()), tasksLost: lost.length };
}

/** How many iterations the loop would have had. */
function endUnder(loop: readonly PastIteration[], limit: number, counts: LimitQuestion["counts"]): number {
  let inARow = 0;
  for (const [at, iteration] of loop.entries()) {
    const isCounted = counts(iteration);
    if (isCounted !== null) inARow = isCounted ? inARow + 1 : 0;
    if (inARow >= limit) return at + 1;
  }
  return loop.length;
}

/** What one timeout for all iterations of a complexity would have done. */
export interface CapValue {
  readonly seconds: number;
  /** Time that iterations without any progress took beyond it. */
  readonly saved: Saving;
  /** Iterations with progress that it would have ended. */
  readonly cutOff: number;
}

export interface TimeoutFinding {
  readonly complexity: string;
  readonly iterations: number;
  /** Of iterations that were accepted, in seconds; null without any. */
  readonly accepted: { readonly median: number; readonly p95: number; readonly longest: number } | null;
  readonly timedOut: number;
  /** Iterations that timed out although their task was completed later. */
  readonly timedOutInVain: number;
  /**
   * What such a task needed in the end, in seconds: at least as much as its last iteration took, at most as much as all
   * that it took together. Of the task that needed most.
   */
  readonly needed: { readonly atLeast: number; readonly atMost: number } | null;
  readonly caps: readonly CapValue[];
}

const CAPS_SECONDS = [60, 120, 180, 300, 600, 900, 1_800, 2_700, 3_600, 7_200];

/** What is known of the time that iterations took, by the complexity of their tasks. */
export function timeoutFindings(past: readonly PastIteration[]): readonly TimeoutFinding[] {
  const groups = Map.groupBy(past, ({ complexity }) => complexity);
  return [...groups].map(([complexity, group]) => timeoutFinding(complexity, group));
}

function timeoutFinding(complexity: string, group: readonly PastIteration[]): TimeoutFinding {
  const accepted = group.filter(({ isAccepted }) => isAccepted).map(secondsOf);
  const finished = [...Map.groupBy(group, ({ task }) => task).values()].map(untilDone);
  const inVain = finished.filter((task) => task.some(({ isTimedOut }) => isTimedOut));
  const longest = group.reduce((most, iteration) => Math.max(most, secondsOf(iteration)), 0);
  return {
    complexity,
    iterations: group.length,
    accepted:
      accepted.length === 0
        ? null
        : { median: rank(accepted, 50), p95: rank(accepted, 95), longest: rank(accepted, 100) },
    timedOut: group.filter(({ isTimedOut }) => isTimedOut).length,
    timedOutInVain: inVain.flat().filter(({ isTimedOut }) => isTimedOut).length,
    needed: neededBy(inVain),
    caps: CAPS_SECONDS.filter((seconds) => seconds < longest).map((seconds) => capValue(group, seconds)),
  };
}

/** The iterations of a task up to the one that completed it; none if nobody did. */
function untilDone(task: readonly PastIteration[]): readonly PastIteration[] {
  return task.slice(0, task.findLastIndex(({ isCompleted }) => isCompleted) + 1);
}

function neededBy(tasks: readonly (readonly PastIteration[])[]): TimeoutFinding["needed"] {
  const needs = tasks.map((task) => ({
    atLeast: task.slice(-1).reduce((sum, iteration) => sum + secondsOf(iteration), 0),
    atMost: task.reduce((sum, iteration) => sum + secondsOf(iteration), 0),
  }));
  return needs.toSorted((a, b) => b.atLeast - a.atLeast)[0] ?? null;
}

function capValue(group: readonly PastIteration[], seconds: number): CapValue {
  const longer = group.filter((iteration) => secondsOf(iteration) > seconds);
  const useful = longer.filter(({ madeProgress, isAccepted }) => madeProgress || isAccepted);
  const beyond = longer
    .filter((iteration) => !useful.includes(iteration))
    .map(({ durationMs, costUsd }) => ({
      durationMs: durationMs - seconds * 1_000,
      costUsd: costUsd === null ? null : costUsd * (1 - (seconds * 1_000) / durationMs),
    }));
  return { seconds, saved: savingOf(beyond), cutOff: useful.length };
}

function secondsOf({ durationMs }: PastIteration): number {
  return Math.round(durationMs / 1_000);
}

/** By nearest rank: a time that really occurred. */
function rank(values: readonly number[], percent: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1] ?? 0;
}

/** What the next iteration did after so many of a kind in a row. */
interface RecoveryFinding {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  readonly after: readonly { readonly inARow: number; readonly times: number; readonly recovered: number }[];
}

export interface RecoveryQuestion {
  readonly setting: string;
  readonly what: string;
  readonly current: number | null;
  readonly isBad: (iteration: PastIteration) => boolean;
}

const MOST_BAD_IN_A_ROW = 4;

/** Whether agents came to their senses by themselves, and after how much. */
export function recoveryFinding(
  past: readonly PastIteration[],
  { setting, what, current, isBad }: RecoveryQuestion,
): RecoveryFinding {
  const tasks = [...Map.groupBy(past, ({ task }) => task).values()];
  const followed = tasks.flatMap((task) => {
    let inARow = 0;
    return task.slice(0, -1).flatMap((iteration, at) => {
      inARow = isBad(iteration) ? inARow + 1 : 0;
      const next = task[at + 1];
      return inARow === 0 || next === undefined ? [] : [{ inARow, isRecovered: isBetter(next, isBad) }];
    });
  });
  const after = Array.from({ length: MOST_BAD_IN_A_ROW }, (_, index) => {
    const those = followed.filter(({ inARow }) => inARow === index + 1);
    const recovered = those.filter(({ isRecovered }) => isRecovered).length;
    return { inARow: index + 1, times: those.length, recovered };
  });
  return { setting, what, current, after: after.filter(({ times }) => times > 0) };
}

/** One that crashes has made no mistake of this kind, and is no better. */
function isBetter(iteration: PastIteration, isBad: RecoveryQuestion["isBad"]): boolean {
  return !isBad(iteration) && (iteration.wroteFiles || iteration.isAccepted);
}

/** What would not have been spent. */
interface Saving {
  readonly iterations: number;
  readonly seconds: number;
  /** As far as it is known; null when it is of none. */
  readonly costUsd: number | null;
}

interface Spent {
  readonly durationMs: number;
  readonly costUsd: number | null;
}

function savingOf(iterations: readonly Spent[]): Saving {
  const costs = iterations.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return {
    iterations: iterations.length,
    seconds: Math.round(iterations.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}

/** "4 iterations, 12m, $0.80" */
export function savingInWords({ iterations, seconds, costUsd }: Saving): string {
  if (iterations === 0) return "nothing";
  const cost = costUsd === null ? [] : [`$${costUsd.toFixed(2)}`];
  const many = iterations === 1 ? "1 iteration" : `${iterations} iterations`;
  return [many, durationInWords(seconds), ...cost].join(", ");
}

export function durationInWords(seconds: number): string {
  return formatDuration(seconds * 1_000);
}

/** The sentence that a limit comes to. */
export function limitInWords({ setting, current, values, best }: LimitFinding): string {
  if (values.length === 0) return `No value of ${setting} would have changed anything.`;
  const value = values.find((one) => one.value === best);
  if (value === undefined || best === null)
    return `No value of ${setting} would have saved anything without losing a task.`;
  const now = current === null ? "" : current === 0 ? " (now: off)" : ` (now: ${current})`;
  return `${setting} = ${best}${now} would have saved ${savingInWords(value.saved)}, and lost no task.`;
}

export function lossInWords({ tasksLost }: LimitValue): string {
  return tasksLost === 0 ? "none" : tasksLost === 1 ? "1 task" : `${tasksLost} tasks`;
}

/** The sentences that the times of one complexity come to. */
export function timeoutInWords({
  complexity,
  accepted,
  timedOut,
  timedOutInVain,
  needed,
}: TimeoutFinding): readonly string[] {
  const done =
    accepted === null
      ? `No ${complexity} iteration was accepted.`
      : `Accepted ${complexity} iterations took ${durationInWords(accepted.median)} (median), ${durationInWords(accepted.p95)} (95 of 100) and at most ${durationInWords(accepted.longest)}.`;
  if (timedOut === 0) return [done, "None timed out."];
  const later = timedOut === 1 ? "1 timed out" : `${timedOut} timed out`;
  if (needed === null) return [done, `${later}, none of them on a task that was done later: ${MORE_TIME}`];
  return [
    done,
    `${later}, ${timedOutInVain} of them on tasks that were done later: the longest needed ${durationInWords(needed.atLeast)} in its last iteration, ${durationInWords(needed.atMost)} in all.`,
  ];
}

const MORE_TIME = "a longer timeout may be what they need (ralph blocked names the command).";

export function recoveryInWords({ setting, what, current, after }: RecoveryFinding): readonly string[] {
  const now = current === null ? "" : ` (now: ${current})`;
  if (after.length === 0) return [`${setting}${now}: ${what} was never followed by another iteration.`];
  return after.map(({ inARow, times, recovered }) => {
    const many = inARow === 1 ? what : `${inARow} in a row`;
    return `${setting}${now}: after ${many}, the next one was better ${recovered} of ${times} times.`;
  });
}
