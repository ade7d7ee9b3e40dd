import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import { stageOf } from "../stages/stages.ts";
import type { Instant } from "../time.ts";
import { taskState, type State } from "./state.ts";

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

/** Until when an agent's own limit lasts; a moment that is over when it has none. */
export function limitedUntil({ agentLimits }: State, agent: string): Instant {
  return agentLimits[agent] ?? 0;
}

/** Whether it is an agent's limit that ends at this moment, and not the pause after a failure. */
export function isAgentLimit({ agentLimits }: State, until: Instant): boolean {
  return Object.values(agentLimits).includes(until);
}
