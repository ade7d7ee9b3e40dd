import { maxIterationsOf } from "../limits/iteration-limits.ts";
import type { BreakerPosition } from "../limits/breaker.ts";
import { forecast } from "../limits/budget.ts";
import { hourOf } from "../limits/calls.ts";
import type { ExitSignal } from "../limits/exit-rules.ts";
import { stageOf } from "../stages/stages.ts";
import { agentFor } from "../loop/agent-for.ts";
import { promiseFor } from "../loop/promise-for.ts";
import { timeoutFor } from "../loop/timeout-for.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import { taskState, type RunState, type State, type TaskState } from "../loop/state.ts";
import { statusOf, whyBlocked } from "../loop/task-status.ts";
import type { Task } from "../plan/task.ts";
import { isoTime, type Instant } from "../time.ts";
import { inboxOf, type InboxItem } from "./inbox.ts";
import { waitingMessages, type MessageEntry } from "./messages.ts";

/** What `ralph status --json` prints and `status.json` holds. */
export interface Status {
  readonly schema: "ralph.status.v1";
  readonly run: RunStatus | null;
  readonly tasks: readonly TaskRow[];
  readonly breaker: BreakerStatus;
  readonly calls: { used: number | null; limit: number | null; resets_at: string | null };
  readonly cost: {
    readonly usd: number | null;
    readonly budget_usd: number | null;
    readonly per_accepted_task_usd: number | null;
    /** Of the whole plan, if it goes on like this. */
    readonly forecast_usd: number | null;
  };
  readonly inbox: readonly InboxItem[];
  /** What the operator has said and no agent has worked from yet. */
  readonly messages: readonly MessageEntry[];
  /** Only of an open-ended task: iterations of the rolling window. */
  readonly exit_signals?: {
    readonly test_only_loops: readonly number[];
    readonly done_signals: readonly number[];
    readonly completion_indicators: readonly number[];
  };
}

export interface BreakerStatus {
  readonly state: BreakerPosition;
  readonly no_progress: number;
  readonly same_error: number;
  readonly reason: string | null;
  readonly since: string | null;
  /** The last moves, oldest first. */
  readonly history: readonly {
    readonly at: string;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  }[];
}

/** What other projects of the store share with this one. */
export interface Shared {
  /** Calls of this hour. */
  readonly calls: number;
  readonly now: Instant;
}

export interface RunStatus {
  readonly id: string;
  readonly state: "running" | "waiting" | "ended";
  /** Its process died; the next `ralph run` goes on with it. */
  readonly interrupted: boolean;
  readonly waiting_until: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly exit_code: number | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly pid: number;
  readonly iterations: number;
  readonly max_iterations: number;
  readonly stuck_count: number;
  /** What its agents run in; null: nothing. */
  readonly sandbox: string | null;
}

export interface TaskRow {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly stage: string;
  readonly iteration: number;
  readonly max_iterations: number | null;
  /** Of the current loop; null before its first iteration. */
  readonly started_at: string | null;
  readonly completion_promise: string | null;
  readonly attempts: number;
  readonly complexity: string | null;
  readonly timeout_seconds: number | null;
  readonly timeout_from: string | null;
  readonly blocked_reason: string | null;
  /** How its last loop was given up, until the next one begins. */
  readonly failure: {
    readonly stage: string;
    readonly iterations_used: number;
    readonly last_output: string;
    readonly reason: string;
  } | null;
  readonly agent: string | null;
  readonly cost_usd: number | null;
}

/**
 * `alive`: whether the process of an open run is still there; a dead one was interrupted. `shared` is null where
 * nobody asked the store.
 */
