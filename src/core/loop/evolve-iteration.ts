import { NEW_PROFILE, withIteration } from "./intervention.ts";
import { readHandover, usageWith, wasCutOff, type AgentReport } from "../streams/agent-report.ts";
import type { EventOf } from "../events.ts";
import { withCost, withExtraCost, withReading, withSignal } from "./brakes.ts";
import { NO_CHANGES, type Leftovers, type WorkBase } from "../verdict/evidence.ts";
import { withChallenges } from "../verdict/concerns.ts";
import { isFailing, type GateOutcome } from "../verdict/checked-gate.ts";
import { withLearned } from "./iteration-timeout.ts";
import { steersCarried, steersSettled } from "./steer.ts";
import {
  leftoversOf,
  NOT_WAITING,
  taskState,
  withLeftovers,
  withOpen,
  withRun,
  withSpend,
  withTask,
  type Facts,
  type Folds,
  type OpenIteration,
  type Phase,
  type RunState,
  type State,
  type TaskState,
} from "../state.ts";

type Observed = Extract<Phase, { is: "observed" }>;

export const NOTHING_CHECKED = {
  is: "observed",
  gates: null,
  oldChecks: null,
  reading: null,
  readerMarker: null,
} as const;

/** One iteration from its start to its verdict, and how the gates stood before the first. */
export const iterationFolds = {
  "baseline.measured": (state, { task, gates, head, leftovers }) => {
    const measured = withTask(state, task, { baseline: gates, failingGates: failingIn(gates) });
    return withGateLeftovers(gatesKnown(measured, head, gates), task, leftovers);
  },
  "iteration.started": (state, event) => steersCarried(started(state, event), event),
  "halftime.passed": (state, { iteration }) => withOpen(state, iteration, () => ({ midRunChecked: true })),
  "iteration.ended": (state, event) => {
    const { iteration, task, report } = event;
    const { ending, failure, usage, model } = report;
    const ended = withOpen(state, iteration, () => ({ phase: { is: "ended", report } }));
    const known = withTask(ended, task, { session: sessionAfter(state, event) });
    const paid = withPaid(known, task, usage.costUsd, withCost);
    // Only an agent that ended well could have told what it cost.
    const isSilent = ending.is === "exited" && failure === null && usage.costUsd === null;
    return isSilent ? withRun(paid, { unpriced: model ?? "" }) : paid;
  },
  "evidence.collected": (state, event) => {
    const { iteration, task: id, evidence } = event;
    const { workBase, sentBack } = taskState(state, id);
    const { headAfter: head, changed, changedSinceTaskBegan } = evidence;
    const observed = withOpen(state, iteration, ({ phase }) =>
      phase.is === "ended" ? { phase: { ...NOTHING_CHECKED, report: phase.report, evidence } } : {},
    );
    const known = withTask({ ...observed, proposals: withProposal(state, event) }, id, {
      workBase: workBase && { ...workBase, head, changed: changedSinceTaskBegan },
      sentBack: sentBack?.isOpen === true && changed.files > 0 ? { ...sentBack, hasChanged: true } : sentBack,
      isTickedByAgent: evidence.isPlanTicked === true,
    });
    const left = { byAgents: evidence.uncommitted, byGates: evidence.leftByGates, gatesRan: null };
    return withLeftovers(known, id, left);
  },
  "gates.checked": (state, { iteration, task, gates, leftovers }) => {
    const open = state.iterations.find(({ number }) => number === iteration);
    if (open?.phase.is !== "observed") return state;
    const { headAfter, uncommitted } = open.phase.evidence;
    const outcomes = gates.map(({ name, status, exitCode, durationMs, failures }) => ({
      name,
      status,
      exitCode,
      durationMs,
      failures,
    }));
    const known = uncommitted.length === 0 ? outcomes : null;
    const checked = gatesKnown(whenObserved(state, iteration, { gates }), headAfter, known);
    return withGateLeftovers(checked, task, leftovers);
  },
  "old-checks.ran": (state, { iteration, oldChecks }) => whenObserved(state, iteration, { oldChecks }),
  "reader.asked": (state, { iteration, marker }) => whenObserved(state, iteration, { readerMarker: marker }),
  /** A reading costs, and is no iteration. */
  "reader.answered": (state, { iteration, task, reading }) => {
    const { agent, limitedUntil = null, usage } = reading;
    const { agentLimits } = state;
    return {
      ...withPaid(whenObserved(state, iteration, { reading }), task, usage.costUsd, withExtraCost),
      agentLimits: limitedUntil === null ? agentLimits : { ...agentLimits, [agent]: limitedUntil },
    };
  },
  "verdict.reached": (state, event) => steersSettled(judged(state, event), event),
} satisfies Partial<Folds>;

