import { usageWith } from "../report/usage.ts";
import type { EventOf, Recorded } from "../events.ts";
import { withCost } from "../limits/budget.ts";
import { withSignal } from "../limits/exit-rules.ts";
import { NEW_PROFILE, profileIteration } from "../interventions/profile.ts";
import { tallyIteration } from "../interventions/tally.ts";
import { withIteration } from "../interventions/thresholds.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { NO_CHANGES, type Leftover } from "../report/evidence.ts";
import { withLearned } from "./timeout-for.ts";
import { breakerAfter, settleRun, weigh, withPause, type Weight } from "./weigh-iteration.ts";
import { failingIn, gatesKnown, gatesKnownAt, withGateLeftovers } from "./evolve-gates.ts";
import {
  leftoversOf,
  taskState,
  withLeftovers,
  type Footing,
  type OpenIteration,
  type Phase,
  type RunState,
  type State,
  type TaskState,
} from "./state.ts";

export function iterationStarted(state: State, event: Recorded<EventOf<"iteration.started">>): State {
  const task = taskState(state, event.task);
  const isFirst = task.footing === null;
  const baseline = isFirst ? (task.baseline ?? gatesKnownAt(state, event.head)) : task.baseline;
  const { byAgents } = leftoversOf(state, event.task);
  const open: OpenIteration = {
    number: event.iteration,
    run: event.run,
    task: event.task,
    stage: event.stage,
    ordinal: event.ordinal,
    maxIterations: event.maxIterations,
    lane: event.lane,
    agent: event.agent,
    startedAt: event.at,
    timeoutMs: event.timeoutMs,
    complexity: event.complexity,
    head: event.head,
    branch: event.branch,
    marker: event.marker,
    worker: event.worker ?? null,
    leftovers: byAgents,
    orphaned: false,
    halftimePassed: false,
    phase: { is: "running" },
  };
  return {
    ...state,
    lastIteration: event.iteration,
    iterations: [...state.iterations, open],
    run: state.run && { ...state.run, iterations: state.run.iterations + 1, waitingUntil: null },
    tally: isFirst ? { ...state.tally, tasksStarted: state.tally.tasksStarted + 1 } : state.tally,
    tasks: {
      ...state.tasks,
      [event.task]: {
        ...task,
        footing: footingAt(task.footing, event.head, byAgents),
        baseline,
        failingGates: isFirst ? failingIn(baseline ?? []) : task.failingGates,
        iterations: event.ordinal,
        loopSince: task.iterations === 0 ? event.at : task.loopSince,
        allIterations: task.allIterations + 1,
        failure: null,
        retryAt: null,
        question: usedNow(task, event.iteration),
      },
    },
  };
}

export function halftimePassed(state: State, event: Recorded<EventOf<"halftime.passed">>): State {
  return {
    ...state,
    iterations: state.iterations.map((open) =>
      open.number === event.iteration ? { ...open, halftimePassed: true } : open,
    ),
  };
}

export function iterationReported(state: State, event: Recorded<EventOf<"iteration.ended">>): State {
  const cost = event.report.usage.costUsd;
  const task = taskState(state, event.task);
  return {
    ...inPhase(state, event.iteration, () => ({ is: "ended", report: event.report })),
    run: state.run && {
      ...state.run,
      spend: withCost(state.run.spend, cost),
      unpriced: unpricedAfter(state.run, event.report),
    },
    tally: { ...state.tally, costUsd: addKnown(state.tally.costUsd, cost) },
    tasks: {
      ...state.tasks,
      [event.task]: { ...task, spend: withCost(task.spend, cost), session: sessionAfter(state, event) },
    },
  };
}

