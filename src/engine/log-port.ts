import type { Event, Recorded } from "../core/events.ts";
import type { State } from "../core/loop/state.ts";
import type { TaskId } from "../core/plan/task.ts";
import type { Instant } from "../core/time.ts";

/** The append-only log of one project. */
export interface Log {
  /**
   * Appends all events or none, durably, in one transaction. With an expectation it appends only if
   * nothing came between, else it answers `null` and has written nothing. What follows from the events as they were
   * recorded is appended with them.
   */
  append(
    events: readonly Event[],
    expected?: Expectation,
    following?: Following,
  ): Promise<readonly Recorded[] | null>;
  /**
   * Appends what is decided in the transaction, when everything after a position is known: nobody comes between. Null:
   * nothing was decided, or the calls are used up. Where it is missing, few write at the same time, and `append` is asked
   * until nobody has come between.
   */
  readonly appendDecided?: AppendDecided;
  /** Events after a position, oldest first. */
  read(after: number, filter?: LogFilter): Promise<readonly Recorded[]>;
  /** Iterations of all logs in the store that began since a moment, or since the calls were last reset. */
  countCalls(since: Instant): Promise<number>;
  /** What iterations of all logs in the store have cost since a moment, as far as it is known. */
  sumCosts(since: Instant): Promise<number>;
  /** The state stored at a position, if one was stored by the same version of the fold. */
  loadSnapshot(version: number): Promise<State | null>;
  saveSnapshot(state: State, version: number): Promise<void>;
  /** Forgets the project: every event and the snapshot. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What events decide at once, as they were recorded, and after others' news if it was asked for. Pure: it is asked in the
 * transaction, perhaps more than once.
 */
export type Following = (recorded: readonly Recorded[], news: readonly Recorded[]) => readonly Event[];

export type AppendDecided = (
  after: number,
  decide: Deciding,
  calls?: Expectation["calls"],
) => Promise<readonly Recorded[] | null>;

/** What is to be appended after the news, if anything. Pure: it may be asked more than once. */
export type Deciding = (news: readonly Recorded[]) => readonly Event[] | null;

export interface Expectation {
  /** The last event about this task is at this position. */
  readonly task?: { readonly id: TaskId; readonly position: number };
  /** The last event of the whole log is at this position. */
  readonly position?: number;
  /** Nothing is expected of this one: everything after this position, and before the events, is told to what follows. */
  readonly since?: number;
  /** So many iterations, at most, have begun since a moment in all logs of the store. */
  readonly calls?: { readonly since: Instant; readonly below: number };
}

export interface LogFilter {
  readonly types?: readonly Event["type"][];
  readonly task?: TaskId;
  readonly iteration?: number;
  /** Both of them included. */
  readonly iterations?: { readonly from: number; readonly to: number };
  /** At most so many. */
  readonly limit?: number;
}
