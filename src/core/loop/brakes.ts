import type { Event, Outcome } from "../events.ts";
import { hasCooledDown, nextMove } from "../limits/breaker.ts";
import { averageCost, budgetInWords, isWarningDue, likelySpent, wouldPass } from "../limits/budget.ts";
import type { Task } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { type Instant, formatDuration } from "../time.ts";
import { usedMsOf } from "./evolve-run.ts";
import { taskState, type OpenIteration, type RunState, type State } from "./state.ts";

export interface Ending {
  readonly outcome: Outcome;
  readonly reason: string;
}

/** What keeps the whole run from going on, whatever there is to do: 4 before 5. */
export function braked(state: State, run: RunState, now: Instant): Ending | null {
  return stuck(state, run) ?? cannotGoOn(run, now);
}

function stuck({ breaker }: State, run: RunState): Ending | null {
  const { maxStuck } = run.settings.limits;
  if (breaker.position === "OPEN")
    return { outcome: "stuck", reason: `the breaker is open: ${breaker.reason}` };
  if (maxStuck > 0 && run.stuckCount >= maxStuck && !run.settings.keepGoing)
    return { outcome: "stuck", reason: `no progress in ${run.stuckCount} iterations in a row` };
  return null;
}

function cannotGoOn(run: RunState, now: Instant): Ending | null {
  const { retries, maxDurationMs } = run.settings.limits;
  const reason =
    run.transientInARow > retries
      ? `${run.transientInARow} transient failures in a row`
      : maxDurationMs !== null && usedMsOf(run, now) >= maxDurationMs
        ? `the ${formatDuration(maxDurationMs)} that the run may take are over`
        : (run.budgetReached ?? unknownCost(run));
  return reason === null ? null : { outcome: "limited", reason };
}

/** What the agents say that only a person can bring back; null when there are none. */
export function lockedOutInWords({ lockedOut }: RunState): string | null {
  const said = Object.entries(lockedOut).map(
    ([agent, { message, kind, advice }]) =>
      `${agent} ${kind === "credit" ? "has no credit left" : "may not work"}: ${message}${advice === undefined ? "" : ` (${advice})`}`,
  );
  return said.length === 0 ? null : said.join("; ");
}

export function misconfigurationInWords(agent: string, { failure, model }: AgentReport): string {
  const message = failure?.message ?? "the agent could not be started";
  if (failure?.kind !== "model") return message;
  return `${agent} cannot use ${model == null ? "its model" : `the model "${model}"`}: ${message}`;
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
export function beyondBudget(state: State, run: RunState, task: Task): string | null {
  const { run: budgetUsd } = run.settings.limits.budget;
  const spentUsd = likelySpent(run.spend);
  // What works beside it will have cost something, too.
  if (
    budgetUsd === null ||
    !wouldPass(spentUsd + underWayUsd(state, run), nextCost(state, run, task), budgetUsd)
  )
    return null;
  return budgetInWords("run", spentUsd, budgetUsd);
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
