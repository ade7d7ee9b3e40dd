import { CLOSED_BREAKER, type Breaker } from "../limits/breaker.ts";
import { type Spend, NOTHING_SPENT } from "../limits/budget.ts";
import type { Complexity, TimedOutAttempts } from "../limits/iteration-timeout.ts";
import type { Outcome, Acceptance, LetterKind, RunId } from "../events.ts";
import type { Proposal } from "../plan/list-changes.ts";
import type { Plan, SourceIdentity, TaskId } from "../plan/task.ts";
import type { AgentReport, Failure, Handover, Usage } from "../report/agent-report.ts";
import {
  NO_LEFTOVERS,
  type Evidence,
  type Footing,
  type Leftover,
  type Leftovers,
} from "../report/evidence.ts";
import type { CheckedGate, GateOutcome } from "../report/checked-gate.ts";
import type { Settings, WorktreeSettings } from "../settings.ts";
import type { Instant } from "../time.ts";
import type { OldChecks } from "../verdict/facts.ts";
import type { Reading } from "../verdict/reader.ts";
import type { Steer } from "./steer.ts";
import type { ExitSignal } from "../limits/exit-rules.ts";
import {
  type FeedbackItem,
  type RecurringFinding,
  type AgentProfile,
  EMPTY_TALLY,
  type Tally,
  type WatchedIteration,
} from "../interventions/intervention.ts";
import type { FieldEdit } from "../review/story-review.ts";
import type { SentBack } from "../stages/stages.ts";
import type { Concern } from "../verdict/concerns.ts";

/**
 * What the log amounts to: open work and counters, not history, so that it stays small however long the
 * log grows. Plain data: it is stored as a snapshot.
 */
export interface State {
  /** Of the last event folded in. */
  readonly position: number;
  /** Numbers run through the repository's whole history and are never reused. */
  readonly lastIteration: number;
  readonly run: RunState | null;
  /** As last observed by the current run. */
  readonly plan: Plan | null;
  readonly tasks: Readonly<Record<TaskId, TaskState>>;
  readonly iterations: readonly OpenIteration[];
  /** What lies uncommitted, by the folder of the worktree; "" is the user's checkout. */
  readonly leftovers: Readonly<Record<string, Leftovers>>;
  /** Iterations with a verdict. */
  readonly judged: number;
  /** The last results of the gates that hold for a commit, the newest first. */
  readonly knownGates: readonly KnownGates[];
  /** By the agent's name. */
  readonly profiles: Readonly<Record<string, AgentProfile>>;
  readonly tally: Tally;
  /** How long accepted iterations took, newest last, by agent and complexity (`learnedKey`). */
  readonly learnedMs: Readonly<Record<string, readonly number[]>>;
  /** Until when an agent said that it is limited, by its name. */
  readonly agentLimits: Readonly<Record<string, Instant>>;
  /** Until when the calls of the hour are used up. */
  readonly callsExhaustedUntil: Instant | null;
  readonly breaker: Breaker;
  /** What the project looked like when the breaker opened; null while it is not open. */
  readonly openedOn: Scene | null;
  /** What a person has done since the breaker opened. */
  readonly personActed: string | null;
  /** Messages of the operator's that no agent has worked from yet, the oldest first. */
  readonly steers: readonly Steer[];
  readonly findings: readonly RecurringFinding[];
  /** What agents did to the task list, and nobody has settled yet, the oldest first. */
  readonly proposals: readonly Proposal[];
  /** When `interventions.reset` was last recorded. */
  readonly interventionsSince: number;
}

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

export interface RunState {
  readonly id: RunId;
  readonly settings: Settings;
  readonly pid: number;
  readonly startedAt: Instant;
  readonly iterations: number;
  /** Consecutive iterations without progress. */
  readonly stuckCount: number;
  /** All iterations without progress, for the summary. */
  readonly stuckIterations: number;
  readonly transientInARow: number;
  /** Set by a failure that no further iteration can mend. */
  readonly misconfigured: string | null;
  /** Agents that only a person can bring back, by adding credit or logging in: what each of them said. */
  readonly lockedOut: Readonly<Record<string, Failure>>;
  readonly waitingUntil: Instant | null;
  readonly waitsForPerson: boolean;
  readonly stop: "after-iteration" | "now" | null;
  readonly spend: Spend;
  /** An iteration ended well and did not tell what it cost: the model that has no price, "" when it named none. */
  readonly unpriced: string | null;
  /** Until when nobody asks an agent again whose service failed, by its name. */
  readonly pauses: Readonly<Record<string, Instant>>;
  /** When this process took the run up, and how long others had it before. */
  readonly activeSince: Instant;
  readonly usedMs: number;
  readonly lastFactAt: Instant;
  /** Budgets of which four fifths are spent. */
  readonly budgetsNeared: readonly ("run" | "day")[];
  readonly budgetReached: string | null;
  readonly end: { readonly outcome: Outcome; readonly reason: string; readonly at: Instant } | null;
}

