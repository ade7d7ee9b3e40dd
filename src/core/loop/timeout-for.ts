import type { Complexity } from "../limits/complexity.ts";
import { complexityOf } from "../limits/complexity.ts";
import { iterationTimeout, type IterationTimeout } from "../limits/iteration-timeout.ts";
import type { Task } from "../plan/task.ts";
import { MODE_TIMEOUT_MS, type Settings } from "../settings.ts";
import { agentFor } from "./agent-for.ts";
import { taskState, type State } from "./state.ts";

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
