import type { Outcome } from "../events.ts";
import { isoTime, type Instant } from "../time.ts";
import { isAgentLimit } from "./agent-for.ts";
import { nextRetryAt, readyTasks, tasksInScope } from "./select-tasks.ts";
import { taskState, type RunState, type State } from "./state.ts";
import { statusOf } from "./task-status.ts";
import type { Plan } from "../plan/task.ts";

export interface Ending {
  readonly outcome: Outcome;
  readonly reason: string;
}

export const EXIT_CODES: Readonly<Record<Outcome, number>> = {
  completed: 0,
  exhausted: 1,
  blocked: 2,
  undecided: 3,
  stuck: 4,
  limited: 5,
  misconfigured: 64,
  stopped: 130,
};

/** Why the run should take up no further work, or null while there is some. */
export function endingOf(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  if (run.stop !== null) return { outcome: "stopped", reason: "stopped on request" };
  if (run.misconfigured !== null) return { outcome: "misconfigured", reason: run.misconfigured };
  const held = run.settings.keepGoing ? null : heldByOperator(state, run, plan);
  return held ?? braked(run) ?? nothingLeft(state, run, plan, now);
}

/** A task that only a person can move, in the order of the exit codes: 3 before 2. */
function heldByOperator(state: State, run: RunState, plan: Plan): Ending | null {
  const tasks = tasksInScope(run, plan);
  const undecided = tasks.find((task) => statusOf(state, task) === "undecided");
  if (undecided) {
    const question = taskState(state, undecided.id).question?.text ?? "";
    return { outcome: "undecided", reason: `${undecided.id} asks: ${question}` };
  }
  const blocked = tasks.find((task) => statusOf(state, task) === "blocked");
  if (blocked) {
    const why = taskState(state, blocked.id).blockedReason ?? "";
    return { outcome: "blocked", reason: `${blocked.id} is blocked: ${why}` };
  }
  return null;
}

function braked(run: RunState): Ending | null {
  const { limits } = run.settings;
  if (limits.maxStuck > 0 && run.stuckCount >= limits.maxStuck && !run.settings.keepGoing) {
    return { outcome: "stuck", reason: `no progress in ${run.stuckCount} iterations in a row` };
  }
  if (run.lockedOut !== null) {
    return { outcome: "limited", reason: `the agent is logged out: ${run.lockedOut}` };
  }
  if (run.transientInARow > limits.retries) {
    return { outcome: "limited", reason: `${run.transientInARow} transient failures in a row` };
  }
  return null;
}

function nothingLeft(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  const isReady = readyTasks(state, run, plan, now).length > 0;
  const retryAt = nextRetryAt(state, run, plan, now);
  if (!isReady && retryAt !== null && run.settings.noWait && isAgentLimit(state, retryAt)) {
    return { outcome: "limited", reason: `the agent has reached its limit until ${isoTime(retryAt)}` };
  }
  const canStart = isReady || retryAt !== null;
  if (canStart && run.iterations < run.settings.limits.maxIterations) return null;
  const tasks = tasksInScope(run, plan);
  const holding = tasks.filter((task) => !task.optional && statusOf(state, task) !== "done");
  if (holding.length === 0 && !canStart) {
    return {
      outcome: "completed",
      reason: tasks.length === 0 ? "there is nothing to do" : "every task is done",
    };
  }
  const held = heldByOperator(state, run, plan);
  if (held) return held;
  if (canStart)
    return {
      outcome: "exhausted",
      reason: `the limit of ${iterationsInWords(run.settings.limits.maxIterations)} is reached`,
    };
  const names = holding
    .map((task) => task.id)
    .slice(0, 5)
    .join(", ");
  return { outcome: "exhausted", reason: `iteration limit reached without completion: ${names}` };
}

function iterationsInWords(count: number): string {
  return count === 1 ? "1 iteration" : `${count} iterations`;
}
