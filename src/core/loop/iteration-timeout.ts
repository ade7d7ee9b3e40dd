import { literal } from "../glob.ts";
import type { Task } from "../plan.ts";
import { MODE_TIMEOUT_MS, type Settings } from "../settings.ts";
import { taskState, type State } from "../state.ts";
import { agentFor, type StageSettings } from "./stages.ts";
import { type Instant, SECOND_MS } from "../time.ts";

export interface TimeoutSettings {
  /** False: the timeout of the mode, whatever else is said here. */
  readonly enabled: boolean;
  readonly complexityScaling: boolean;
  readonly failureScaling: boolean;
  readonly maxMs: number;
  readonly minMs: number;
  /** How many times longer after each timeout of the task. */
  readonly perTimeout: number;
  /** Whether what accepted iterations took may raise the mode's timeout times the multiplier. */
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
  const multiplier = settings.complexityScaling ? settings.levels[complexity].multiplier : 1;
  const growth = settings.failureScaling ? settings.perTimeout ** request.timeoutsSoFar : 1;
  const [formula, learned] = [modeMs * multiplier, learnedBaseMs(request)];
  return {
    // Quick iterations say nothing about a slow one: what was learned never shortens a limit.
    timeoutMs: clamp(Math.max(formula, learned) * growth, settings),
    from: learned > formula ? "learned" : "formula",
    complexity,
  };
}

function learnedBaseMs({ learnedMs, settings }: TimeoutRequest): number {
  if (!settings.learn || learnedMs.length < ENOUGH_TO_LEARN_FROM) return 0;
  // By nearest rank: a duration that really occurred.
  const rank = Math.ceil((learnedMs.length * PERCENTILE) / 100);
  return LEARNED_FACTOR * (learnedMs.toSorted((a, b) => a - b)[rank - 1] ?? 0);
}

function clamp(ms: number, { minMs, maxMs }: TimeoutSettings): number {
  return Math.round(Math.max(minMs, Math.min(ms, maxMs)));
}

/** Failed iterations of a task that ran out of time, of those that count towards `max_attempts`. */
export interface TimedOutAttempts {
  readonly count: number;
  /** The last of them. */
  readonly iteration: number;
  readonly timeoutMs: number;
}

/** How much work a task looks like, from least to most. */
export type Complexity = "simple" | "medium" | "complex" | "ui_heavy";

interface ComplexityLevel {
  /** What the timeout of the mode is multiplied with. */
  readonly multiplier: number;
  /** Words, or several words in a row, that a task of this level has. */
  readonly keywords: readonly string[];
}

export const DEFAULT_COMPLEXITY: Readonly<Record<Complexity, ComplexityLevel>> = {
  simple: { multiplier: 1, keywords: ["fix", "update", "refactor", "add"] },
  medium: { multiplier: 1.5, keywords: ["test", "mock", "fixture"] },
  complex: { multiplier: 2, keywords: ["CLI", "command", "parser"] },
  ui_heavy: { multiplier: 3, keywords: ["UI", "View", "Chart", "Dashboard", "SwiftUI"] },
};

const HIGHEST_FIRST: readonly Complexity[] = ["ui_heavy", "complex", "medium", "simple"];
const MANY_CRITERIA = 4;

/** By words: the highest level with one of its keywords, and one more when there is much to accept. */
export function complexityOf(
  task: Pick<Task, "title" | "description" | "criteria">,
  levels: Readonly<Record<Complexity, ComplexityLevel>>,
): Complexity {
  const known = KNOWN.get(task);
  if (known?.levels === levels) return known.complexity;
  const complexity = measure(task, levels);
  KNOWN.set(task, { levels, complexity });
  return complexity;
}

/** Every view of every task asks; a task and the levels of a run stay the same. */
const KNOWN = new WeakMap<object, { readonly levels: object; readonly complexity: Complexity }>();

function measure(
  task: Pick<Task, "title" | "description" | "criteria">,
  levels: Readonly<Record<Complexity, ComplexityLevel>>,
): Complexity {
  const texts = [task.title, task.description, ...task.criteria].map((text) => text.normalize("NFC"));
  const found = HIGHEST_FIRST.find((level) => mentionsAny(texts, levels[level].keywords)) ?? "medium";
  if (task.criteria.length < MANY_CRITERIA) return found;
  return HIGHEST_FIRST[HIGHEST_FIRST.indexOf(found) - 1] ?? found;
}

