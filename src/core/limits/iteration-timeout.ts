import type { Task } from "../plan/task.ts";
import { complexityOf, type Complexity, type ComplexityLevel } from "./complexity.ts";

export interface TimeoutSettings {
  /** False: the timeout of the mode, whatever else is said here. */
  readonly enabled: boolean;
  readonly complexityScaling: boolean;
  readonly failureScaling: boolean;
  readonly maxMs: number;
  readonly minMs: number;
  /** How many times longer after each timeout of the task. */
  readonly perTimeout: number;
  /** Whether what accepted iterations took replaces the mode's timeout and the multiplier. */
  readonly learn: boolean;
  readonly levels: Readonly<Record<Complexity, ComplexityLevel>>;
}

export interface TimeoutRequest {
  readonly task: Task;
  readonly modeMs: number;
  /** `--timeout` of the run. */
  readonly overrideMs: number | null;
  /** `ralph unblock --timeout` of the task. */
  readonly unblockedMs: number | null;
  /** Only timeouts, no other failures. */
  readonly timeoutsSoFar: number;
  /** Durations of accepted iterations of the same agent and complexity, newest last. */
  readonly learnedMs: readonly number[];
  readonly settings: TimeoutSettings;
}

export interface IterationTimeout {
  readonly timeoutMs: number;
  readonly from: TimeoutOrigin;
  readonly complexity: Complexity;
}

export type TimeoutOrigin = "formula" | "task" | "learned" | "override";

const ENOUGH_TO_LEARN_FROM = 5;
const LEARNED_FACTOR = 2;
const PERCENTILE = 95;

/** How long an iteration may take. What a person asked for is taken exactly as given, neither scaled nor clamped. */
export function iterationTimeout(request: TimeoutRequest): IterationTimeout {
  const { task, modeMs, settings } = request;
  const complexity = complexityOf(task, settings.levels);
  const override = request.unblockedMs ?? request.overrideMs;
  if (override !== null) return { timeoutMs: override, from: "override", complexity };
  if (task.timeoutMs !== null) return { timeoutMs: task.timeoutMs, from: "task", complexity };
  if (!settings.enabled) return { timeoutMs: modeMs, from: "formula", complexity };
  const learned = learnedBaseMs(request);
  const multiplier = settings.complexityScaling ? settings.levels[complexity].multiplier : 1;
  const growth = settings.failureScaling ? settings.perTimeout ** request.timeoutsSoFar : 1;
  return {
    timeoutMs: clamp((learned ?? modeMs * multiplier) * growth, settings),
    from: learned === null ? "formula" : "learned",
    complexity,
  };
}

/**
 * Clamped before timeouts raise it: of iterations that take seconds, a multiple of so little would stay below the
 * least timeout, and the next attempt would get no more time than the one that ran out of it.
 */
function learnedBaseMs({ learnedMs, settings }: TimeoutRequest): number | null {
  if (!settings.learn || learnedMs.length < ENOUGH_TO_LEARN_FROM) return null;
  return clamp(LEARNED_FACTOR * percentile(learnedMs), settings);
}

/** By nearest rank: a duration that really occurred. */
function percentile(values: readonly number[]): number {
  const rank = Math.ceil((values.length * PERCENTILE) / 100);
  return values.toSorted((a, b) => a - b)[rank - 1] ?? 0;
}

function clamp(ms: number, { minMs, maxMs }: TimeoutSettings): number {
  return Math.round(Math.max(minMs, Math.min(ms, maxMs)));
}
