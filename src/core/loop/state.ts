import { CLOSED_BREAKER, type Breaker } from "../limits/breaker.ts";
import type { Spend } from "../limits/budget.ts";
import type { Complexity } from "../limits/complexity.ts";
import type { Outcome } from "../events.ts";
import type { RunId } from "../event-shape.ts";
import type { Plan, TaskId } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { NO_LEFTOVERS, type Evidence, type Leftover, type Leftovers } from "../report/evidence.ts";
import type { CheckedGate, GateOutcome } from "../report/checked-gate.ts";
import type { Settings } from "../settings.ts";
import type { Instant } from "../time.ts";
import type { RecurringFinding } from "../interventions/lessons.ts";
import type { AgentProfile } from "../interventions/profile.ts";
import { EMPTY_TALLY, type Tally } from "../interventions/tally.ts";
import type { Steer } from "./steer.ts";
import { unknownTask, type TaskState } from "./task-state.ts";

export { newTask, type Footing, type Letter, type Question, type TaskState } from "./task-state.ts";

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
  /** The agent's login is gone: what it said. */
  readonly lockedOut: string | null;
  readonly waitingUntil: Instant | null;
  readonly stop: "after-iteration" | "now" | null;
  readonly spend: Spend;
  /** An iteration ended well and did not tell what it cost: the model that has no price, "" when it named none. */
  readonly unpriced: string | null;
  /** Until when nobody asks an agent again whose service failed, by its name. */
  readonly pauses: Readonly<Record<string, Instant>>;
  /** When this process took the run up, and how long others had it before. */
  readonly activeSince: Instant;
  readonly usedMs: number;
  /** Of the last fact. */
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

/** Where the engine stands inside an iteration; each phase waits for the next fact. */
export type Phase =
  | { readonly is: "running" }
  | { readonly is: "ended"; readonly report: AgentReport }
  | { readonly is: "observed"; readonly report: AgentReport; readonly evidence: Evidence }
  | {
      readonly is: "checked";
      readonly report: AgentReport;
      readonly evidence: Evidence;
      readonly gates: readonly CheckedGate[];
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

export function withTask(state: State, id: TaskId, change: Partial<TaskState>): State {
  return { ...state, tasks: { ...state.tasks, [id]: { ...taskState(state, id), ...change } } };
}

export function withRun(state: State, change: Partial<RunState>): State {
  return state.run === null ? state : { ...state, run: { ...state.run, ...change } };
}

export function isOpen(run: RunState | null): run is RunState {
  return run !== null && run.end === null;
}
