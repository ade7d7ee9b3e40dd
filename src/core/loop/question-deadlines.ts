import type { Event } from "../events.ts";
import type { Plan, TaskId } from "../plan/task.ts";
import type { Instant } from "../time.ts";
import { usedMsOf } from "./evolve-run.ts";
import { tasksInScope } from "./select-tasks.ts";
import { taskState, type RunState, type State } from "./state.ts";
import { statusOf } from "./task-status.ts";

/** No deadline is further away; a calendar has no room for what an agent may write. */
export const DEADLINE_MAX_MS = 365 * 24 * 3_600_000;

/** Tasks whose question nobody answered in time: the agent's own default is the answer. */
export function overdueQuestions(state: State, run: RunState, plan: Plan, now: Instant): readonly TaskId[] {
  return deadlines(state, run, plan)
    .filter(({ at }) => at <= now)
    .map(({ task }) => task);
}

/** The next moment at which a question answers itself. */
export function nextDeadline(state: State, run: RunState, plan: Plan, now: Instant): Instant | null {
  const ahead = deadlines(state, run, plan)
    .map(({ at }) => at)
    .filter((at) => at > now);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** Whether a run that has nothing else to do stays for it. */
export function waitsForDeadline(state: State, run: RunState, plan: Plan, now: Instant): boolean {
  const { keepGoing, noWait, limits } = run.settings;
  const hasIterations = run.iterations < limits.maxIterations;
  const deadline = nextDeadline(state, run, plan, now);
  if (!keepGoing || noWait || !hasIterations || deadline === null) return false;
  return limits.maxDurationMs === null || usedMsOf(run, deadline) < limits.maxDurationMs;
}

/** The default as the answer, if it is still due. */
export function defaultAnswer(state: State, task: TaskId, now: Instant): Event | null {
  const { question } = taskState(state, task);
  if (question === null || question.answer !== null || question.default === null) return null;
  if (question.deadlineAt === null || question.deadlineAt > now) return null;
  return { type: "question.answered", task, answer: question.default, by: "deadline" };
}

function deadlines(
  state: State,
  run: RunState,
  plan: Plan,
): readonly { readonly task: TaskId; readonly at: Instant }[] {
  return tasksInScope(run, plan).flatMap((task) => {
    const { question, exhaustedIn } = taskState(state, task.id);
    const isOpen = statusOf(state, task) === "undecided" && exhaustedIn !== run.id;
    if (!isOpen || question?.default == null || question.deadlineAt === null) return [];
    return [{ task: task.id, at: question.deadlineAt }];
  });
}
