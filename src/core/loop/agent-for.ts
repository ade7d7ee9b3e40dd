import type { Task } from "../plan.ts";
import { type Settings, MODE_TIMEOUT_MS } from "../settings.ts";
import { stageOf, type StageSettings } from "./stages.ts";
import type { Instant } from "../time.ts";
import { taskState, type State } from "../state.ts";
import {
  type Complexity,
  complexityOf,
  iterationTimeout,
  maxIterationsOf,
  type IterationTimeout,
} from "./iteration-timeout.ts";

/** Who would work on a task: the stand-in of a suspended agent, the stage's, the task's own, or the run's. */
export function agentFor(state: State, task: Task, settings: Settings): string {
  const { standIn, stage } = taskState(state, task.id);
  if (standIn !== null && settings.fallbackAgents.includes(standIn)) return standIn;
  return stageOf(settings, task, stage).agent ?? task.agent ?? settings.agent;
}

/** Who works on it now: while that agent is limited, the first fallback that is not, or whose limit ends first. */
export function agentNow(state: State, task: Task, settings: Settings, now: Instant): string {
  const agent = agentFor(state, task, settings);
  if (limitedUntil(state, agent) <= now) return agent;
  const { suspended } = taskState(state, task.id);
  const others = settings.fallbackAgents.filter((name) => !suspended.includes(name));
  const free = others.find((name) => limitedUntil(state, name) <= now);
  const soonest = (a: string, b: string): string => (limitedUntil(state, b) < limitedUntil(state, a) ? b : a);
  return free ?? others.reduce(soonest, agent);
}

/** Until when an agent's own limit lasts; a moment that is over when it has none, never when a person has to act. */
export function limitedUntil({ agentLimits, run }: State, agent: string): Instant {
  return run?.lockedOut[agent] === undefined ? (agentLimits[agent] ?? 0) : Infinity;
}

/** Whether it is an agent's limit that ends at this moment, and not the pause after a failure. */
export function isAgentLimit({ agentLimits }: State, until: Instant): boolean {
  return Object.values(agentLimits).includes(until);
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

/** What the agent has to print when it is done: the stage's, the task's, or the run's. */
export function promiseFor(task: Task | undefined, settings: Settings, stage: StageSettings): string {
  return stage.promise ?? task?.promise ?? settings.promise.completion;
}