function mentionsAny(texts: readonly string[], keywords: readonly string[]): boolean {
  // Taken literally, except that the words of a keyword may be any white space apart.
  const patterns = keywords.map((keyword) =>
    literal(keyword.normalize("NFC").trim()).replaceAll(/\s+/g, String.raw`\s+`),
  );
  const meant = patterns.filter((pattern) => pattern !== "");
  if (meant.length === 0) return false;
  // `\b` knows no letters but ASCII.
  const letter = String.raw`[\p{L}\p{M}\p{N}_]`;
  const words = new RegExp(`(?<!${letter})(?:${meant.join("|")})(?!${letter})`, "iu");
  return texts.some((text) => words.test(text));
}

/** A task whose limit was used up in so many runs waits for a person. */
export const EXHAUSTED_RUNS_MAX = 3;

export function maxIterationsOf(task: Task, settings: Settings, stage: StageSettings): number {
  if (!task.loops || !stage.loops) return 1;
  const own = stage.maxIterations ?? task.maxIterations;
  const { limits, adaptiveIterations, adaptiveTimeout } = settings;
  if (own !== null || !adaptiveIterations) return own ?? limits.maxIterationsPerTask;
  // A task that needs more time an iteration needs more of them as well.
  const { multiplier } = adaptiveTimeout.levels[complexityOf(task, adaptiveTimeout.levels)];
  return Math.ceil(Number((limits.maxIterationsPerTask * multiplier).toFixed(6)));
}

const FIRST_WAIT_MS = 2 * SECOND_MS;
const LONGEST_WAIT_MS = 120 * SECOND_MS;

/**
 * When to try again after the n-th transient failure in a row: four times as long each time, with a jitter drawn from the
 * iteration's number so that the same log always gives the same answer.
 */
export function retryAt(now: Instant, failuresInARow: number, iteration: number): Instant {
  const wait = Math.min(FIRST_WAIT_MS * 4 ** Math.max(0, failuresInARow - 1), LONGEST_WAIT_MS);
  const jitter = ((iteration * 2_654_435_761) % 1_000) / 1_000;
  return Math.round(now + wait * (0.75 + jitter / 2));
}

/** Enough for a percentile; older ones tell of an older project. */
const LEARNED_MAX = 50;

/** How long the next iteration of a task may take, and why. */
export function timeoutFor(state: State, task: Task, settings: Settings): IterationTimeout {
  const known = taskState(state, task.id);
  const complexity = complexityOf(task, settings.adaptiveTimeout.levels);
  return iterationTimeout({
    task,
    modeMs: MODE_TIMEOUT_MS[settings.mode],
    overrideMs: settings.timeoutMs,
    // What a person asked of this run counts for more than what we gave the task ourselves.
    unblockedMs: known.unblockedByPerson || settings.timeoutMs === null ? known.unblockedMs : null,
    timeoutsSoFar: known.timeouts,
    learnedMs: state.learnedMs[learnedKey(agentFor(state, task, settings), complexity)] ?? [],
    settings: settings.adaptiveTimeout,
  });
}

export function withLearned(
  learned: State["learnedMs"],
  { agent, complexity }: { readonly agent: string; readonly complexity: Complexity },
  durationMs: number,
): State["learnedMs"] {
  const key = learnedKey(agent, complexity);
  return { ...learned, [key]: [...(learned[key] ?? []), durationMs].slice(-LEARNED_MAX) };
}

function learnedKey(agent: string, complexity: Complexity): string {
  return `${complexity} ${agent}`;
}

/** How many iterations the loop of a task may take: one more for each that was interrupted. */
export function iterationLimit(state: State, task: Task, settings: Settings, stage: StageSettings): number {
  const { iterations, spared } = taskState(state, task.id);
  const most = maxIterationsOf(task, settings, stage);
  return most === 1 || iterations === 0 ? most : most + spared;
}

/** The same as it is shown. */
export function iterationsShown(
  state: State,
  task: Task,
  settings: Settings,
  stage: StageSettings,
  ordinal = taskState(state, task.id).iterations,
): number {
  const most = maxIterationsOf(task, settings, stage);
  return taskState(state, task.id).spared === 0 ? most : Math.max(most, ordinal);
}
