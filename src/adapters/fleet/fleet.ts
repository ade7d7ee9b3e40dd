import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Role } from "../../core/loop/effects.ts";
import type { Fleet, Heartbeat, Lease, Offer, WorkerReport, WorkerSeen } from "../../engine/fleet-ports.ts";
import type { Database } from "./database.ts";
import { Jobs } from "./jobs.ts";
import {
  arrive,
  claim,
  depart,
  findOverdue,
  forgetOldWorkers,
  giveUpAll,
  type Holder,
  holdsAll,
  readWorkers,
  release,
  renew,
  report,
  type WorkerIdentity,
} from "./leases.ts";
import { migrate } from "./schema.ts";

interface FleetOptions {
  /** Stays the caller's to close. */
  readonly database: Database;
  readonly project: string;
  readonly worker: WorkerIdentity;
  readonly leaseMs: number;
}

/**
 * Joins the fleet. Whatever an earlier process of the same worker still holds may be taken at once, by this one or any
 * other; whoever takes it is told that it was taken `from` this worker.
 */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { database, project, worker, leaseMs } = options;
  await migrate(database);
  const jobs = await Jobs.open(database);
  await giveUpAll(database, { project, worker: worker.id, leaseMs });
  await arrive(database, project, worker.id);
  const fleet = new PostgresFleet(options, jobs);
  await fleet.beat({ lanes: 0, isLeaving: false, progress: [] });
  return fleet;
}

/** Longer than this nobody waits for a database that may be away. */
const FAREWELL_MS = 3_000;
const TIDY_MS = 600_000;

class PostgresFleet implements Fleet {
  readonly #options: FleetOptions;
  readonly #holder: Holder;
  readonly #jobs: Jobs;
  readonly #held = new Map<string, Lease>();
  #tidyAt = 0;

  constructor(options: FleetOptions, jobs: Jobs) {
    const { project, worker, leaseMs } = options;
    this.#options = options;
    this.#holder = { project, worker: worker.id, leaseMs };
    this.#jobs = jobs;
  }

  async beat(doing: WorkerReport): Promise<Heartbeat> {
    const { database, project, worker } = this.#options;
    const heartbeat = await this.#renew([...this.#held.values()]);
    await report(database, project, worker, doing);
    return heartbeat;
  }

  async offer(tasks: readonly Offer[]): Promise<void> {
    const { project, leaseMs } = this.#options;
    await this.#tidy();
    if (tasks.length === 0) return;
    const offered = tasks.map(({ task, labels, rank }) => ({
      task,
      queue: queueOf(project, labels),
      priority: -rank,
    }));
    await this.#jobs.put(project, await this.#jobs.missing(project, leaseMs, offered));
  }

  /** Job and lease are one transaction, so that a job is done exactly when its task is held. */
  async take(count: number, offered: readonly (readonly string[])[]): Promise<readonly Lease[]> {
    const { database, project, worker } = this.#options;
    const has = new Set(worker.labels);
    const fitting = offered.filter((labels) => labels.every((label) => has.has(label)));
    const queues = [...new Set(fitting.map((labels) => queueOf(project, labels)))];
    if (count <= 0 || queues.length === 0) return [];
    const overdue = await findOverdue(database, this.#holder, queues, count);
    const waiting = await this.#jobs.look(queues, count - overdue.length);
    if (overdue.length === 0 && waiting.size === 0) return [];
    const leases = await database.transaction(
      async (transaction) => {
        const jobs = await this.#jobs.take(transaction, waiting);
        const claims = [...overdue, ...jobs.map(({ task, queue }) => ({ name: task, queue }))];
        // What somebody holds is not given out: then its job has nothing to say.
        const given = await claim(transaction, this.#holder, claims);
        const names = claims.map(({ name }) => name);
        return given.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
      },
      (transaction, given) => holdsAll(transaction, this.#holder, given),
    );
    for (const lease of leases) this.#held.set(lease.name, lease);
    return leases;
  }

  async takeRole(role: Role): Promise<Lease | null> {
    const held = this.#held.get(role);
    if (held !== undefined && (await this.#renew([held])).lost.length === 0) return held;
    const [lease] = await claim(this.#options.database, this.#holder, [{ name: role, queue: null }]);
    if (lease === undefined) return null;
    this.#held.set(role, lease);
    return lease;
  }

  async release(lease: Lease): Promise<void> {
    const held = this.#held.get(lease.name);
    if (held?.number !== lease.number) return;
    await this.#releaseAll([held]);
  }

  workers(): Promise<readonly WorkerSeen[]> {
    const { database, project, leaseMs } = this.#options;
    return readWorkers(database, project, leaseMs);
  }

  async leave(): Promise<void> {
    const { database, project, worker } = this.#options;
    const farewell = async (): Promise<void> => {
      await this.#releaseAll([...this.#held.values()]);
      await depart(database, project, worker.id);
    };
    await attempt(Promise.all([farewell(), this.#jobs.close()]));
  }

  /** Now and then, by whoever offers: nobody needs it soon, so what fails is left to the next time. */
  async #tidy(): Promise<void> {
    if (performance.now() < this.#tidyAt) return;
    this.#tidyAt = performance.now() + TIDY_MS;
    const { database, project } = this.#options;
    await forgetOldWorkers(database, project).catch(() => {});
    await this.#jobs.tidy().catch(() => {});
  }

  async #renew(asked: readonly Lease[]): Promise<Heartbeat> {
    const { now, names } = await renew(this.#options.database, this.#holder, asked);
    // One that was released meanwhile, or lost and taken again, is no longer the one that is held.
    const lost = asked.filter((lease) => !names.includes(lease.name) && this.#held.get(lease.name) === lease);
    for (const { name } of lost) this.#held.delete(name);
    return { now, lost: lost.map(({ name }) => name) };
  }

  async #releaseAll(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    for (const { name } of leases) this.#held.delete(name);
    await release(this.#options.database, this.#holder, leases);
  }
}

/** Whatever becomes of it: the process is about to end, and leases run out by themselves. */
async function attempt(work: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  const enough = sleep(FAREWELL_MS, undefined, { signal: settled.signal });
  await Promise.race([work, enough]).catch(() => {});
  settled.abort();
  await enough.catch(() => {});
}

/** The queue of a project's tasks with exactly these labels; names of queues allow few characters. */
function queueOf(project: string, labels: readonly string[]): string {
  return `${short(project)}-${short(JSON.stringify(labels.toSorted()))}`;
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
