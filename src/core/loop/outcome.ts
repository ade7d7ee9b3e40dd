import { few } from "../text.ts";
import type { Outcome, Event } from "../events.ts";
import { isoTime, formatDuration, type Instant } from "../time.ts";
import { isAgentLimit } from "./stages.ts";
import {
  averageCost,
  budgetInWords,
  hasCooledDown,
  isWarningDue,
  likelySpent,
  nextMove,
  wouldPass,
} from "./brakes.ts";
import { usedMsOf } from "./evolve.ts";
import {
  earliest,
  nextRetryAt,
  readyTasks,
  requiredTasks,
  tasksInScope,
  waitReason,
  isCancelled,
  statusOf,
  whyBlocked,
} from "./task-status.ts";
import { taskState, type OpenIteration, type RunState, type State } from "../state.ts";
import type { Plan, Task, TaskId } from "../plan.ts";

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

export interface Ending {
  readonly outcome: Outcome;
  readonly reason: string;
}

/** Why the run should take up no further work, or null while there is some. */
export function endingOf(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  if (run.stop !== null) return { outcome: "stopped", reason: "stopped on request" };
  if (run.misconfigured !== null) return { outcome: "misconfigured", reason: run.misconfigured };
  const held = heldByOperator(state, run, plan, (task) => !waitsForAcceptance(state, task));
  if (held !== null && !run.settings.keepGoing) return held;
  const ending = braked(state, run, now) ?? nothingLeft(state, run, plan, now);
  return ending && unlessDone(state, run, plan, ending);
}

/** What keeps the whole run from going on, whatever there is to do: 4 before 5. */
function braked({ breaker }: State, run: RunState, now: Instant): Ending | null {
  const { retries, maxDurationMs, maxStuck } = run.settings.limits;
  if (breaker.position === "OPEN")
    return { outcome: "stuck", reason: `the breaker is open: ${breaker.reason}` };
  if (maxStuck > 0 && run.stuckCount >= maxStuck && !run.settings.keepGoing)
    return { outcome: "stuck", reason: `no progress in ${run.stuckCount} iterations in a row` };
  const reason =
    run.transientInARow > retries
      ? `${run.transientInARow} transient failures in a row`
      : maxDurationMs !== null && usedMsOf(run, now) >= maxDurationMs
        ? `the ${formatDuration(maxDurationMs)} that the run may take are over`
        : (run.budgetReached ?? unknownCost(run));
  return reason === null ? null : { outcome: "limited", reason };
}

/** The work is done, and only its acceptance is open: this holds up no other task. */
function waitsForAcceptance(state: State, { id }: Task): boolean {
  return taskState(state, id).question?.acceptance != null;
}

/** A task that only a person can move, in the order of the exit codes: 3 before 2 before 4. */
function heldByOperator(
  state: State,
  run: RunState,
  plan: Plan,
  isMeant: (task: Task) => boolean = () => true,
): Ending | null {
  const tasks = requiredTasks(run, plan).filter(isMeant);
  const undecided = tasks.find((task) => statusOf(state, task) === "undecided");
  if (undecided) {
    const question = taskState(state, undecided.id).question?.text ?? "";
    return { outcome: "undecided", reason: `${undecided.id} asks: ${question}` };
  }
  const blocked = tasks
    .filter((task) => statusOf(state, task) === "blocked")
    .map(({ id }) => taskState(state, id));
  const first = blocked.find(({ isStuck }) => !isStuck) ?? blocked[0];
  if (first === undefined) return null;
  return first.isStuck
    ? { outcome: "stuck", reason: `${first.id} is stuck: ${first.blockedReason ?? ""}` }
    : { outcome: "blocked", reason: `${first.id} is blocked: ${whyBlocked(first) ?? ""}` };
}

