import { CLOSED_BREAKER, NOTHING_SPENT, type ExitSignal, type Spend } from "./loop/brakes.ts";
import type { TimedOutAttempts } from "./loop/iteration-timeout.ts";
import type { Outcome, Acceptance, EventOf, EventType, Recorded, RunId } from "./events.ts";
import type { Proposal } from "./plan-checks.ts";
import type { Plan, SourceIdentity, TaskId } from "./plan.ts";
import type { AgentReport, Failure, Handover, Usage } from "./streams/agent-report.ts";
import {
  NO_LEFTOVERS,
  type Evidence,
  type WorkBase,
  type Leftover,
  type Leftovers,
} from "./verdict/evidence.ts";
import type { CheckedGate, GateOutcome } from "./verdict/checked-gate.ts";
import type { Instant } from "./time.ts";
import type { OldChecks } from "./verdict/facts.ts";
import type { Reading } from "./verdict/reader.ts";
import type { Steer } from "./loop/steer.ts";
import {
  type FeedbackItem,
  type RecurringFinding,
  type AgentProfile,
  EMPTY_TALLY,
  type WatchedIteration,
} from "./loop/intervention.ts";
import type { SentBack } from "./loop/stages.ts";
import type { Concern } from "./verdict/concerns.ts";

/**
 * What the log amounts to: open work and counters, not history, so that it stays small however long the
 * log grows. Plain data: it is stored as a snapshot.
 */
export const EMPTY_STATE = {
  /** Of the last event folded in. */
  position: 0,
  /** Numbers run through the repository's whole history and are never reused. */
  lastIteration: 0,
  run: null as RunState | null,
  /** As last observed by the current run. */
  plan: null as Plan | null,
  tasks: {} as Readonly<Record<TaskId, TaskState>>,
  iterations: [] as readonly OpenIteration[],
  /** What lies uncommitted, by the folder of the worktree; "" is the user's checkout. */
  leftovers: {} as Readonly<Record<string, Leftovers>>,
  /** Iterations with a verdict. */
  judged: 0,
  /** The last results of the gates that hold for a commit, the newest first. */
  knownGates: [] as readonly KnownGates[],
  /** By the agent's name. */
  profiles: {} as Readonly<Record<string, AgentProfile>>,
  tally: EMPTY_TALLY,
  /** How long accepted iterations took, newest last, by agent and complexity (`learnedKey`). */
  learnedMs: {} as Readonly<Record<string, readonly number[]>>,
  /** Until when an agent said that it is limited, by its name. */
  agentLimits: {} as Readonly<Record<string, Instant>>,
  /** Until when the calls of the hour are used up. */
  callsExhaustedUntil: null as Instant | null,
  breaker: CLOSED_BREAKER,
  /** What the project looked like when the breaker opened; null while it is not open. */
  openedOn: null as Scene | null,
  /** What a person has done since the breaker opened. */
  personActed: null as string | null,
  /** Messages of the operator's that no agent has worked from yet, the oldest first. */
  steers: [] as readonly Steer[],
  findings: [] as readonly RecurringFinding[],
  /** What agents did to the task list, and nobody has settled yet, the oldest first. */
  proposals: [] as readonly Proposal[],
  /** When `interventions.reset` was last recorded. */
  interventionsSince: 0,
};

export type State = Readonly<typeof EMPTY_STATE>;

/** Every fact as the log holds it, by its type. */
export type Facts = { readonly [Type in EventType]: Recorded<EventOf<Type>> };

/** What each fact does to the state. */
export type Folds = { readonly [Type in EventType]: (state: State, event: Facts[Type]) => State };

/** Fingerprints of what a person may change between runs. */
export interface Scene {
  /** The run in which it opened. */
  readonly run: RunId | null;
  readonly head: string | null;
  readonly plan: string;
  readonly settings: string;
}

export interface KnownGates {
  readonly head: string | null;
  readonly gates: readonly GateOutcome[];
  /** What they were then: other gates have no result yet. */
  readonly settings: string;
}

export const NOT_WAITING = { waitingUntil: null, waitsForPerson: false } as const;

