import {
  NEW_PROFILE,
  profileIteration,
  tallyIteration,
  withIteration,
} from "../interventions/intervention.ts";
import { readHandover, usageWith, type AgentReport } from "../report/agent-report.ts";
import type { EventOf, Recorded } from "../events.ts";
import { withCost, withExtraCost } from "../limits/budget.ts";
import { withSignal } from "../limits/exit-rules.ts";
import { NO_CHANGES, type Leftover, type Footing } from "../report/evidence.ts";
import { withChallenges } from "../verdict/concerns.ts";
import { withLearned } from "./agent-for.ts";
import { failingIn, gatesKnown, gatesKnownAt, withGateLeftovers } from "./evolve-worktrees.ts";
import {
  leftoversOf,
  taskState,
  withLeftovers,
  withTask,
  type OpenIteration,
  type Phase,
  type RunState,
  type State,
  type TaskState,
} from "./state.ts";
import { withReading, type Breaker } from "../limits/breaker.ts";
import { misconfigurationInWords } from "./brakes.ts";
import type { Instant } from "../time.ts";
import type { Verdict } from "../verdict/verdict.ts";

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
    run: state.run && { ...state.run, iterations: state.run.iterations + 1, ...NOT_WAITING },
    tally: isFirst ? { ...state.tally, tasksStarted: state.tally.tasksStarted + 1 } : state.tally,
    tasks: {
      ...state.tasks,
      [event.task]: {
        ...task,
        work: task.worktree === null ? { is: "in-place", branch: event.branch } : null,
        footing: footingAt(task.footing, event.head, byAgents),
        baseline,
        failingGates: isFirst ? failingIn(baseline ?? []) : task.failingGates,
        iterations: event.ordinal,
        spared: event.ordinal === 1 ? 0 : task.spared,
        loopSince: task.iterations === 0 ? event.at : task.loopSince,
        allIterations: task.allIterations + 1,
        failure: null,
        retryAt: null,
        question: usedNow(task, event.iteration),
      },
    },
  };
}

const NOT_WAITING = { waitingUntil: null, waitsForPerson: false } as const;

function halftimePassed(state: State, event: Recorded<EventOf<"halftime.passed">>): State {
  return {
    ...state,
    iterations: state.iterations.map((open) =>
      open.number === event.iteration ? { ...open, halftimePassed: true } : open,
    ),
  };
}