function started(state: State, event: Facts["iteration.started"]): State {
  const { type: _, position: __, iteration: number, at: startedAt, worker = null, ...about } = event;
  const { task: id, head, branch, ordinal } = about;
  const task = taskState(state, id);
  const isFirst = task.workBase === null;
  const baseline = isFirst ? (task.baseline ?? gatesKnownAt(state, head)) : task.baseline;
  const { byAgents } = leftoversOf(state, id);
  const known = task.workBase;
  const isGoingOn = known !== null && known.head === head;
  const earlier = known?.changed ?? NO_CHANGES;
  const first = known?.first ?? head;
  const base: WorkBase = { first, base: head, head, earlier, changed: earlier, leftovers: byAgents };
  const open: OpenIteration = {
    ...about,
    number,
    startedAt,
    worker,
    leftovers: byAgents,
    orphaned: false,
    midRunChecked: false,
    phase: { is: "running" },
  };
  const { tally, iterations } = state;
  const begun = withTask(state, id, {
    work: task.worktree === null ? { is: "in-place", branch } : null,
    workBase: isGoingOn ? known : base,
    baseline,
    failingGates: isFirst ? failingIn(baseline ?? []) : task.failingGates,
    iterations: ordinal,
    spared: ordinal === 1 ? 0 : task.spared,
    loopSince: task.iterations === 0 ? startedAt : task.loopSince,
    allIterations: task.allIterations + 1,
    failure: null,
    retryAt: null,
    question: task.question?.answer == null ? task.question : { ...task.question, usedIn: number },
  });
  return {
    ...withRun(begun, { iterations: (state.run?.iterations ?? 0) + 1, ...NOT_WAITING }),
    lastIteration: number,
    iterations: [...iterations, open],
    tally: isFirst ? { ...tally, tasksStarted: tally.tasksStarted + 1 } : tally,
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

/** Closes the iteration and settles every counter; nothing counts against an iteration with progress. */
function judged(state: State, event: Facts["verdict.reached"]): State {
  const { verdict, retryAt, iteration: number, concerns = [] } = event;
  const open = state.iterations.find((iteration) => iteration.number === number);
  if (open === undefined || open.phase.is === "running") return state;
  const { report } = open.phase;
  const task = taskState(state, open.task);
  const weight = weigh(report, event, task.tookDefault);
  const { run, breaker, agentLimits } = state;
  const isLimited = weight === "limited" && retryAt !== null;
  const { [open.agent]: _over, ...others } = run?.pauses ?? {};
  const reading = {
    madeProgress: weight === "progress",
    counts: weight === "stuck",
    errorSignature: report.signals?.errorSignature ?? null,
    outputBytes: report.transcript.bytes,
  };
  const challenged = {
    challenged: withChallenges(task.challenged, concerns),
    // The agent has worked from what it was told before.
    feedback: task.feedback.filter(({ iteration }) => iteration === number),
    feedbackLeads: false,
  };
  return {
    ...withTask(withStatistics(state, open, event, weight), open.task, {
      ...settledTask(task, open, event, weight),
      left: readHandover(report, task.left),
      ...(verdict === "challenged" && challenged),
    }),
    judged: state.judged + 1,
    agentLimits: isLimited ? { ...agentLimits, [open.agent]: retryAt } : agentLimits,
    iterations: state.iterations.filter((iteration) => iteration !== open),
    run: run && {
      ...run,
      ...settledRun(run, weight, open.agent, report),
      // The service is down for every task of the agent, not just for the one that found it out.
      pauses: weight === "retried" && retryAt !== null ? { ...others, [open.agent]: retryAt } : others,
    },
    breaker:
      run === null ? breaker : withReading(breaker, reading, run.settings.breaker, run.settings.keepGoing),
  };
}

const SAYS_SOMETHING: ReadonlySet<Weight> = new Set(["free", "timed-out", "stuck", "progress"]);

/** Counts the iterations that say something of the agent; not those that others ended. */
function withStatistics(
  state: State,
  open: OpenIteration,
  { madeProgress, verdict }: Facts["verdict.reached"],
  weight: Weight,
): State {
  if (!SAYS_SOMETHING.has(weight) || open.phase.is !== "observed") return state;
  const { report, evidence } = open.phase;
  if (wasCutOff(report)) return state;
  const { tally, profiles, learnedMs } = state;
  const { files } = evidence.changed;
  const isAccepted = verdict === "accepted";
  const isWasted = !madeProgress && !isAccepted && weight !== "free";
  const corrections = weight === "free" ? 0 : taskState(state, open.task).feedback.length;
  const profile = profiles[open.agent] ?? NEW_PROFILE;
  return {
    ...state,
    tally: {
      ...tally,
      iterations: tally.iterations + 1,
      wasted: tally.wasted + (isWasted ? 1 : 0),
      filesWritten: tally.filesWritten + files,
      corrected: tally.corrected + corrections,
      remedied: tally.remedied + (files > 0 || isAccepted ? corrections : 0),
    },
    profiles: {
      ...profiles,
      [open.agent]: {
        ...profile,
        iterations: profile.iterations + 1,
        filesWritten: profile.filesWritten + files,
        citations: profile.citations + (report.signals?.citations.length ?? 0),
        isOverThreshold: profile.isOverThreshold && !isAccepted,
      },
    },
    learnedMs: isAccepted ? withLearned(learnedMs, open, report.durationMs) : learnedMs,
  };
}

function settledTask(
  task: TaskState,
  open: OpenIteration,
  event: Facts["verdict.reached"],
  weight: Weight,
): Partial<TaskState> {
  if (weight === "retried") return { iterations: task.iterations - 1, retryAt: event.retryAt };
  // The agent waits, not the task: another agent may take it up.
  if (weight === "limited" || weight === "locked-out") return { iterations: task.iterations - 1 };
  if (weight === "interrupted" && open.maxIterations > 1) return { spared: task.spared + 1 };
  // A single attempt that was cut off, or asks, has not been made.
  if (weight === "free" || weight === "interrupted") return open.maxIterations === 1 ? { iterations: 0 } : {};
  if (weight === "misconfigured") return {};
  const report = open.phase.is === "running" ? null : open.phase.report;
  const isTimeout = report?.ending.is === "timed-out";
  const failed = event.verdict === "rejected" || event.verdict === "failed";
  const costsAttempt = failed && weight !== "stuck";
  const attempts = costsAttempt ? task.attempts + 1 : failed ? task.attempts : 0;
  // Of the failed iterations in a row that count, one more ran out of time.
  const timeoutsBefore = task.attempts === 0 ? 0 : (task.timedOut?.count ?? 0);
  const timedOut = { count: timeoutsBefore + 1, iteration: open.number, timeoutMs: open.timeoutMs };
  const gates = open.phase.is === "observed" ? open.phase.gates : null;
  const { exitSignal } = event;
  return {
    timeouts: task.timeouts + (isTimeout ? 1 : 0),
    timedOut: attempts === 0 ? null : costsAttempt && isTimeout ? timedOut : task.timedOut,
    // What could not be said while it ran is said next time.
    feedback: task.feedback.filter(({ iteration }) => iteration === event.iteration),
    feedbackLeads: false,
    drops: 0,
    watched: withIteration(task.watched, event.iteration),
    sentBack: withAnswers(task.sentBack, report),
    failingGates: gates === null ? task.failingGates : failingIn(gates),
    exitSignals: exitSignal === null ? task.exitSignals : withSignal(task.exitSignals, exitSignal),
    question: task.question?.usedIn === event.iteration ? null : task.question,
    failures: failed ? task.failures + 1 : 0,
    tookDefault: task.tookDefault && weight !== "progress",
    attempts,
    stuckCount: weight === "stuck" ? task.stuckCount + 1 : weight === "progress" ? 0 : task.stuckCount,
  };
}

/** The last answer to each finding counts. */
function withAnswers(sent: TaskState["sentBack"], report: AgentReport | null): TaskState["sentBack"] {
  const answers = (report?.signals?.answers ?? []).filter(({ about }) => about === "finding");
  if (sent?.isOpen !== true || answers.length === 0) return sent;
  const kept = sent.answers.filter(({ number }) => answers.every((answer) => answer.number !== number));
  return { ...sent, answers: [...kept, ...answers.map(({ number, text }) => ({ number, text }))] };
}

function whenObserved(state: State, number: number, more: Partial<Observed>): State {
  return withOpen(state, number, ({ phase }) =>
    phase.is === "observed" ? { phase: { ...phase, ...more } } : {},
  );
}

/** Unknown plus unknown stays unknown; a known part is worth showing. */
function withPaid(state: State, id: string, usd: number | null, sum: typeof withCost): State {
  const { tally } = state;
  const costUsd = usd === null ? tally.costUsd : (tally.costUsd ?? 0) + usd;
  return { ...withSpend(state, id, (spend) => sum(spend, usd)), tally: { ...tally, costUsd } };
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
  report: AgentReport,
  { verdict, madeProgress }: Facts["verdict.reached"],
  tookDefault: boolean,
): Weight {
  const { ending, failure } = report;
  // It was Ralph that stopped it, and it has worked: one of its iterations, and no attempt.
  if (failure?.kind === "budget") return "free";
  if (wasCutOff(report)) return "interrupted";
  if (failure?.class === "config") return "misconfigured";
  // Only money ends a limit of this kind.
  if (failure?.class === "auth" || (failure?.kind === "credit" && failure.resetsAt == null))
    return "locked-out";
  if (failure?.class === "limit") return "limited";
  if (failure !== null && failure.class !== "agent") return "retried";
  if (verdict === "accepted" || madeProgress) return "progress";
  // An agent that asks again after a default was taken for an answer goes round in circles.
  if (verdict === "decide" && tookDefault) return "stuck";
  if (verdict === "blocked" || verdict === "decide" || verdict === "challenged") return "free";
  return ending.is === "timed-out" || ending.is === "idle" ? "timed-out" : "stuck";
}

function settledRun(run: RunState, weight: Weight, agent: string, report: AgentReport): Partial<RunState> {
  const { iterations, stuckCount, stuckIterations } = run;
  switch (weight) {
    case "free":
    case "interrupted":
      return {};
    case "retried":
      return { iterations: iterations - 1, transientInARow: run.transientInARow + 1 };
    case "limited":
      return { iterations: iterations - 1 };
    case "locked-out":
      return {
        iterations: iterations - 1,
        lockedOut: { ...run.lockedOut, ...(report.failure && { [agent]: report.failure }) },
      };
    case "misconfigured":
      return { misconfigured: misconfigurationInWords(agent, report) };
    case "timed-out":
      return { transientInARow: 0 };
    case "stuck":
      return { transientInARow: 0, stuckCount: stuckCount + 1, stuckIterations: stuckIterations + 1 };
    case "progress":
      return { transientInARow: 0, stuckCount: 0 };
  }
}

function misconfigurationInWords(agent: string, { failure, model }: AgentReport): string {
  const message = failure?.message ?? "the agent could not be started";
  if (failure?.kind !== "model") return message;
  return `${agent} cannot use ${model == null ? "its model" : `the model "${model}"`}: ${message}`;
}

/** Parallel lanes work from many commits, and in place work leaves the branch and comes back. */
const COMMITS_KNOWN = 20;

/** The gates as they are at a commit; null: nobody can tell any longer. */
export function gatesKnown(state: State, head: string | null, gates: readonly GateOutcome[] | null): State {
  const now = gates === null ? [] : [{ head, gates, settings: gatesKey(state) }];
  const others = state.knownGates.filter((known) => known.head !== head);
  return { ...state, knownGates: [...now, ...others].slice(0, COMMITS_KNOWN) };
}

function failingIn(gates: readonly Pick<GateOutcome, "name" | "status">[]): readonly string[] {
  return gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
}

function gatesKey({ run }: State): string {
  return JSON.stringify(run?.settings.gates ?? []);
}

/** What is known of the gates at a commit, or null when they have to be asked. */
export function gatesKnownAt(state: State, head: string | null): readonly GateOutcome[] | null {
  if (head === null) return null;
  const settings = gatesKey(state);
  const found = state.knownGates.find((known) => known.head === head && known.settings === settings);
  return found?.gates ?? null;
}

/** Gates that ran twice since the last look have run from the first to the second. */
function withGateLeftovers(state: State, task: string, now: Leftovers): State {
  const { gatesRan: earlier } = leftoversOf(state, task);
  const both = now.gatesRan && earlier && { after: earlier.after, upTo: now.gatesRan.upTo };
  return withLeftovers(state, task, { ...now, gatesRan: both ?? now.gatesRan ?? earlier });
}