/** A run as it begins. */
export function newRun({ run: id, settings, pid, at }: Facts["run.started"]) {
  return {
    id,
    settings,
    pid,
    startedAt: at,
    iterations: 0,
    /** Consecutive iterations without progress. */
    stuckCount: 0,
    /** All iterations without progress, for the summary. */
    stuckIterations: 0,
    transientInARow: 0,
    /** Set by a failure that no further iteration can mend. */
    misconfigured: null as string | null,
    /** Agents that only a person can bring back, by adding credit or logging in: what each of them said. */
    lockedOut: {} as Readonly<Record<string, Failure>>,
    waitingUntil: null as Instant | null,
    waitsForPerson: false,
    /** A person wants no iteration to begin. */
    isPaused: false,
    stop: null as "after-iteration" | "now" | null,
    spend: NOTHING_SPENT,
    /** An iteration ended well and did not tell what it cost: the model that has no price, "" when it named none. */
    unpriced: null as string | null,
    /** Until when nobody asks an agent again whose service failed, by its name. */
    pauses: {} as Readonly<Record<string, Instant>>,
    /** When this process took the run up, and how long others had it before. */
    activeSince: at,
    usedMs: 0,
    lastFactAt: at,
    /** Budgets of which four fifths are spent. */
    budgetsNeared: [] as readonly ("run" | "day")[],
    budgetReached: null as string | null,
    end: null as { readonly outcome: Outcome; readonly reason: string; readonly at: Instant } | null,
  };
}

export type RunState = Readonly<ReturnType<typeof newRun>>;

export interface OpenIteration extends Omit<EventOf<"iteration.started">, "type" | "iteration" | "worker"> {
  readonly number: number;
  readonly startedAt: Instant;
  /** Null where nobody shares the run. */
  readonly worker: string | null;
  /** What agents had left uncommitted before it began. */
  readonly leftovers: readonly Leftover[];
  /** The process that started it is gone, and nobody saw how the agent ended. */
  readonly orphaned: boolean;
  /** Somebody looked at half of its time whether it has written anything. */
  readonly midRunChecked: boolean;
  readonly phase: Phase;
}

export function withOpen(
  state: State,
  number: number,
  change: (open: OpenIteration) => Partial<OpenIteration>,
): State {
  const iterations = state.iterations.map((open) =>
    open.number === number ? { ...open, ...change(open) } : open,
  );
  return { ...state, iterations };
}

/** What tells the processes of an iteration from others: the agent's and the gates', and the reader's. */
export function markersOf({ marker, phase }: OpenIteration): readonly string[] {
  return phase.is === "observed" && phase.readerMarker !== null ? [marker, phase.readerMarker] : [marker];
}

/** Where the engine stands inside an iteration; each phase waits for the next fact. */
export type Phase =
  | { readonly is: "running" }
  | { readonly is: "ended"; readonly report: AgentReport }
  /** What more there is to look at comes one after the other, as far as it is needed. */
  | {
      readonly is: "observed";
      readonly report: AgentReport;
      readonly evidence: Evidence;
      readonly gates: readonly CheckedGate[] | null;
      readonly oldChecks: OldChecks | null;
      readonly reading: Reading | null;
      /** Of the last reader that was asked. */
      readonly readerMarker: string | null;
    };

export function taskState(state: State, id: TaskId): TaskState {
  const known = state.tasks[id];
  // Objects also have what nobody put into them, such as `constructor`.
  return known?.id === id ? known : newTask(id);
}

/** Where a task is worked on, for `leftovers`. */
function placeOf(state: State, id: TaskId): string {
  return taskState(state, id).worktree?.root ?? "";
}

export function leftoversOf(state: State, id: TaskId): Leftovers {
  return state.leftovers[placeOf(state, id)] ?? NO_LEFTOVERS;
}

export function withLeftovers(state: State, id: TaskId, leftovers: Leftovers): State {
  return { ...state, leftovers: { ...state.leftovers, [placeOf(state, id)]: leftovers } };
}

/** Of the user's checkout. */
export function leftoversInPlace({ leftovers }: State): Leftovers {
  return leftovers[""] ?? NO_LEFTOVERS;
}

