import type { Outcome } from "../events.ts";
import { isoTime, type Instant } from "../time.ts";
import { formatDuration } from "../duration.ts";
import { isAgentLimit } from "./agent-for.ts";
import { beyondBudget, braked, type Ending } from "./brakes.ts";
import { usedMsOf } from "./evolve-run.ts";
import { outsideWaits } from "./outside-waits.ts";
import { nextRetryAt, readyTasks, tasksInScope, waitReason } from "./select-tasks.ts";
import { waitsForDeadline } from "./question-deadlines.ts";
import { taskState, type RunState, type State } from "./state.ts";
import { isCancelled, statusOf, whyBlocked } from "./task-status.ts";
import type { Plan, Task } from "../plan/task.ts";

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
  const held = heldByOperator(state, run, plan);
  if (held !== null && !run.settings.keepGoing) return held;
  const brake = braked(state, run, now);
  return brake === null ? nothingLeft(state, run, plan, now) : unlessDone(state, run, plan, brake);
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
    const why = whyBlocked(taskState(state, blocked.id)) ?? "";
    return { outcome: "blocked", reason: `${blocked.id} is blocked: ${why}` };
  }
  return null;
}

function nothingLeft(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  const [next] = readyTasks(state, run, plan, now);
  const isReady = next !== undefined;
  const retryAt = nextRetryAt(state, run, plan, now);
  const costly = next === undefined ? null : beyondBudget(state, run, next);
  if (costly !== null) return unlessDone(state, run, plan, { outcome: "limited", reason: costly });
  if (!isReady && retryAt !== null) {
    const inVain = vainWait(state, run, retryAt);
    if (inVain !== null) return unlessDone(state, run, plan, { outcome: "limited", reason: inVain });
  }
  const canStart = isReady || retryAt !== null;
  if (canStart && run.iterations < run.settings.limits.maxIterations) return null;
  if (!canStart && waitsForDeadline(state, run, plan, now)) return null;
  const waits = canStart ? [] : outsideWaits(state, run, plan);
  return unlessDone(
    state,
    run,
    plan,
    waits.length > 0
      ? { outcome: "blocked", reason: waits.slice(0, 5).join("; ") }
      : { outcome: "exhausted", reason: exhaustion(state, run, plan, canStart) },
  );
}

function exhaustion(state: State, run: RunState, plan: Plan, canStart: boolean): string {
  if (canStart) return `the limit of ${iterationsInWords(run.settings.limits.maxIterations)} is reached`;
  const names = holding(state, run, plan).map((task) => task.id);
  return `iteration limit reached without completion: ${names.slice(0, 5).join(", ")}`;
}

/** Tasks without which the run is not complete. */
function holding(state: State, run: RunState, plan: Plan): readonly Task[] {
  return tasksInScope(run, plan).filter(
    (task) => !task.optional && !["done", "cancelled"].includes(statusOf(state, task)),
  );
}

/** What a person cancelled was all there was: nothing was completed besides. */
function isAllCancelled(state: State, run: RunState, plan: Plan): boolean {
  const tasks = tasksInScope(run, plan);
  const before = state.lastIteration - run.iterations;
  return (
    tasks.some(({ id }) => isCancelled(state, id)) &&
    !tasks.some(({ id }) => (taskState(state, id).completion?.iteration ?? 0) > before)
  );
}

/** Why it makes no sense to wait until then, or null when it does. */
function vainWait(state: State, run: RunState, until: Instant): string | null {
  const { noWait, limits } = run.settings;
  const isLimit = until === state.callsExhaustedUntil || isAgentLimit(state, until);
  if (noWait && isLimit) return `${waitReason(state, until)} until ${isoTime(until)}`;
  const { maxDurationMs } = limits;
  if (maxDurationMs === null || usedMsOf(run, until) < maxDurationMs) return null;
  return `${waitReason(state, until)} until ${isoTime(until)}, and the run may take no longer than ${formatDuration(maxDurationMs)}`;
}

/** Where everything is done, nothing else counts; otherwise what only a person can move counts for more. */
function unlessDone(state: State, run: RunState, plan: Plan, ending: Ending): Ending {
  if (holding(state, run, plan).length === 0) {
    if (isAllCancelled(state, run, plan))
      return { outcome: "stopped", reason: "what was to do is cancelled" };
    const isEmpty = tasksInScope(run, plan).length === 0;
    const isCut = tasksInScope(run, plan).some(({ id }) => isCancelled(state, id));
    const all = isCut ? "every task is done that is not cancelled" : "every task is done";
    return { outcome: "completed", reason: isEmpty ? "there is nothing to do" : all };
  }
  const held = heldByOperator(state, run, plan);
  if (held === null || ending.outcome === "exhausted") return held ?? ending;
  return { ...held, reason: `${held.reason}; and ${ending.reason}` };
}

function iterationsInWords(count: number): string {
  return count === 1 ? "1 iteration" : `${count} iterations`;
}
