import { agentNow, isAgentLimit, limitedUntil } from "./agent-for.ts";
import { taskState, type RunState, type State } from "./state.ts";
import type { Instant } from "../time.ts";
import { statusOf } from "./task-status.ts";
import type { Plan, Task } from "../plan/task.ts";
import { reviewOf } from "../review/story-cycle.ts";
import { REVIEW_MODES, reviewMode } from "../review/story-review.ts";

/** The tasks this run is about. */
export function tasksInScope(run: RunState, plan: Plan): readonly Task[] {
  const only = run.settings.onlyTasks;
  return only === null ? plan.tasks : plan.tasks.filter((task) => only.includes(task.id));
}

/** Tasks that may start now, best first: in review, resumable, then by priority, then in the order of the file. */
export function readyTasks(state: State, run: RunState, plan: Plan, now: Instant): readonly Task[] {
  return startable(state, run, plan)
    .filter((task) => readyAt(state, run, task, now) <= now)
    .toSorted(
      (a, b) =>
        modeRank(run, a) - modeRank(run, b) ||
        urgency(state, a) - urgency(state, b) ||
        (a.priority ?? Infinity) - (b.priority ?? Infinity) ||
        0,
    );
}

/** The earliest moment at which a task that waits becomes ready. */
export function nextRetryAt(state: State, run: RunState, plan: Plan, now: Instant): Instant | null {
  const times = startable(state, run, plan)
    .map((task) => readyAt(state, run, task, now))
    .filter((at) => at > now);
  return times.length === 0 ? null : Math.min(...times);
}

/** When neither a transient failure, nor the limit of whoever would work on it, nor the hour's calls are in the way. */
function readyAt(state: State, { settings, pauses }: RunState, task: Task, now: Instant): Instant {
  const agent = agentNow(state, task, settings, now);
  const calls = settings.limits.callsPerHour === 0 ? 0 : (state.callsExhaustedUntil ?? 0);
  const pause = pauses[agent] ?? 0;
  return Math.max(taskState(state, task.id).retryAt ?? 0, limitedUntil(state, agent), pause, calls);
}

export const AGENT_LIMITED = "the agent has reached its limit";

/** What is in the way until then. */
export function waitReason(state: State, until: Instant): string {
  if (until === state.callsExhaustedUntil) return "the calls of this hour are used up";
  if (isAgentLimit(state, until)) return AGENT_LIMITED;
  return "the agent's service failed; trying again";
}

/** By state, as several questions of one decision begin with them. */
const startables = new WeakMap<State, readonly Task[]>();

function startable(state: State, run: RunState, plan: Plan): readonly Task[] {
  if (run !== state.run || plan !== state.plan) return findStartable(state, run, plan);
  const tasks = startables.get(state) ?? findStartable(state, run, plan);
  startables.set(state, tasks);
  return tasks;
}

function findStartable(state: State, run: RunState, plan: Plan): readonly Task[] {
  const done = new Set(plan.tasks.filter((task) => statusOf(state, task) === "done").map((task) => task.id));
  return tasksInScope(run, plan).filter(
    (task) =>
      statusOf(state, task) === "todo" &&
      taskState(state, task.id).exhaustedIn !== run.id &&
      task.dependsOn.every((id) => done.has(id)),
  );
}

/** What a review asks for comes first, then what waits for one. */
function modeRank({ settings }: RunState, task: Task): number {
  const review = reviewOf(settings, task);
  return review === null ? 0 : REVIEW_MODES.indexOf(reviewMode([review]));
}

function urgency(state: State, task: Task): number {
  return taskState(state, task.id).iterations > 0 ? 0 : 1;
}
