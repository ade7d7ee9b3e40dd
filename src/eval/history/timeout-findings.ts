import type { PastIteration } from "./past-iterations.ts";
import { savingOf, type Saving } from "./saving.ts";

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
