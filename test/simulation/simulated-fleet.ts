import type { Role } from "../../src/core/loop/effects.ts";
import type { Instant } from "../../src/core/time.ts";
import type {
  Fleet,
  Heartbeat,
  Lease,
  Offer,
  WorkerReport,
  WorkerSeen,
} from "../../src/engine/fleet-ports.ts";

export interface SimulatedFleetOptions {
  readonly storage: FleetStorage;
  readonly worker: { readonly id: string; readonly labels: readonly string[] };
  readonly leaseMs: number;
  /** The database's clock. */
  readonly now: () => Instant;
  /** Awaited before and after every operation; it may throw, as for a process that is gone. */
  readonly pause: () => Promise<void>;
}

/** What the database is to real workers: it outlives them, and is the same for all of them. */
export class FleetStorage {
  readonly leases = new Map<string, StoredLease>();
  readonly jobs = new Map<string, Job>();
  readonly workers = new Map<string, StoredWorker>();
  /** When the server was last started; nothing that may still be renewed runs out for the time of a lease. */
  startedAt: Instant = -Infinity;

  /** Whether it is the last one that was given out under its name, as every append asks. */
  isLast({ name, number }: Pick<Lease, "name" | "number">): boolean {
    return this.leases.get(name)?.number === number;
  }
}

interface StoredLease {
  readonly number: number;
  readonly worker: string;
  /** Null when it is released. */
  readonly expiresAt: Instant | null;
}

interface Job {
  readonly offer: Offer;
  readonly order: number;
  readonly isDelivered: boolean;
}

type StoredWorker = Omit<WorkerSeen, "holds" | "is"> & { readonly is: "here" | "leaving" | "gone" };

/** Joins as a new process of the worker, and gives up what an earlier one held. */
export async function openSimulatedFleet(options: SimulatedFleetOptions): Promise<Fleet> {
  const { storage, worker, now, pause } = options;
  await pause();
  for (const [name, lease] of storage.leases)
    if (lease.worker === worker.id && lease.expiresAt !== null)
      storage.leases.set(name, { ...lease, expiresAt: -Infinity });
  storage.workers.set(worker.id, {
    ...worker,
    host: "simulated",
    pid: 1,
    version: "0",
    lanes: 0,
    startedAt: now(),
    seenAt: now(),
    is: "here",
    progress: [],
  });
  await pause();
  return new SimulatedFleet(options);
}

class SimulatedFleet implements Fleet {
  readonly #options: SimulatedFleetOptions;
  readonly #storage: FleetStorage;
  readonly #held = new Map<string, { readonly lease: Lease; readonly job: string | null }>();

  constructor(options: SimulatedFleetOptions) {
    this.#options = options;
    this.#storage = options.storage;
  }