/** Whether the run waits for a person instead of ending. */
export function staysOpen(state: State, run: RunState, plan: Plan, now: Instant): boolean {
  const { stay, limits } = run.settings;
  if (stay !== true || run.stop !== null || run.misconfigured !== null) return false;
  if (braked(state, run, now) !== null || run.iterations >= limits.maxIterations) return false;
  if (readyTasks(state, run, plan, now).length > 0 || nextRetryAt(state, run, plan, now) !== null)
    return false;
  // A question of a task's last iteration is answered for the next run.
  const canGoOn = ({ id }: Task): boolean => taskState(state, id).exhaustedIn !== run.id;
  return heldByOperator(state, run, plan, canGoOn) !== null;
}

/** When the run has taken as long as it may; null when it may take any time. */
export function timeIsOverAt({ activeSince, usedMs, settings }: RunState): Instant | null {
  const { maxDurationMs } = settings.limits;
  return maxDurationMs === null ? null : activeSince + maxDurationMs - usedMs;
}

function nothingLeft(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  const [next] = readyTasks(state, run, plan, now);
  const retryAt = nextRetryAt(state, run, plan, now);
  const limit =
    next !== undefined
      ? beyondBudget(state, run, next)
      : retryAt !== null
        ? whyNotToWait(state, run, retryAt)
        : null;
  if (limit !== null) return { outcome: "limited", reason: limit };
  const canStart = next !== undefined || retryAt !== null;
  if (canStart && run.iterations < run.settings.limits.maxIterations) return null;
  if (!canStart && waitsForDeadline(state, run, plan, now)) return null;
  const lockedOut = canStart ? null : lockedOutInWords(run);
  if (lockedOut !== null) return { outcome: "limited", reason: lockedOut };
  const waits = canStart ? [] : outsideWaits(state, run, plan);
  return waits.length > 0
    ? { outcome: "blocked", reason: waits.slice(0, 5).join("; ") }
    : { outcome: "exhausted", reason: exhaustion(state, run, plan, canStart) };
}

function exhaustion(state: State, run: RunState, plan: Plan, canStart: boolean): string {
  const { maxIterations } = run.settings.limits;
  if (canStart) return `the limit of ${maxIterations} iteration${maxIterations === 1 ? "" : "s"} is reached`;
  const names = holding(state, run, plan).map((task) => task.id);
  return `iteration limit reached without completion: ${names.slice(0, 5).join(", ")}`;
}

/** Tasks without which the run is not complete. */
function holding(state: State, run: RunState, plan: Plan): readonly Task[] {
  return requiredTasks(run, plan).filter((task) => !["done", "cancelled"].includes(statusOf(state, task)));
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
function whyNotToWait(state: State, run: RunState, until: Instant): string | null {
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
    return {
      outcome: "completed",
      reason: `${completion(state, run, plan)}${optionalLeft(state, run, plan)}`,
    };
  }
  const held = heldByOperator(state, run, plan);
  if (held === null || ending.outcome === "exhausted") return held ?? ending;
  const { outcome } = held.outcome === "stuck" && ending.outcome === "blocked" ? ending : held;
  return { outcome, reason: `${held.reason}; and ${ending.reason}` };
}

export const ALL_DONE = "every task is done";

function completion(state: State, run: RunState, plan: Plan): string {
  const tasks = tasksInScope(run, plan);
  if (tasks.length === 0) return "there is nothing to do";
  if (tasks.some(({ id }) => isCancelled(state, id))) return `${ALL_DONE} that is not cancelled`;
  const others = plan.tasks.filter(
    (task) => !tasks.includes(task) && !task.optional && statusOf(state, task) !== "done",
  ).length;
  if (run.settings.onlyTasks === null || others === 0) return ALL_DONE;
  const chosen = tasks.length === 1 ? "the chosen task is done" : "the chosen tasks are done";
  return `${chosen}, ${others === 1 ? "1 other is" : `${others} others are`} open`;
}