/** One that failed by itself is not gone on with: what it failed of is in it. */
function sessionAfter(
  state: State,
  { run, task, iteration, report }: EventOf<"iteration.ended">,
): TaskState["session"] {
  const open = state.iterations.find(({ number }) => number === iteration);
  const id = report.sessionId ?? null;
  const before = taskState(state, task).session;
  const used = before?.id === id ? usageWith(before.used, report.usage) : report.usage;
  const isUsable = report.failure === null || ["limit", "transient"].includes(report.failure.class);
  if (open === undefined || id === null || !isUsable) return null;
  return { run, agent: open.agent, id, worker: open.worker, used };
}

export function iterationObserved(state: State, event: Recorded<EventOf<"evidence.collected">>): State {
  const { evidence } = event;
  const task = taskState(state, event.task);
  const footing = task.footing && {
    ...task.footing,
    head: evidence.headAfter,
    changed: evidence.changedSinceTaskBegan,
  };
  const observed: State = {
    ...inPhase(state, event.iteration, (phase) =>
      phase.is === "ended" ? { is: "observed", report: phase.report, evidence } : phase,
    ),
    tasks: { ...state.tasks, [event.task]: { ...task, footing } },
  };
  const left = { byAgents: evidence.uncommitted, byGates: evidence.leftByGates, gatesRan: null };
  return withLeftovers(observed, event.task, left);
}

export function iterationChecked(state: State, event: Recorded<EventOf<"gates.checked">>): State {
  const open = state.iterations.find((iteration) => iteration.number === event.iteration);
  if (open?.phase.is !== "observed") return state;
  const { evidence } = open.phase;
  const gates = event.gates.map(({ name, status, exitCode, durationMs, failures }) => ({
    name,
    status,
    exitCode,
    durationMs,
    failures,
  }));
  const isAllCommitted = evidence.uncommitted.length === 0;
  const checked = gatesKnown(
    inPhase(state, event.iteration, (phase) =>
      phase.is === "observed" ? { ...phase, is: "checked", gates: event.gates } : phase,
    ),
    evidence.headAfter,
    isAllCommitted ? gates : null,
  );
  return withLeftovers(
    checked,
    event.task,
    withGateLeftovers(leftoversOf(state, event.task), event.leftovers),
  );
}

/** Only of an agent that ended well: whoever was cut off could not tell. */
function unpricedAfter(
  { unpriced }: RunState,
  { ending, failure, usage, model }: AgentReport,
): string | null {
  const isSilent = ending.is === "exited" && failure === null && usage.costUsd === null;
  return isSilent ? (model ?? "") : unpriced;
}

/** Closes the iteration and settles every counter; nothing counts against an iteration with progress. */
export function iterationJudged(state: State, event: Recorded<EventOf<"verdict.reached">>): State {
  const open = state.iterations.find((iteration) => iteration.number === event.iteration);
  if (open === undefined || open.phase.is === "running") return state;
  const { report } = open.phase;
  const { tookDefault } = taskState(state, open.task);
  const weight = weigh(report, event.verdict, event.madeProgress, tookDefault);
  return {
    ...state,
    ...statistics(state, open, event, weight),
    judged: state.judged + 1,
    agentLimits:
      weight === "limited" && event.retryAt !== null
        ? { ...state.agentLimits, [open.agent]: event.retryAt }
        : state.agentLimits,
    iterations: state.iterations.filter((iteration) => iteration !== open),
    tasks: { ...state.tasks, [open.task]: settleTask(taskState(state, open.task), open, event, weight) },
    run:
      state.run &&
      withPause(
        settleRun(state.run, weight, report.failure?.message ?? null),
        open.agent,
        weight,
        event.retryAt,
      ),
    breaker: breakerAfter(state, report, weight),
  };
}

const SAYS_SOMETHING: ReadonlySet<Weight> = new Set(["free", "timed-out", "stuck", "progress"]);

