import type { EventOf, Recorded } from "../events.ts";
import { forecast, hourOf, type BreakerPosition, type ExitSignal } from "../loop/brakes.ts";
import { iterationsShown, timeoutFor } from "../loop/iteration-timeout.ts";
import { agentFor, promiseFor, stageOf } from "../loop/stages.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import { isOpen, taskState, type RunState, type State } from "../state.ts";
import { statusOf, whyBlocked, tasksInScope, type TaskStatus } from "../loop/task-status.ts";
import type { Task } from "../plan.ts";
import { formatDuration, isoTime, type Instant } from "../time.ts";
import { doneIds, type InboxItem, inboxOf, openProposals } from "./inbox.ts";

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
  /** What agents did to the task list, so many times: `ralph tasks proposals`. */
  readonly proposals: number;
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
  /** No iteration begins until a person resumes it. */
  readonly paused: boolean;
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
  readonly status: TaskStatus;
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
  const tasks = (plan?.tasks ?? []).map((task) => taskRow(state, task));
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
    proposals: openProposals(state).length,
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
  const waiting = run.waitingUntil !== null || run.waitsForPerson;
  return {
    id: run.id,
    state: end !== null || !alive ? "ended" : waiting ? "waiting" : "running",
    interrupted: end === null && !alive,
    waiting_until: isoOrNull(run.waitingUntil),
    paused: run.isPaused,
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

export function taskRow(state: State, task: Task): TaskRow {
  const known = taskState(state, task.id);
  const { failure } = known;
  const settings = state.run?.settings;
  const timeout = settings ? timeoutFor(state, task, settings) : null;
  const stage = stageOf(settings ?? {}, task, known.stage);
  return {
    id: task.id,
    title: task.title,
    status: statusOf(state, task),
    stage: stage.name,
    iteration: known.iterations,
    max_iterations: settings ? iterationsShown(state, task, settings, stage) : null,
    started_at: known.iterations === 0 ? null : isoOrNull(known.loopSince),
    completion_promise: settings ? promiseFor(task, settings, stage) : null,
    attempts: known.failures,
    complexity: timeout?.complexity ?? null,
    timeout_seconds: timeout === null ? null : timeout.timeoutMs / 1_000,
    timeout_from: timeout?.from ?? null,
    blocked_reason: whyBlocked(known),
    failure: failure && {
      stage: failure.stage,
      iterations_used: failure.iterations,
      last_output: failure.lastOutput,
      reason: failure.reason,
    },
    agent: settings ? agentFor(state, task, settings) : task.agent,
    cost_usd: known.spend.usd,
  };
}

/** The tasks that the run is about, and how many of them are done; none without a run. */
export function scopeOf(state: State): { readonly tasks: readonly Task[]; readonly done: number } {
  const { run, plan } = state;
  const tasks = run === null || plan === null ? [] : tasksInScope(run, plan);
  return { tasks, done: tasks.filter((task) => statusOf(state, task) === "done").length };
}

function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at);
}

/** A message of the operator's; the names are part of the public contract. */
export interface MessageEntry {
  readonly id: string;
  /** Null: whatever task comes next. */
  readonly task: string | null;
  readonly text: string;
  readonly given_at: string;
  /** `working`: an agent has it, and its iteration has no verdict yet. `dropped`: its task was reset before. */
  readonly state: "waiting" | "working" | "used" | "dropped";
  readonly used: readonly {
    readonly iteration: number;
    readonly task: string;
    readonly how: "prompt" | "message";
    readonly at: string;
  }[];
}

/** Those that an agent may still work from, the oldest first; for a task that is done it is too late. */
export function waitingMessages(state: State): readonly MessageEntry[] {
  const done = doneIds(state);
  const open = state.steers.filter(({ task }) => task === null || !done.has(task));
  return open.map((steer) => messageEntry({ ...steer, at: steer.givenAt }, openState(steer)));
}

/** All of them, the oldest first; `events` are those of steering. */
export function allMessages(events: readonly Recorded[], { steers }: State): readonly MessageEntry[] {
  const uses = Map.groupBy(
    events.filter((event) => event.type === "steer.used"),
    ({ id }) => id,
  );
  return events
    .filter((event) => event.type === "steer.given")
    .map((given) => {
      const open = steers.find(({ id }) => id === given.id);
      const used = (uses.get(given.id) ?? []).map(({ iteration, task, how, at }) => {
        return { iteration, task, how, at: isoTime(at) };
      });
      const settled = used.length > 0 ? "used" : "dropped";
      return messageEntry(given, open === undefined ? settled : openState(open), used);
    });
}