/** Where a task's work counts from: before other work came between, if it did. */
export function baseCommit(state: State, id: TaskId): string | null {
  const { workBase } = taskState(state, id);
  return (workBase?.earlier.files === 0 ? workBase.base : workBase?.first) ?? null;
}

export function withTask(state: State, id: TaskId, change: Partial<TaskState>): State {
  return { ...state, tasks: { ...state.tasks, [id]: { ...taskState(state, id), ...change } } };
}

/** The fold of a fact that changes nothing but its task. */
export function onTask<Fact extends { readonly task: TaskId }>(
  change: (task: TaskState, event: Fact) => Partial<TaskState>,
): (state: State, event: Fact) => State {
  return (state, event) => withTask(state, event.task, change(taskState(state, event.task), event));
}

export function withRun(state: State, change: Partial<RunState>): State {
  return state.run === null ? state : { ...state, run: { ...state.run, ...change } };
}

/** What was spent on a task counts for its run, too. */
export function withSpend(state: State, id: TaskId, spend: (before: Spend) => Spend): State {
  const spent = withTask(state, id, { spend: spend(taskState(state, id).spend) });
  return state.run === null ? spent : withRun(spent, { spend: spend(state.run.spend) });
}

export function isOpen(run: RunState | null): run is RunState {
  return run !== null && run.end === null;
}

const NO_FACTS = {
  /** Of the last event about this task: decisions append only if nothing came between. */
  position: 0,
  /** Null before its first iteration. */
  workBase: null as WorkBase | null,
  /** Where its unaccepted work is, when it has no checkout of its own; null: there is none. */
  work: null as Work | null,
  /** Where it is on its way; null is at the beginning. */
  stage: null as string | null,
  /** How often a later stage has sent it back, since a person last decided. */
  rounds: 0,
  /** What a later stage or a review last found; null when nothing has been found. */
  sentBack: null as SentBack | null,
  /** Its own checkout; null while it has none, or is worked on in place. */
  worktree: null as OwnWorktree | null,
  /** The worker that goes on with it; null where nobody shares the run. */
  holder: null as { readonly worker: string; readonly lease: number } | null,
  /** Workers in a row that vanished or failed over it. */
  drops: 0,
  /** Iterations of the current loop, and when the first of them began. */
  iterations: 0,
  /** Of these, those that somebody interrupted: the loop has as many more. */
  spared: 0,
  loopSince: null as Instant | null,
  /** Iterations of all of its loops. */
  allIterations: 0,
  /** Failed iterations in a row that timed out or made progress; those without progress count as stuck. */
  attempts: 0,
  /** All failed iterations in a row. */
  failures: 0,
  /** A question of it was answered by its default, and there was no progress since. */
  tookDefault: false,
  /** Iterations in a row without progress. */
  stuckCount: 0,
  /** Iterations that ran out of time; each gives the next one more. */
  timeouts: 0,
  /** Of the attempts that count, those that ran out of time. */
  timedOut: null as TimedOutAttempts | null,
  /** What the operator gave it when unblocking it. */
  unblockedMs: null as number | null,
  /** Whether a person gave it that, and not we ourselves. */
  unblockedByPerson: false,
  /** How often it was unblocked without a person. */
  autoUnblocks: 0,
  /** Runs in which the limit was used up, and the last of them. */
  exhaustedRuns: 0,
  exhaustedIn: null as RunId | null,
  /** The run in which it failed for good. */
  failedIn: null as RunId | null,
  cancelledIn: null as RunId | null,
  /** A person wants no run to work on it. */
  isSkipped: false,
  /** How its last loop was given up, until the next one begins. */
  failure: null as LoopFailure | null,
  /** The last iterations of an open-ended task. */
  exitSignals: [] as readonly ExitSignal[],
  /** What its last iteration leaves to the next; null before the first, and where a new stage begins. */
  left: null as Handover | null,
  feedback: [] as readonly FeedbackItem[],
  /** The next prompt begins with the feedback. */
  feedbackLeads: false,
  /** The last iterations, for the thresholds of interventions. */
  watched: [] as readonly WatchedIteration[],
  /** Agents that work on this task no longer, and who took over from the last of them. */
  suspended: [] as readonly string[],
  standIn: null as string | null,
  /** The gates before its first iteration; null when there was nothing to measure. */
  baseline: null as readonly GateOutcome[] | null,
  /** As last seen. */
  failingGates: [] as readonly string[],
  question: null as Question | null,
  /** What the agent was asked to answer, in the order of its numbers. */
  challenged: [] as readonly Concern[],
  /** A person has agreed to what the old checks object to. */
  isAgreed: false,
  blockedReason: null as string | null,
  /** Blocked for lack of progress. */
  isStuck: false,
  /** Set when nothing but timeouts blocked it: the run, and the last timeout. */
  timeoutBlock: null as { readonly run: RunId; readonly timeoutMs: number } | null,
  inboxFile: null as Pick<EventOf<"letter.published">, "kind" | "file" | "sha256"> | null,
  completion: null as {
    readonly iteration: number;
    readonly commit: string | null;
    /** When it was accepted, among others. */
    readonly position: number;
    /** The list that it was in; null when nobody knows. */
    readonly source: SourceIdentity | null;
  } | null,
  /** The commit that took its accepted work back, until it is accepted again. */
  undoneBy: null as string | null,
  marked: false,
  /** Its agent has ticked the whole plan: that is a claim, not the operator's mark. */
  isTickedByAgent: false,
  /** How far its accepted work is on its way to the base; null in place, and before. */
  merge: null as MergeState | null,
  /** How often it did not go together with the base. */
  mergeFailures: 0,
  /** What has to be written into its story. */
  storyEdits: null as Pick<EventOf<"story.settled">, "iteration" | "edits"> | null,
  /** Not before this moment: a transient failure is waited out. */
  retryAt: null as Instant | null,
  spend: NOTHING_SPENT,
  /** Of its last iteration, where one can go on with it. */
  session: null as AgentSession | null,
};