export function projectStatus(state: State, alive: boolean, shared: Shared | null = null): Status {
  const { run, plan } = state;
  const tasks = (plan?.tasks ?? []).map((task) => taskRow(state, run, task));
  const done = tasks.filter((task) => task.status === "done").length;
  const usd = run?.spend.usd ?? null;
  return {
    schema: "ralph.status.v1",
    run: run && runStatus(run, alive),
    tasks,
    breaker: breakerStatus(state),
    calls: callsStatus(run, shared),
    cost: {
      usd,
      budget_usd: run?.settings.limits.budget.run ?? null,
      per_accepted_task_usd: usd === null || done === 0 ? null : usd / done,
      forecast_usd: run === null ? null : forecast(run.spend, done, tasks.length),
    },
    inbox: inboxOf(state),
    messages: waitingMessages(state),
    ...(run?.settings.source.kind === "prompt" && { exit_signals: exitSignals(state) }),
  };
}

function exitSignals(state: State): NonNullable<Status["exit_signals"]> {
  const signals = (state.plan?.tasks ?? []).flatMap(({ id }) => taskState(state, id).exitSignals);
  const iterations = (holds: (signal: ExitSignal) => boolean): readonly number[] =>
    signals.filter(holds).map((signal) => signal.iteration);
  return {
    test_only_loops: iterations((signal) => signal.testOnly),
    done_signals: iterations((signal) => signal.done),
    completion_indicators: iterations((signal) => signal.indicator),
  };
}

function breakerStatus({ breaker, run }: State): BreakerStatus {
  return {
    state: breaker.position,
    no_progress: run?.settings.keepGoing === true ? run.stuckCount : breaker.noProgress,
    same_error: breaker.sameError?.times ?? 0,
    reason: breaker.reason,
    since: isoOrNull(breaker.movedAt),
    history: breaker.history.map(({ at, from, to, reason }) => ({ at: isoTime(at), from, to, reason })),
  };
}

function callsStatus(run: RunState | null, shared: Shared | null): Status["calls"] {
  const limit = run?.settings.limits.callsPerHour ?? 0;
  return {
    used: shared?.calls ?? null,
    limit: limit === 0 ? null : limit,
    resets_at: shared === null ? null : isoTime(hourOf(shared.now).until),
  };
}

function runStatus(run: RunState, alive: boolean): RunStatus {
  const { end } = run;
  const waiting = run.waitingUntil !== null;
  return {
    id: run.id,
    state: end !== null || !alive ? "ended" : waiting ? "waiting" : "running",
    interrupted: end === null && !alive,
    waiting_until: isoOrNull(run.waitingUntil),
    outcome: end?.outcome ?? null,
    reason: end?.reason ?? null,
    exit_code: end === null ? null : EXIT_CODES[end.outcome],
    started_at: isoTime(run.startedAt),
    ended_at: isoOrNull(end?.at ?? null),
    pid: run.pid,
    iterations: run.iterations,
    max_iterations: run.settings.limits.maxIterations,
    stuck_count: run.stuckCount,
    sandbox: run.settings.sandbox?.kind ?? null,
  };
}

function taskRow(state: State, run: RunState | null, task: Task): TaskRow {
  const known = taskState(state, task.id);
  const settings = run?.settings;
  const timeout = settings ? timeoutFor(state, task, settings) : null;
  const stage = stageOf(settings ?? {}, task, known.stage);
  return {
    id: task.id,
    title: task.title,
    status: statusOf(state, task),
    stage: stage.name,
    iteration: known.iterations,
    max_iterations: settings ? maxIterationsOf(task, settings, stage) : null,
    started_at: known.iterations === 0 ? null : isoOrNull(known.loopSince),
    completion_promise: settings ? promiseFor(task, settings, stage) : null,
    attempts: known.failures,
    complexity: timeout?.complexity ?? null,
    timeout_seconds: timeout === null ? null : timeout.timeoutMs / 1_000,
    timeout_from: timeout?.from ?? null,
    blocked_reason: whyBlocked(known),
    failure: failureOf(known),
    agent: settings ? agentFor(state, task, settings) : task.agent,
    cost_usd: known.spend.usd,
  };
}

function failureOf({ failure }: TaskState): TaskRow["failure"] {
  if (failure === null) return null;
  const { stage, iterations, lastOutput, reason } = failure;
  return { stage, iterations_used: iterations, last_output: lastOutput, reason };
}

function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at);
}