/** Nobody finds a task that no run works on, unless it is said. */
function optionalLeft(state: State, run: RunState, plan: Plan): string {
  if (run.settings.onlyTasks !== null) return "";
  const left = plan.tasks.filter((task) => task.optional && statusOf(state, task) !== "done").length;
  if (left === 0) return "";
  const are = left === 1 ? "1 optional one is" : `${left} optional ones are`;
  return `; ${are} ${run.settings.includeOptional === true ? "open" : `left (${INCLUDE_OPTIONAL})`}`;
}

const INCLUDE_OPTIONAL = "ralph run --include-optional";

/** No deadline is further away; a calendar has no room for what an agent may write. */
export const DEADLINE_MAX_MS = 365 * 24 * 3_600_000;

/** Tasks whose question nobody answered in time: the agent's own default is the answer. */
export function overdueQuestions(state: State, run: RunState, plan: Plan, now: Instant): readonly TaskId[] {
  return deadlines(state, run, plan).flatMap(({ task, at }) => (at <= now ? [task] : []));
}

/** The next moment at which a question answers itself. */
export function nextDeadline(state: State, run: RunState, plan: Plan, now: Instant): Instant | null {
  return earliest(deadlines(state, run, plan).flatMap(({ at }) => (at > now ? [at] : [])));
}

