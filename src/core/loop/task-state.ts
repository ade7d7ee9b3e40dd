import { NOTHING_SPENT, type Spend } from "../limits/budget.ts";
import type { ExitSignal } from "../limits/exit-rules.ts";
import type { TimedOutAttempts } from "../limits/timed-out-attempts.ts";
import type { LetterKind } from "../events.ts";
import type { RunId } from "../event-shape.ts";
import type { FeedbackItem } from "../interventions/intervention.ts";
import type { WatchedIteration } from "../interventions/thresholds.ts";
import type { TaskId } from "../plan/task.ts";
import type { FieldEdit } from "../review/story-review.ts";
import type { GateOutcome } from "../report/checked-gate.ts";
import type { Usage } from "../report/agent-report.ts";
import type { ChangeSet, Leftover } from "../report/evidence.ts";
import type { WorktreeSettings } from "../settings.ts";
import type { Instant } from "../time.ts";

export interface TaskState {
  readonly id: TaskId;
  /** Of the last event about this task: decisions append only if nothing came between. */
  readonly position: number;
  /** Null before its first iteration. */
  readonly footing: Footing | null;
  /** Where it is on its way; null is at the beginning. */
  readonly stage: string | null;
  /** How often a later stage has sent it back, since a person last decided. */
  readonly rounds: number;
  /** Its own checkout; null while it has none, or is worked on in place. */
  readonly worktree: OwnWorktree | null;
  /** The worker that goes on with it; null where nobody shares the run. */
  readonly holder: { readonly worker: string; readonly lease: number } | null;
  /** Workers in a row that vanished or failed over it. */
  readonly drops: number;
  /** Iterations of the current loop, and when the first of them began. */
  readonly iterations: number;
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
  /** The run in which a person cancelled it. */
  readonly cancelledIn: RunId | null;
  /** How its last loop was given up, until the next one begins. */
  readonly failure: LoopFailure | null;
  /** The last iterations of an open-ended task. */
  readonly exitSignals: readonly ExitSignal[];
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
  readonly blockedReason: string | null;
  /** Set when nothing but timeouts blocked it: the run, and the last timeout. */
  readonly timeoutBlock: { readonly run: RunId; readonly timeoutMs: number } | null;
  readonly letter: Letter | null;
  readonly completion: {
    readonly iteration: number;
    readonly commit: string | null;
    /** When it was accepted, among others. */
    readonly position: number;
  } | null;
  readonly marked: boolean;
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
  readonly putBack: readonly TaskId[];
  readonly restores: boolean;
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

/**
 * What the task's own iterations changed. Other tasks and people commit in between: the work counts from
 * `base`, where the latest unbroken row of its own iterations began, plus what rows before it had changed.
 */
export interface Footing {
  /** Where its very first iteration began. */
  readonly first: string | null;
  readonly base: string | null;
  /** HEAD after the last iteration of the row. */
  readonly head: string | null;
  readonly earlier: ChangeSet;
  /** Everything so far, `earlier` included. */
  readonly changed: ChangeSet;
  /** What agents had left uncommitted before the row began. */
  readonly leftovers: readonly Leftover[];
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
}

export interface Letter {
  readonly kind: LetterKind;
  readonly file: string;
  readonly sha256: string;
}

const KNOWN_MAX = 20_000;
const unknownTasks = new Map<TaskId, TaskState>();

/** A task of which there are no facts; the same object for the same id, as it is asked for at every turn. */
export function unknownTask(id: TaskId): TaskState {
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
    stage: null,
    rounds: 0,
    worktree: null,
    holder: null,
    drops: 0,
    iterations: 0,
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
    feedback: [],
    feedbackLeads: false,
    watched: [],
    suspended: [],
    standIn: null,
    baseline: null,
    failingGates: [],
    question: null,
    blockedReason: null,
    timeoutBlock: null,
    letter: null,
    completion: null,
    marked: false,
    merge: null,
    mergeFailures: 0,
    storyEdits: null,
    retryAt: null,
    spend: NOTHING_SPENT,
    session: null,
  };
}