  beat({ lanes, isLeaving, progress }: WorkerReport): Promise<Heartbeat> {
    return this.#atOnce((now) => {
      const { workers, leases } = this.#storage;
      const { worker, leaseMs } = this.#options;
      const known = workers.get(worker.id);
      if (known !== undefined)
        workers.set(worker.id, {
          ...known,
          lanes,
          progress,
          seenAt: now,
          is: isLeaving ? "leaving" : "here",
        });
      const lost: string[] = [];
      for (const [name, { lease }] of this.#held) {
        const stored = this.#mine(lease);
        if (stored !== null) leases.set(name, { ...stored, expiresAt: now + leaseMs });
        else {
          this.#held.delete(name);
          lost.push(name);
        }
      }
      return { now, lost };
    });
  }

  offer(tasks: readonly Offer[]): Promise<void> {
    return this.#atOnce(() => {
      const { jobs, leases } = this.#storage;
      for (const offer of tasks) {
        if (this.#isLive(leases.get(offer.task))) continue;
        const key = jobKey(offer);
        const known = jobs.get(key);
        if (known === undefined) jobs.set(key, { offer, order: nextOrder(jobs), isDelivered: false });
        else if (known.isDelivered) jobs.set(key, { ...known, isDelivered: false });
      }
    });
  }

  take(count: number, offered: readonly (readonly string[])[]): Promise<readonly Lease[]> {
    return this.#atOnce(() => {
      const { jobs, leases } = this.#storage;
      const { labels } = this.#options.worker;
      const fitting = new Set(
        offered
          .filter((set) => set.every((label) => labels.includes(label)))
          .map((set) => JSON.stringify(set)),
      );
      const best = [...jobs]
        .filter(([, { offer }]) => fitting.has(JSON.stringify(offer.labels)))
        .filter(([, job]) => !job.isDelivered || this.#isOverdue(leases.get(job.offer.task)))
        .toSorted(([, a], [, b]) => a.offer.rank - b.offer.rank || a.order - b.order)
        .slice(0, Math.max(count, 0));
      const taken: Lease[] = [];
      for (const [key, job] of best) {
        const lease = this.#claim(job.offer.task, key);
        if (lease === null) jobs.delete(key);
        else {
          jobs.set(key, { ...job, isDelivered: true });
          taken.push(lease);
        }
      }
      return taken;
    });
  }

  takeRole(role: Role): Promise<Lease | null> {
    return this.#atOnce(() => {
      const held = this.#held.get(role);
      if (held !== undefined && this.#mine(held.lease) !== null) return held.lease;
      return this.#claim(role, null);
    });
  }

  release(lease: Lease): Promise<void> {
    return this.#atOnce(() => {
      if (this.#held.get(lease.name)?.lease.number === lease.number) this.#release(lease.name);
    });
  }

  workers(): Promise<readonly WorkerSeen[]> {
    return this.#atOnce((now) => {
      const seen = [...this.#storage.workers.values()].toSorted((a, b) => a.startedAt - b.startedAt);
      return seen.map((worker) => {
        const isSilent = this.#until(worker.seenAt + this.#options.leaseMs) < now;
        return {
          ...worker,
          is: worker.is !== "gone" && isSilent ? "vanished" : worker.is,
          holds: [...this.#storage.leases]
            .filter(([, lease]) => lease.worker === worker.id && this.#isLive(lease))
            .map(([name]) => name)
            .toSorted(),
        };
      });
    });
  }

  leave(): Promise<void> {
    return this.#atOnce((now) => {
      for (const name of this.#held.keys()) this.#release(name);
      const { workers } = this.#storage;
      const known = workers.get(this.#options.worker.id);
      if (known !== undefined) workers.set(known.id, { ...known, is: "gone", seenAt: now, progress: [] });
    });
  }

  async #atOnce<Result>(work: (now: Instant) => Result): Promise<Result> {
    await this.#options.pause();
    const result = work(this.#options.now());
    await this.#options.pause();
    return result;
  }

  #claim(name: string, job: string | null): Lease | null {
    const { leases } = this.#storage;
    const { worker, leaseMs, now } = this.#options;
    const before = leases.get(name);
    if (this.#isLive(before)) return null;
    const number = (before?.number ?? 0) + 1;
    const lease = {
      name,
      number,
      from: before === undefined || before.expiresAt === null ? null : before.worker,
    };
    leases.set(name, { number, worker: worker.id, expiresAt: now() + leaseMs });
    this.#held.set(name, { lease, job });
    return lease;
  }

  #release(name: string): void {
    const held = this.#held.get(name);
    this.#held.delete(name);
    const stored = held === undefined ? null : this.#mine(held.lease);
    if (held === undefined || stored === null) return;
    this.#storage.leases.set(name, { ...stored, expiresAt: null });
    if (held.job !== null) this.#storage.jobs.delete(held.job);
  }

  /** The stored lease while it is this worker's. */
  #mine({ name, number }: Lease): StoredLease | null {
    const stored = this.#storage.leases.get(name);
    const isMine = stored?.number === number && stored.worker === this.#options.worker.id;
    return stored !== undefined && isMine && this.#isLive(stored) ? stored : null;
  }

  #isLive(lease: StoredLease | undefined): boolean {
    return (
      lease !== undefined && lease.expiresAt !== null && this.#until(lease.expiresAt) >= this.#options.now()
    );
  }

  #isOverdue(lease: StoredLease | undefined): boolean {
    return lease !== undefined && lease.expiresAt !== null && !this.#isLive(lease);
  }

  #until(moment: Instant): Instant {
    return moment === -Infinity ? moment : Math.max(moment, this.#storage.startedAt + this.#options.leaseMs);
  }
}

function jobKey({ task, labels }: Offer): string {
  return JSON.stringify([labels, task]);
}

function nextOrder(jobs: ReadonlyMap<string, Job>): number {
  return Math.max(0, ...[...jobs.values()].map(({ order }) => order)) + 1;
}