/** Whether a run that has nothing else to do stays for it. */
function waitsForDeadline(state: State, run: RunState, plan: Plan, now: Instant): boolean {
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

/** The open tasks that wait for something which is not among the tasks, so that no run can do it; each as a sentence. */
export function outsideWaits(state: State, run: RunState, plan: Plan): readonly string[] {
  const open = requiredTasks(run, plan).filter((task) => statusOf(state, task) === "todo");
  const ids = new Set(plan.tasks.map(({ id }) => id));
  const outside = open
    .filter(({ dependsOn }) => !dependsOn.every((id) => ids.has(id)))
    .map((task) => `${task.id} ${outsideInWords(plan, task) ?? ""}`);
  return [...outside, ...optionalWaits(state, run, plan, open)];
}

function optionalWaits(
  state: State,
  { settings }: RunState,
  plan: Plan,
  open: readonly Task[],
): readonly string[] {
  if (settings.includeOptional === true || settings.onlyTasks !== null) return [];
  const optional = plan.tasks.filter((task) => task.optional && statusOf(state, task) !== "done");
  const ids = new Set(optional.map(({ id }) => id));
  return open.flatMap(({ id, dependsOn }) => {
    const found = dependsOn.filter((one) => ids.has(one));
    const are = found.length === 1 ? "is" : "are";
    return found.length === 0
      ? []
      : [`${id} waits for ${few(found)}, which ${are} optional (${INCLUDE_OPTIONAL})`];
  });
}

/** The end of a sentence that begins with the task's id; null when it waits for nothing of the kind. */
export function outsideInWords({ source, tasks }: Plan, { dependsOn }: Task): string | null {
  const outside = dependsOn.filter((id) => tasks.every((other) => other.id !== id));
  if (outside.length === 0) return null;
  const are = outside.length === 1 ? "is" : "are";
  return `waits for ${few(outside)}, which ${are} not done and not among the tasks of ${source.label}`;
}

/** The run has ended as blocked, and no task is: nobody was told of the reason by a fact of its own. */
export function isBlockedOutside(state: State): boolean {
  const { run, plan } = state;
  if (run?.end?.outcome !== "blocked" || plan === null) return false;
  const isBlocked = tasksInScope(run, plan).some((task) => statusOf(state, task) === "blocked");
  return !isBlocked && outsideWaits(state, run, plan).length > 0;
}

/** What the agents say that only a person can bring back; null when there are none. */
function lockedOutInWords({ lockedOut }: RunState): string | null {
  const said = Object.entries(lockedOut).map(
    ([agent, { message, kind, advice }]) =>
      `${agent} ${kind === "credit" ? "has no credit left" : "may not work"}: ${message}${advice === undefined ? "" : ` (${advice})`}`,
  );
  return said.length === 0 ? null : said.join("; ");
}

/** A budget of which nobody knows what is spent cannot be kept. */
function unknownCost({ settings, spend, unpriced }: RunState): string | null {
  const { run, task, day } = settings.limits.budget;
  const hasBudget = run !== null || task !== null || day !== null;
  if (!hasBudget || unpriced === null || spend.known > 0) return null;
  const why =
    unpriced === ""
      ? "the agent did not tell what it used"
      : `the model has no price: add [prices."${unpriced}"] to the configuration`;
  return `there is a budget, and nobody knows what the agent costs: ${why}`;
}

/** Whether the next iteration, of this task, would cost more than is left of the run's budget. */
function beyondBudget(state: State, run: RunState, task: Task): string | null {
  const { run: budgetUsd } = run.settings.limits.budget;
  const spentUsd = likelySpent(run.spend);
  // What works beside it will have cost something, too.
  const soonUsd = spentUsd + underWayUsd(state, run);
  const isBeyond = budgetUsd !== null && wouldPass(soonUsd, nextCost(state, run, task), budgetUsd);
  return isBeyond ? budgetInWords("run", spentUsd, budgetUsd) : null;
}

/** What this iteration may still cost, by whichever budget is nearest to its end; null: any amount. */
export function leftFor(
  state: State,
  run: RunState,
  { number, task: id }: Pick<OpenIteration, "number" | "task">,
  spentTodayUsd: number,
): number | null {
  const { run: whole, task, day } = run.settings.limits.budget;
  const others = state.iterations.filter((open) => open.number !== number);
  const besideUsd = underWayUsd({ iterations: others }, run);
  const left = [
    whole === null ? null : whole - likelySpent(run.spend) - besideUsd,
    task === null ? null : task - (taskState(state, id).spend.usd ?? 0),
    day === null ? null : day - spentTodayUsd - besideUsd,
  ].filter((usd) => usd !== null);
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

/** What iterations that run now may cost: nobody knows which of them is as dear as the dearest so far. */
export function underWayUsd({ iterations }: Pick<State, "iterations">, run: RunState): number {
  return iterations.length * (run.spend.highest ?? 0);
}

/** With a budget the first iteration goes alone: before it has ended nobody knows how many may work side by side. */
export function costsUnseen({ iterations }: State, { settings, spend }: RunState): boolean {
  const { run, day } = settings.limits.budget;
  const hasBudget = run !== null || day !== null;
  return hasBudget && spend.known === 0 && iterations.length > 0;
}

/** Judged by the task's own iterations so far, else by those of the run. */
export function nextCost(state: State, run: RunState, task: Task): number {
  return averageCost(taskState(state, task.id).spend) ?? averageCost(run.spend) ?? 0;
}

/** Said once a run. */
export function budgetWarning({ id, settings, spend, budgetsNeared }: RunState): Event | null {
  const { run: budgetUsd } = settings.limits.budget;
  const spentUsd = likelySpent(spend);
  if (budgetUsd === null || budgetsNeared.includes("run") || !isWarningDue(spentUsd, budgetUsd)) return null;
  return { type: "budget.neared", run: id, budget: "run", spentUsd, budgetUsd };
}

/** How the breaker moves after an iteration; `state` is the one after its verdict. */
export function breakerMoves(
  state: State,
  run: RunState,
  madeProgress: boolean,
  head: string | null,
): readonly Event[] {
  const { breaker } = state;
  const move = nextMove(breaker, run.settings.breaker, madeProgress);
  if (move === null) return [];
  return [{ type: "breaker.moved", run: run.id, from: breaker.position, ...move, head }];
}

/** An open breaker gets a new chance by what a person did, or by time. */
export function breakerChance(state: State, run: RunState, now: Instant): Event | null {
  const { breaker, personActed } = state;
  if (breaker.position !== "OPEN") return null;
  const cooldown = hasCooledDown(breaker, run.settings.breaker, now) ? "it was open for long enough" : null;
  const reason = personActed ?? cooldown;
  if (reason === null) return null;
  return { type: "breaker.moved", run: run.id, from: "OPEN", to: "HALF_OPEN", reason, head: null };
}