function openState({ carriedIn }: State["steers"][number]): MessageEntry["state"] {
  return carriedIn === null ? "waiting" : "working";
}

function messageEntry(
  { id, task, text, at }: Pick<Recorded<EventOf<"steer.given">>, "id" | "task" | "text" | "at">,
  state: MessageEntry["state"],
  used: MessageEntry["used"] = [],
): MessageEntry {
  return { id, task, text, given_at: isoTime(at), state, used };
}

/** Those of the open run: an agent works in them, or the next iteration is waited for. */
export function activeLoops(state: State) {
  const { run } = state;
  if (!isOpen(run)) return [];
  return scopeOf(state).tasks.flatMap((task) => {
    const { iterations, loopSince, stage: current } = taskState(state, task.id);
    const open = state.iterations.find((one) => one.task === task.id);
    const isUnderWay = ["todo", "doing"].includes(statusOf(state, task)) && iterations > 0;
    if (!isUnderWay || loopSince === null) return [];
    const stage = stageOf(run.settings, task, current);
    return {
      task: task.id,
      stage: open?.stage ?? stage.name,
      iteration: iterations,
      maxIterations: open?.maxIterations ?? iterationsShown(state, task, run.settings, stage),
      startedAt: loopSince,
      promise: promiseFor(task, run.settings, stage),
    };
  });
}

/** A loop that has begun and goes on by itself. */
export type Loop = ReturnType<typeof activeLoops>[number];

/** As `ralph ralph-status --json` prints it. */
export function loopEntry(loop: Loop): Record<string, unknown> {
  return {
    task_id: loop.task,
    stage: loop.stage,
    iteration: loop.iteration,
    max_iterations: loop.maxIterations,
    started_at: isoTime(loop.startedAt),
    completion_promise: loop.promise,
  };
}

/** A worker as others have seen it. */
interface SeenWorker {
  readonly id: string;
  readonly host: string;
  /** So many tasks at a time. */
  readonly lanes: number;
  /** What it has that tasks may ask for. */
  readonly labels: readonly string[];
  readonly startedAt: Instant;
  readonly seenAt: Instant;
  /** `vanished`: it said nothing for longer than a lease, and not that it leaves. */
  readonly is: "here" | "leaving" | "vanished" | "gone";
  /** Tasks that it works on, and with an @ what it does for all. */
  readonly holds: readonly string[];
}

/** A worker of the queue, as screens show it. */
export type WorkerRow = ReturnType<typeof workerRow>;

export function workerRow({ startedAt, seenAt, ...worker }: SeenWorker) {
  const { id, host, lanes, labels, is, holds } = worker;
  return { id, host, lanes, labels, since: startedAt, seen: seenAt, is, holds };
}

/** Whether it goes on with what it holds. */
export function isAtWork({ is }: Pick<WorkerRow, "is">): boolean {
  return is === "here" || is === "leaving";
}

export function workerJson({ since, seen, ...worker }: WorkerRow) {
  return { ...worker, since: isoTime(since), seen: isoTime(seen) };
}

/** What it is doing, or what became of it. */
export function workerInWords({ is, holds, seen }: WorkerRow, now: Instant): string {
  const ago = formatDuration(Math.max(1_000, Math.round((now - seen) / 1_000) * 1_000));
  if (is === "vanished") return `vanished: not heard of for ${ago}`;
  if (is === "gone") return `left ${ago} ago`;
  const tasks = holds.filter((name) => !name.startsWith("@"));
  if (is === "leaving" && tasks.length === 0) return "leaves";
  const doing = tasks.length === 0 ? "waits for tasks" : `works on ${tasks.join(", ")}`;
  const parts = holds.flatMap((name) => PARTS[name] ?? []);
  return [doing, ...parts, ...(is === "leaving" ? ["leaves when that is done"] : [])].join(", ");
}

const PARTS: Readonly<Record<string, string>> = {
  "@keeper": "keeps the queue",
  "@merger": "merges",
};
