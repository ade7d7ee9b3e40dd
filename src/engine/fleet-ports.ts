import type { Event, Recorded } from "../core/events.ts";
import type { Role } from "../core/loop/effects.ts";
import type { TaskId } from "../core/plan.ts";
import type { Instant } from "../core/time.ts";
import type { Deciding, Expectation, Following, Log } from "./ports.ts";

/** A log that workers on several machines write to, at the same time. */
export interface SharedLog extends Log {
  /**
   * As of any log. In the same transaction every lease that is named has to be the last one that was given out under
   * its name; otherwise nothing is written, and it rejects with `lease-lost`.
   */
  append(
    events: readonly Event[],
    expected?: SharedExpectation,
    following?: Following,
  ): Promise<readonly Recorded[] | null>;
  /** As of any log, fenced by leases that are known with what is decided. */
  readonly appendDecided?: (
    after: number,
    decide: Deciding,
    calls?: Expectation["calls"],
    leasesFor?: (events: readonly Event[]) => NonNullable<SharedExpectation["leases"]>,
  ) => Promise<readonly Recorded[] | null>;
  /**
   * Calls when anybody has appended anything; without a promise, so the log is still looked at from time to time. For
   * screens: each append wakes everybody who listens to anything in the database, and of workers there may be many.
   */
  listen(heard: () => void): Promise<{ close(): Promise<void> }>;
}

export interface SharedExpectation extends Expectation {
  readonly leases?: readonly Pick<Lease, "name" | "number">[];
}

/** What workers of one project on several machines need from one another. All times are those of the database. */
export interface Fleet {
  /**
   * Says that this worker is alive, and what it is doing. Everything that it holds lasts on. Whatever it does not hold
   * any longer is told; nobody gets it back by a beat.
   */
  beat(doing: WorkerReport): Promise<Heartbeat>;
  /** Makes ready tasks known to all workers. Those that are known, or that somebody holds, are left alone. */
  offer(tasks: readonly Offer[]): Promise<void>;
  /**
   * Takes up to so many of the offered tasks, among those of which this worker has every label. From now on nobody else
   * holds them, until they are released or this worker has been silent for the time of a lease.
   */
  take(count: number, offered: readonly (readonly string[])[]): Promise<readonly Lease[]>;
  /** Takes a role that one worker has at a time: the lease as it stands, or null while another one has it. */
  takeRole(role: Role): Promise<Lease | null>;
  /** Lets others have it at once. Safe to repeat, and without effect when it is lost already. */
  release(lease: Lease): Promise<void>;
  /** Everybody who was here lately, the longest here first. */
  workers(): Promise<readonly WorkerSeen[]>;
  /** Says that it is leaving, releases everything and lets go of the database. */
  leave(): Promise<void>;
}

export interface Offer {
  readonly task: TaskId;
  /** What a worker must have: `os:linux`, `agent:claude`, or the team's own. Sorted. */
  readonly labels: readonly string[];
  /** The best first: 0, 1, 2 … */
  readonly rank: number;
}

export interface Lease {
  /** The task, or the role. */
  readonly name: string;
  /** Grows whenever it is given out anew under this name; never reused. */
  readonly number: number;
  /** The worker that held it before and went silent; null when it was released, or nobody had it. */
  readonly from: string | null;
}

export interface Heartbeat {
  /** By the database's clock. */
  readonly now: Instant;
  /** Names of leases that another one has by now, or that ran out. */
  readonly lost: readonly string[];
}

export interface WorkerReport {
  readonly lanes: number;
  /** Takes nothing new. */
  readonly isLeaving: boolean;
  /** What its lanes are doing, for screens; plain data, small. */
  readonly progress: readonly unknown[];
}

export interface WorkerSeen {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly labels: readonly string[];
  readonly lanes: number;
  readonly startedAt: Instant;
  readonly seenAt: Instant;
  /** `vanished`: it said nothing for longer than a lease, and not that it leaves. */
  readonly is: "here" | "leaving" | "vanished" | "gone";
  readonly progress: readonly unknown[];
  /** Tasks and roles that it holds. */
  readonly holds: readonly string[];
}