function iterationReported(state: State, event: Recorded<EventOf<"iteration.ended">>): State {
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

function iterationObserved(state: State, event: Recorded<EventOf<"evidence.collected">>): State {
  const { evidence } = event;
  const task = taskState(state, event.task);
  const footing = task.footing && {
    ...task.footing,
    head: evidence.headAfter,
    changed: evidence.changedSinceTaskBegan,
  };
  const observed: State = {
    ...inPhase(state, event.iteration, (phase) =>
      phase.is === "ended" ? { ...NOTHING_CHECKED, report: phase.report, evidence } : phase,
    ),
    proposals: withProposal(state, event),
    tasks: {
      ...state.tasks,
      [event.task]: {
        ...task,
        footing,
        sentBack: withChange(task.sentBack, evidence.changed.files > 0),
        isTickedByAgent: evidence.isPlanTicked === true,
      },
    },
  };
  const left = { byAgents: evidence.uncommitted, byGates: evidence.leftByGates, gatesRan: null };
  return withLeftovers(observed, event.task, left);
}

function withChange(sent: TaskState["sentBack"], hasChanged: boolean): TaskState["sentBack"] {
  return sent?.isOpen === true && hasChanged ? { ...sent, hasChanged } : sent;
}

const PROPOSALS_KEPT = 100;

/** The same once more takes the place of the one before. */
function withProposal({ proposals, run }: State, event: EventOf<"evidence.collected">): State["proposals"] {
  const { list: changes = [] } = event.evidence;
  if (changes.length === 0 || run === null) return proposals;
  const { kind, path, label } = run.settings.source;
  const same = JSON.stringify(changes);
  const others = proposals.filter((one) => JSON.stringify(one.changes) !== same);
  const proposal = { number: event.iteration, task: event.task, kind, path: path ?? label, changes };
  return [...others, proposal].slice(-PROPOSALS_KEPT);
}

function iterationChecked(state: State, event: Recorded<EventOf<"gates.checked">>): State {
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
      phase.is === "observed" ? { ...phase, gates: event.gates } : phase,
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

export const NOTHING_CHECKED = {
  is: "observed",
  gates: null,
  oldChecks: null,
  reading: null,
  readerMarker: null,
} as const;

type Advance = EventOf<
  | "halftime.passed"
  | "iteration.ended"
  | "evidence.collected"
  | "gates.checked"
  | "old-checks.ran"
  | "reader.asked"
  | "reader.answered"
>;

/** Everything between the start of an iteration and its verdict. A reading costs, and is no iteration. */
export function iterationAdvanced(state: State, event: Recorded<Advance>): State {
  switch (event.type) {
    case "halftime.passed":
      return halftimePassed(state, event);
    case "iteration.ended":
      return iterationReported(state, event);
    case "evidence.collected":
      return iterationObserved(state, event);
    case "gates.checked":
      return iterationChecked(state, event);
    case "reader.asked":
      return inPhase(state, event.iteration, (phase) =>
        phase.is === "observed" ? { ...phase, readerMarker: event.marker } : phase,
      );
    case "old-checks.ran":
      return inPhase(state, event.iteration, (phase) =>
        phase.is === "observed" ? { ...phase, oldChecks: event.oldChecks } : phase,
      );
    case "reader.answered": {
      const { reading } = event;
      const { costUsd } = reading.usage;
      const read = inPhase(state, event.iteration, (phase) =>
        phase.is === "observed" ? { ...phase, reading } : phase,
      );
      const { spend } = taskState(state, event.task);
      return withTask(
        {
          ...read,
          run: read.run && { ...read.run, spend: withExtraCost(read.run.spend, costUsd) },
          tally: { ...read.tally, costUsd: addKnown(read.tally.costUsd, costUsd) },
          agentLimits:
            reading.limitedUntil == null
              ? read.agentLimits
              : { ...read.agentLimits, [reading.agent]: reading.limitedUntil },
        },
        event.task,
        { spend: withExtraCost(spend, costUsd) },
      );
    }
  }
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
  const { tookDefault, feedback: told, left: leftBefore } = taskState(state, open.task);
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
    tasks: {
      ...state.tasks,
      [open.task]: {
        ...settleTask(taskState(state, open.task), open, event, weight),
        left: readHandover(report, leftBefore),
        ...(event.verdict === "challenged" && {
          challenged: withChallenges(taskState(state, open.task).challenged, event.concerns ?? []),
          // The agent has worked from what it was told before.
          feedback: told.filter(({ iteration }) => iteration === event.iteration),
          feedbackLeads: false,
        }),
      },
    },
    run:
      state.run &&
      withPause(settleRun(state.run, weight, open.agent, report), open.agent, weight, event.retryAt),
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
  if (weight === "interrupted" && open.maxIterations > 1) return { ...task, spared: task.spared + 1 };
  // A single attempt that was cut off, or asks, has not been made.
  if (weight === "free" || weight === "interrupted")
    return open.maxIterations === 1 ? { ...task, iterations: 0 } : task;
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
    sentBack: withAnswers(task.sentBack, open),
    failingGates: failingAfter(open, task),
    exitSignals:
      event.exitSignal === null ? task.exitSignals : withSignal(task.exitSignals, event.exitSignal),
    question: answered ? null : task.question,
    failures: failed ? task.failures + 1 : 0,
    tookDefault: task.tookDefault && weight !== "progress",
    attempts: costsAttempt ? task.attempts + 1 : failed ? task.attempts : 0,
    stuckCount: weight === "stuck" ? task.stuckCount + 1 : weight === "progress" ? 0 : task.stuckCount,
  };
}

/** The last answer to each finding counts. */
function withAnswers(sent: TaskState["sentBack"], { phase }: OpenIteration): TaskState["sentBack"] {
  const said = "report" in phase ? (phase.report.signals?.answers ?? []) : [];
  const answers = said
    .filter(({ about }) => about === "finding")
    .map(({ number, text }) => ({ number, text }));
  if (sent?.isOpen !== true || answers.length === 0) return sent;
  const kept = sent.answers.filter(({ number }) => answers.every((answer) => answer.number !== number));
  return { ...sent, answers: [...kept, ...answers] };
}

function failingAfter({ phase }: OpenIteration, task: TaskState): readonly string[] {
  return phase.is === "observed" && phase.gates !== null ? failingIn(phase.gates) : task.failingGates;
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

/**
 * What an iteration counts for: `free` ones never happened as far as brakes go; for what somebody stopped or what was
 * killed with us (`interrupted`) the task gets another; what the agent's service refused (`retried`, `limited`,
 * `locked-out`) is not even an iteration.
 */
type Weight =
  | "free"
  | "interrupted"
  | "retried"
  | "limited"
  | "locked-out"
  | "misconfigured"
  | "timed-out"
  | "stuck"
  | "progress";

function weigh(
  { ending, failure }: AgentReport,
  ruling: Verdict["ruling"],
  progress: boolean,
  tookDefault: boolean,
): Weight {
  // It was Ralph that stopped it, and it has worked: one of its iterations, and no attempt.
  if (failure?.kind === "budget") return "free";
  if (ending.is === "interrupted" || ending.is === "stopped") return "interrupted";
  if (failure?.class === "config") return "misconfigured";
  // Only money ends a limit of this kind.
  if (failure?.class === "auth" || (failure?.kind === "credit" && failure.resetsAt == null))
    return "locked-out";
  if (failure?.class === "limit") return "limited";
  if (failure !== null && failure.class !== "agent") return "retried";
  if (ruling === "accepted" || progress) return "progress";
  // Whoever asks again after a default was taken for an answer goes round in circles.
  if (ruling === "decide" && tookDefault) return "stuck";
  if (ruling === "blocked" || ruling === "decide" || ruling === "challenged") return "free";
  return ending.is === "timed-out" || ending.is === "idle" ? "timed-out" : "stuck";
}

function settleRun(run: RunState, weight: Weight, agent: string, report: AgentReport): RunState {
  switch (weight) {
    case "free":
    case "interrupted":
      return run;
    case "retried":
      return { ...run, iterations: run.iterations - 1, transientInARow: run.transientInARow + 1 };
    case "limited":
      return { ...run, iterations: run.iterations - 1 };
    case "locked-out": {
      const lockedOut = { ...run.lockedOut, ...(report.failure && { [agent]: report.failure }) };
      return { ...run, iterations: run.iterations - 1, lockedOut };
    }
    case "misconfigured":
      return { ...run, misconfigured: misconfigurationInWords(agent, report) };
    case "timed-out":
      return { ...run, transientInARow: 0 };
    case "stuck":
      return {
        ...run,
        transientInARow: 0,
        stuckCount: run.stuckCount + 1,
        stuckIterations: run.stuckIterations + 1,
      };
    case "progress":
      return { ...run, transientInARow: 0, stuckCount: 0 };
  }
}

/** The service is down for every task of the agent, not just for the one that found it out. */
function withPause(run: RunState, agent: string, weight: Weight, retryAt: Instant | null): RunState {
  const { [agent]: _over, ...others } = run.pauses;
  const pauses = weight === "retried" && retryAt !== null ? { ...others, [agent]: retryAt } : others;
  return { ...run, pauses };
}

function breakerAfter({ breaker, run }: State, report: AgentReport, weight: Weight): Breaker {
  if (run === null) return breaker;
  const { settings } = run;
  const reading = {
    madeProgress: weight === "progress",
    counts: weight === "stuck",
    errorSignature: report.signals?.errorSignature ?? null,
    outputBytes: report.transcript.bytes,
  };
  return withReading(breaker, reading, settings.breaker, settings.keepGoing);
}