/** Iterations that say something of the agent; not those that others ended. */
function statistics(
  state: State,
  open: OpenIteration,
  event: Recorded<EventOf<"verdict.reached">>,
  weight: Weight,
): Pick<State, "tally" | "profiles" | "learnedMs"> {
  const { tally, profiles, learnedMs } = state;
  if (!SAYS_SOMETHING.has(weight) || !("evidence" in open.phase)) return { tally, profiles, learnedMs };
  const { report, evidence } = open.phase;
  if (report.ending.is === "interrupted" || report.ending.is === "stopped")
    return { tally, profiles, learnedMs };
  const filesWritten = evidence.changed.files;
  const isAccepted = event.verdict === "accepted";
  const corrections = weight === "free" ? 0 : taskState(state, open.task).feedback.length;
  const citations = report.signals?.citations.length ?? 0;
  const profile = profiles[open.agent] ?? NEW_PROFILE;
  return {
    tally: tallyIteration(tally, {
      madeProgress: event.madeProgress || weight === "free",
      isAccepted,
      filesWritten,
      corrections,
    }),
    profiles: {
      ...profiles,
      [open.agent]: profileIteration(profile, { filesWritten, citations, isAccepted }),
    },
    learnedMs: isAccepted ? withLearned(learnedMs, open, report.durationMs) : learnedMs,
  };
}

function settleTask(
  task: TaskState,
  open: OpenIteration,
  event: Recorded<EventOf<"verdict.reached">>,
  weight: Weight,
): TaskState {
  if (weight === "retried") return { ...task, iterations: task.iterations - 1, retryAt: event.retryAt };
  // The agent waits, not the task: another agent may take it up.
  if (weight === "limited" || weight === "locked-out") return { ...task, iterations: task.iterations - 1 };
  // A single attempt that was cut off has not been made.
  if (weight === "free") return open.maxIterations === 1 ? { ...task, iterations: 0 } : task;
  if (weight === "misconfigured") return task;
  const failed = event.verdict === "rejected" || event.verdict === "failed";
  const costsAttempt = failed && weight !== "stuck";
  const answered = task.question?.usedIn === event.iteration;
  return {
    ...task,
    timeouts:
      open.phase.is !== "running" && open.phase.report.ending.is === "timed-out"
        ? task.timeouts + 1
        : task.timeouts,
    // What could not be said while it ran is said next time.
    feedback: task.feedback.filter(({ iteration }) => iteration === event.iteration),
    feedbackLeads: false,
    drops: 0,
    watched: withIteration(task.watched, event.iteration),
    failingGates: open.phase.is === "checked" ? failingIn(open.phase.gates) : task.failingGates,
    exitSignals:
      event.exitSignal === null ? task.exitSignals : withSignal(task.exitSignals, event.exitSignal),
    question: answered ? null : task.question,
    failures: failed ? task.failures + 1 : 0,
    tookDefault: task.tookDefault && weight !== "progress",
    attempts: costsAttempt ? task.attempts + 1 : failed ? task.attempts : 0,
    stuckCount: weight === "stuck" ? task.stuckCount + 1 : weight === "progress" ? 0 : task.stuckCount,
  };
}

function footingAt(footing: Footing | null, head: string | null, leftovers: readonly Leftover[]): Footing {
  if (footing !== null && footing.head === head) return footing;
  const earlier = footing?.changed ?? NO_CHANGES;
  return { first: footing?.first ?? head, base: head, head, earlier, changed: earlier, leftovers };
}

function usedNow(task: TaskState, iteration: number): TaskState["question"] {
  const { question } = task;
  return question !== null && question.answer !== null ? { ...question, usedIn: iteration } : question;
}

function inPhase(state: State, number: number, change: (phase: Phase) => Phase): State {
  return {
    ...state,
    iterations: state.iterations.map((open) =>
      open.number === number ? { ...open, phase: change(open.phase) } : open,
    ),
  };
}

/** Unknown plus unknown stays unknown; a known part is worth showing. */
function addKnown(sum: number | null, more: number | null): number | null {
  return more === null ? sum : (sum ?? 0) + more;
}