export interface OpenIteration {
  readonly number: number;
  readonly run: RunId;
  readonly task: TaskId;
  readonly stage: string;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly lane: number;
  readonly agent: string;
  readonly startedAt: Instant;
  readonly timeoutMs: number;
  readonly complexity: Complexity;
  readonly head: string | null;
  readonly branch: string | null;
  readonly marker: string;
  /** Null where nobody shares the run. */
  readonly worker: string | null;
  /** What agents had left uncommitted before it began. */
  readonly leftovers: readonly Leftover[];
  /** The process that started it is gone, and nobody saw how the agent ended. */
  readonly orphaned: boolean;
  /** Somebody looked at half of its time whether it has written anything. */
  readonly halftimePassed: boolean;
  readonly phase: Phase;
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

export const EMPTY_STATE: State = {
  position: 0,
  lastIteration: 0,
  run: null,
  plan: null,
  tasks: {},
  iterations: [],
  leftovers: {},
  judged: 0,
  knownGates: [],
  profiles: {},
  tally: EMPTY_TALLY,
  learnedMs: {},
  agentLimits: {},
  callsExhaustedUntil: null,
  breaker: CLOSED_BREAKER,
  openedOn: null,
  personActed: null,
  steers: [],
  findings: [],
  proposals: [],
  interventionsSince: 0,
};

export function taskState(state: State, id: TaskId): TaskState {
  const known = state.tasks[id];
  // Objects also have what nobody put into them, such as `constructor`.
  return known?.id === id ? known : unknownTask(id);
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
export function workBase(state: State, id: TaskId): string | null {
  const { footing } = taskState(state, id);
  return (footing?.earlier.files === 0 ? footing.base : footing?.first) ?? null;
}

export function withTask(state: State, id: TaskId, change: Partial<TaskState>): State {
  return { ...state, tasks: { ...state.tasks, [id]: { ...taskState(state, id), ...change } } };
}

export function withRun(state: State, change: Partial<RunState>): State {
  return state.run === null ? state : { ...state, run: { ...state.run, ...change } };
}

export function isOpen(run: RunState | null): run is RunState {
  return run !== null && run.end === null;
}

export interface TaskState {
  readonly id: TaskId;
  /** Of the last event about this task: decisions append only if nothing came between. */
  readonly position: number;
  /** Null before its first iteration. */
  readonly footing: Footing | null;
  /** Where its unaccepted work is, when it has no checkout of its own; null: there is none. */
  readonly work: Work | null;
  /** Where it is on its way; null is at the beginning. */
  readonly stage: string | null;
  /** How often a later stage has sent it back, since a person last decided. */
  readonly rounds: number;
  /** What a later stage or a review last found; null when nothing has been found. */
  readonly sentBack: SentBack | null;
  /** Its own checkout; null while it has none, or is worked on in place. */
  readonly worktree: OwnWorktree | null;
  /** The worker that goes on with it; null where nobody shares the run. */
  readonly holder: { readonly worker: string; readonly lease: number } | null;
  /** Workers in a row that vanished or failed over it. */
  readonly drops: number;
  /** Iterations of the current loop, and when the first of them began. */
  readonly iterations: number;
  /** Of these, those that somebody interrupted: the loop has as many more. */
  readonly spared: number;
  readonly loopSince: Instant | null;
  /** Iterations of all of its loops. */
  readonly allIterations: number;
  /** Failed iterations in a row that timed out or made progress; those without progress count as stuck. */
  readonly attempts: number;
  /** All failed iterations in a row. */
  readonly failures: number;
  /** A question of it was answered by its default, and there was no progress since. */
  readonly tookDefault: boolean;
  /** Iterations in a row without progress. */
  readonly stuckCount: number;
  /** Iterations that ran out of time; each gives the next one more. */
  readonly timeouts: number;
  /** Of the attempts that count, those that ran out of time. */
  readonly timedOut: TimedOutAttempts | null;
  /** What the operator gave it when unblocking it. */
  readonly unblockedMs: number | null;
  /** Whether a person gave it that, and not we ourselves. */
  readonly unblockedByPerson: boolean;
  /** How often it was unblocked without a person. */
  readonly autoUnblocks: number;
  /** Runs in which the limit was used up, and the last of them. */
  readonly exhaustedRuns: number;
  readonly exhaustedIn: RunId | null;
  /** The run in which it failed for good. */
  readonly failedIn: RunId | null;
  readonly cancelledIn: RunId | null;
  /** How its last loop was given up, until the next one begins. */
  readonly failure: LoopFailure | null;
  /** The last iterations of an open-ended task. */
  readonly exitSignals: readonly ExitSignal[];
  /** What its last iteration leaves to the next; null before the first, and where a new stage begins. */
  readonly left: Handover | null;
  readonly feedback: readonly FeedbackItem[];
  /** The next prompt begins with the feedback. */
  readonly feedbackLeads: boolean;
  /** The last iterations, for the thresholds of interventions. */
  readonly watched: readonly WatchedIteration[];
  /** Agents that work on this task no longer, and who took over from the last of them. */
  readonly suspended: readonly string[];
  readonly standIn: string | null;
  /** The gates before its first iteration; null when there was nothing to measure. */
  readonly baseline: readonly GateOutcome[] | null;
  /** As last seen. */
  readonly failingGates: readonly string[];
  readonly question: Question | null;
  /** What the agent was asked to answer, in the order of its numbers. */
  readonly challenged: readonly Concern[];
  /** A person has agreed to what the old checks object to. */
  readonly isAgreed: boolean;
  readonly blockedReason: string | null;
  /** Blocked for lack of progress. */
  readonly isStuck: boolean;
  /** Set when nothing but timeouts blocked it: the run, and the last timeout. */
  readonly timeoutBlock: { readonly run: RunId; readonly timeoutMs: number } | null;
  readonly letter: Letter | null;
  readonly completion: {
    readonly iteration: number;
    readonly commit: string | null;
    /** When it was accepted, among others. */
    readonly position: number;
    /** The list that it was in; null when nobody knows. */
    readonly source: SourceIdentity | null;
  } | null;
  /** The commit that took its accepted work back, until it is accepted again. */
  readonly undoneBy: string | null;
  readonly marked: boolean;
  /** Its agent has ticked the whole plan: that is a claim, not the operator's mark. */
  readonly isTickedByAgent: boolean;
  /** How far its accepted work is on its way to the base; null in place, and before. */
  readonly merge: MergeState | null;
  /** How often it did not go together with the base. */
  readonly mergeFailures: number;
  /** What has to be written into its story. */
  readonly storyEdits: StoryEdits | null;
  /** Not before this moment: a transient failure is waited out. */
  readonly retryAt: Instant | null;
  readonly spend: Spend;
  /** Of its last iteration, where one can go on with it. */
  readonly session: AgentSession | null;
}

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

export interface AsideWork {
  /** The branch that has it. */
  readonly aside: string;
  /** The operator's. */
  readonly branch: string;
  readonly base: string | null;
  readonly head: string;
}

export interface LoopFailure {
  readonly stage: string;
  readonly iterations: number;
  /** Its end. */
  readonly lastOutput: string;
  readonly reason: string;
}

export interface StoryEdits {
  readonly iteration: number;
  readonly edits: readonly FieldEdit[];
}

export interface OwnWorktree extends WorktreeSettings {
  readonly root: string;
  readonly branch: string;
  readonly copied: readonly string[];
}

export type MergeState =
  | { readonly is: "due" }
  | {
      readonly is: "prepared";
      readonly from: string;
      readonly to: string;
      readonly gates: readonly GateOutcome[];
      readonly isMarked: boolean;
    }
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

export interface Question {
  readonly text: string;
  readonly options: readonly string[];
  readonly iteration: number;
  readonly askedAt: Instant;
  /** Taken at the deadline; without one of the two nothing happens by itself. */
  readonly default: string | null;
  readonly deadlineAt: Instant | null;
  readonly answer: string | null;
  /** The iteration whose prompt carried the answer. */
  readonly usedIn: number | null;
  /** What "accept" does; null: the agent asks. */
  readonly acceptance: Acceptance | null;
}

export interface Letter {
  readonly kind: LetterKind;
  readonly file: string;
  readonly sha256: string;
}

const KNOWN_MAX = 20_000;
const unknownTasks = new Map<TaskId, TaskState>();

/** A task of which there are no facts; the same object for the same id, as it is asked for at every turn. */
function unknownTask(id: TaskId): TaskState {
  const known = unknownTasks.get(id);
  if (known !== undefined) return known;
  if (unknownTasks.size >= KNOWN_MAX) unknownTasks.clear();
  const task = newTask(id);
  unknownTasks.set(id, task);
  return task;
}

export function newTask(id: TaskId): TaskState {
  return {
    id,
    position: 0,
    footing: null,
    work: null,
    stage: null,
    rounds: 0,
    sentBack: null,
    worktree: null,
    holder: null,
    drops: 0,
    iterations: 0,
    spared: 0,
    loopSince: null,
    allIterations: 0,
    attempts: 0,
    failures: 0,
    tookDefault: false,
    stuckCount: 0,
    timeouts: 0,
    timedOut: null,
    unblockedMs: null,
    unblockedByPerson: false,
    autoUnblocks: 0,
    exhaustedRuns: 0,
    exhaustedIn: null,
    failedIn: null,
    cancelledIn: null,
    failure: null,
    exitSignals: [],
    left: null,
    feedback: [],
    feedbackLeads: false,
    watched: [],
    suspended: [],
    standIn: null,
    baseline: null,
    failingGates: [],
    question: null,
    challenged: [],
    isAgreed: false,
    blockedReason: null,
    isStuck: false,
    timeoutBlock: null,
    letter: null,
    completion: null,
    undoneBy: null,
    marked: false,
    isTickedByAgent: false,
    merge: null,
    mergeFailures: 0,
    storyEdits: null,
    retryAt: null,
    spend: NOTHING_SPENT,
    session: null,
  };
}