/** A task of which there are no facts. */
export function newTask(id: TaskId) {
  return { id, ...NO_FACTS };
}

export type TaskState = Readonly<ReturnType<typeof newTask>>;

/** Unaccepted work of a task that is worked on in the operator's checkout. */
export type Work =
  /** On the operator's branch; null: HEAD was detached. */
  | { readonly is: "in-place"; readonly branch: string | null }
  /** It cannot leave the operator's branch. */
  | { readonly is: "staying"; readonly why: string }
  | (AsideWork & { readonly is: "leaving" | "aside" })
  /** `branch` is where it returns to. */
  | (AsideWork & { readonly is: "returning"; readonly from: string | null; readonly to: string })
  /** It did not go together with what the branch has by now; its agent was told where it is. */
  | (AsideWork & { readonly is: "refused" });

/** The branch that has it, and the operator's. */
export type AsideWork = Pick<EventOf<"work.leaving">, "aside" | "branch" | "base" | "head">;

export interface LoopFailure {
  readonly stage: string;
  readonly iterations: number;
  /** Its end. */
  readonly lastOutput: string;
  readonly reason: string;
}

export type OwnWorktree = Pick<EventOf<"worktree.opened">, "root" | "branch" | "base" | "merge" | "copied">;

export type MergeState =
  | { readonly is: "due" }
  | ({ readonly is: "prepared" } & Required<
      Pick<EventOf<"merge.prepared">, "from" | "to" | "gates" | "isMarked">
    >)
  /** Until the base is clean; tried again in the next run. */
  | { readonly is: "held"; readonly why: string }
  | { readonly is: "proposed"; readonly url: string }
  | { readonly is: "merged"; readonly to: string };

export interface AgentSession {
  readonly run: RunId;
  readonly agent: string;
  readonly id: string;
  /** Where it can be gone on with; null where nobody shares the run. */
  readonly worker: string | null;
  /** By all of its iterations. */
  readonly used: Usage;
}

export interface Question extends Pick<
  EventOf<"question.asked">,
  "options" | "iteration" | "default" | "deadlineAt"
> {
  readonly text: string;
  readonly askedAt: Instant;
  readonly answer: string | null;
  /** The iteration whose prompt carried the answer. */
  readonly usedIn: number | null;
  /** What "accept" does; null: the agent asks. */
  readonly acceptance: Acceptance | null;
}
