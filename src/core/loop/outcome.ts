import { asArgument, few } from "../text.ts";
import type { Outcome, Event, EventOf } from "../events.ts";
import { isoTime, formatDuration, type Instant } from "../time.ts";
import { isAgentLimit } from "./stages.ts";
import { averageCost, budgetInWords, hasCooledDown, isWarningDue, likelySpent, wouldPass } from "./brakes.ts";
import { usedMsOf } from "./evolve.ts";
import {
  earliest,
  nextRetryAt,
  readyTasks,
  requiredTasks,
  tasksInScope,
  waitReason,
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

export type Ending = Pick<EventOf<"run.ended">, "outcome" | "reason">;

/** Why the run should take up no further work, or null while there is some. */
export function endingOf(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  if (run.stop !== null) return { outcome: "stopped", reason: "stopped on request" };
  if (run.misconfigured !== null) return { outcome: "misconfigured", reason: run.misconfigured };
  // Work that is done, and of which only the acceptance is open, holds up no other task.
  const held = heldByOperator(
    state,
    run,
    plan,
    ({ id }) => taskState(state, id).question?.acceptance == null,
  );
  if (held !== null && !run.settings.keepGoing) return held;
  const ending = braked(state, run, now) ?? nothingLeft(state, run, plan, now);
  return ending && (completion(state, run, plan) ?? unlessHeld(state, run, plan, ending));
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
      : isOverBy(run, now)
        ? `the ${formatDuration(maxDurationMs ?? 0)} that the run may take are over`
        : (run.budgetReached ?? unknownCost(run));
  return reason === null ? null : { outcome: "limited", reason };
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
  const accepted = tasks.find((task) => statusOf(state, task) === "review");
  if (accepted) return { outcome: "undecided", reason: `${accepted.id} waits for your approval` };
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

/** Whether the run has taken as long as it may by then. */
function isOverBy(run: RunState, at: Instant): boolean {
  const { maxDurationMs } = run.settings.limits;
  return maxDurationMs !== null && usedMsOf(run, at) >= maxDurationMs;
}

/** When that is so; null when it may take any time. */
export function timeIsOverAt({ activeSince, usedMs, settings }: RunState): Instant | null {
  const { maxDurationMs } = settings.limits;
  return maxDurationMs === null ? null : activeSince + maxDurationMs - usedMs;
}

function nothingLeft(state: State, run: RunState, plan: Plan, now: Instant): Ending | null {
  const [next] = readyTasks(state, run, plan, now);
  const retryAt = nextRetryAt(state, run, plan, now);
  if (next !== undefined || retryAt !== null) {
    const { maxIterations } = run.settings.limits;
    const why =
      next === undefined ? whyNotToWait(state, run, retryAt ?? now) : beyondBudget(state, run, next);
    if (why !== null) return { outcome: "limited", reason: why };
    if (run.iterations < maxIterations) return null;
    const many = maxIterations === 1 ? "1 iteration" : `${maxIterations} iterations`;
    return { outcome: "exhausted", reason: `the limit of ${many} is reached` };
  }
  if (waitsForDeadline(state, run, plan, now)) return null;
  const lockedOut = lockedOutInWords(run);
  if (lockedOut !== "") return { outcome: "limited", reason: lockedOut };
  const waits = outsideWaits(state, run, plan);
  if (waits.length > 0) return { outcome: "blocked", reason: waits.slice(0, 5).join("; ") };
  const left = holding(state, run, plan);
  const failed = left.find((task) => statusOf(state, task) === "failed");
  const why = failed && taskState(state, failed.id).failure?.reason;
  if (failed !== undefined && why) return { outcome: "exhausted", reason: `${failed.id} failed: ${why}` };
  const names = left.map(({ id }) => id);
  const open = names.slice(0, 5).join(", ");
  return { outcome: "exhausted", reason: `iteration limit reached without completion: ${open}` };
}

/** Tasks without which the run is not complete. */
function holding(state: State, run: RunState, plan: Plan): readonly Task[] {
  return requiredTasks(run, plan).filter(
    (task) => !["done", "cancelled", "skipped"].includes(statusOf(state, task)),
  );
}

/** Why it makes no sense to wait until then, or null when it does. */
function whyNotToWait(state: State, run: RunState, until: Instant): string | null {
  const { noWait, limits } = run.settings;
  const isLimit = until === state.callsExhaustedUntil || isAgentLimit(state, until);
  const reason = `${waitReason(state, until)} until ${isoTime(until)}`;
  if (noWait && isLimit) return reason;
  if (!isOverBy(run, until)) return null;
  return `${reason}, and the run may take no longer than ${formatDuration(limits.maxDurationMs ?? 0)}`;
}

/** What only a person can move counts for more than a limit. */
function unlessHeld(state: State, run: RunState, plan: Plan, ending: Ending): Ending {
  const held = heldByOperator(state, run, plan);
  if (held === null || ending.outcome === "exhausted") return held ?? ending;
  const { outcome } = held.outcome === "stuck" && ending.outcome === "blocked" ? ending : held;
  return { outcome, reason: `${held.reason}; and ${ending.reason}` };
}

export const ALL_DONE = "every task is done";

/** Where everything is done, nothing else counts; null while something is open. */
function completion(state: State, run: RunState, plan: Plan): Ending | null {
  if (holding(state, run, plan).length > 0) return null;
  const { onlyTasks, includeOptional } = run.settings;
  const tasks = tasksInScope(run, plan);
  const before = state.lastIteration - run.iterations;
  const isCut = tasks.some((task) => statusOf(state, task) === "cancelled");
  // What a person cancelled was all there was: nothing was completed besides.
  if (isCut && tasks.every(({ id }) => (taskState(state, id).completion?.iteration ?? 0) <= before))
    return { outcome: "stopped", reason: "what was to do is cancelled" };
  const skipped = plan.tasks.filter((task) => statusOf(state, task) === "skipped");
  const open = plan.tasks.filter((task) => statusOf(state, task) !== "done" && !skipped.includes(task));
  const optional = onlyTasks === null ? open.filter((task) => task.optional).length : 0;
  const are = optional === 1 ? "1 optional one is" : `${optional} optional ones are`;
  // Nobody finds a task that no run works on, unless it is said.
  const left = `; ${are} ${includeOptional === true ? "open" : `left (${INCLUDE_OPTIONAL})`}`;
  const others = open.filter((task) => !tasks.includes(task) && !task.optional).length;
  const chosen = tasks.length === 1 ? "the chosen task is done" : "the chosen tasks are done";
  const done =
    tasks.length === 0
      ? "there is nothing to do"
      : isCut
        ? `${ALL_DONE} that is not cancelled`
        : onlyTasks === null || others === 0
          ? ALL_DONE
          : `${chosen}, ${others === 1 ? "1 other is" : `${others} others are`} open`;
  const was = skipped.length === 1 ? "1 was" : `${skipped.length} were`;
  const reason = `${done}${optional === 0 ? "" : left}${skipped.length === 0 ? "" : `; ${was} skipped`}`;
  return { outcome: "completed", reason };
}

const INCLUDE_OPTIONAL = "ralph run --include-optional";

/** No deadline is further away; a calendar has no room for what an agent may write. */
export const DEADLINE_MAX_MS = 365 * 24 * 3_600_000;

/** Tasks whose question nobody answered in time: the agent's own default is the answer. */
export function overdueQuestions(state: State, run: RunState, plan: Plan, now: Instant): readonly TaskId[] {
  return deadlines(state, run, plan).flatMap(([task, at]) => (at <= now ? [task] : []));
}

/** The next moment at which a question answers itself. */
export function nextDeadline(state: State, run: RunState, plan: Plan, now: Instant): Instant | null {
  return earliest(deadlines(state, run, plan).flatMap(([, at]) => (at > now ? [at] : [])));
}

type Deadline = readonly [task: TaskId, at: Instant];

function deadlines(state: State, run: RunState, plan: Plan): readonly Deadline[] {
  return tasksInScope(run, plan).flatMap((task): readonly Deadline[] => {
    const { question, exhaustedIn } = taskState(state, task.id);
    const isOpen = statusOf(state, task) === "undecided" && exhaustedIn !== run.id;
    if (!isOpen || question?.default == null || question.deadlineAt === null) return [];
    return [[task.id, question.deadlineAt]];
  });
}

/** Whether a run that has nothing else to do stays for it. */
function waitsForDeadline(state: State, run: RunState, plan: Plan, now: Instant): boolean {
  const { keepGoing, noWait, limits } = run.settings;
  const hasIterations = run.iterations < limits.maxIterations;
  const deadline = nextDeadline(state, run, plan, now);
  if (!keepGoing || noWait || !hasIterations || deadline === null) return false;
  return !isOverBy(run, deadline);
}

/** The default as the answer, if it is still due. */
export function defaultAnswer(state: State, task: TaskId, now: Instant): Event | null {
  const { question } = taskState(state, task);
  if (question === null || question.answer !== null || question.default === null) return null;
  if (question.deadlineAt === null || question.deadlineAt > now) return null;
  return { type: "question.answered", task, answer: question.default, by: "deadline" };
}

/** The open tasks that wait for something which is not among the tasks, so that no run can do it; each as a sentence. */
export function outsideWaits(state: State, run: RunState, plan: Plan): readonly string[] {
  const { includeOptional, onlyTasks } = run.settings;
  const open = requiredTasks(run, plan).filter((task) => statusOf(state, task) === "todo");
  const outside = open.flatMap((task) => {
    const words = outsideInWords(plan, task);
    return words === null ? [] : [`${task.id} ${words}`];
  });
  const isOut = includeOptional === true || onlyTasks !== null;
  const waits = open.flatMap(({ id, dependsOn }) =>
    dependsOn.flatMap((one) => {
      const needed = plan.tasks.find((task) => task.id === one);
      const status = needed === undefined ? "done" : statusOf(state, needed);
      if (status === "skipped")
        return [`${id} waits for ${one}, which is skipped (ralph skip ${asArgument(one)} --undo)`];
      const isLeft = !isOut && needed?.optional === true && status !== "done";
      return isLeft ? [`${id} waits for ${one}, which is optional (${INCLUDE_OPTIONAL})`] : [];
    }),
  );
  return [...outside, ...waits];
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

/** What the agents say that only a person can bring back; empty when there are none. */
function lockedOutInWords({ lockedOut }: RunState): string {
  const said = Object.entries(lockedOut).map(([agent, { message, kind, advice }]) => {
    const why = kind === "credit" ? "has no credit left" : "may not work";
    return `${agent} ${why}: ${message}${advice === undefined ? "" : ` (${advice})`}`;
  });
  return said.join("; ");
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
  const left = Math.min(
    (whole ?? Infinity) - likelySpent(run.spend) - besideUsd,
    (task ?? Infinity) - (taskState(state, id).spend.usd ?? 0),
    (day ?? Infinity) - spentTodayUsd - besideUsd,
  );
  return left === Infinity ? null : Math.max(0, left);
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

/** An open breaker gets a new chance by what a person did, or by time. */
export function breakerChance(state: State, run: RunState, now: Instant): Event | null {
  const { breaker, personActed } = state;
  if (breaker.position !== "OPEN") return null;
  if (personActed === null && !hasCooledDown(breaker, run.settings.breaker, now)) return null;
  const reason = personActed ?? "it was open for long enough";
  return { type: "breaker.moved", run: run.id, from: "OPEN", to: "HALF_OPEN", reason, head: null };
}
