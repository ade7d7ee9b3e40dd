import type { Lease, SharedLog } from "../fleet-ports.ts";
import type { Event } from "../../core/events.ts";
import { COORDINATOR, MERGER } from "../../core/loop/effects.ts";
import { NOTICE_EVENTS } from "../../core/views/notice.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import { RalphError } from "../../core/errors.ts";
import type { Deciding, Expectation, Following, Log, Agents } from "../ports.ts";
import { isHeldBy } from "../../core/loop/evolve-work.ts";
import { taskState } from "../../core/state.ts";
import type { Journal } from "../journal.ts";

/**
 * What a worker holds, by its own knowledge. The database knows better, but cannot always be asked: whoever has not
 * been heard there for the time of a lease holds nothing any more, however long it slept meanwhile.
 */
export class Holdings {
  readonly #leases = new Map<string, Lease>();
  readonly #dropped: Lease[] = [];
  readonly #leaseMs: number;
  /** Of this machine alone; it goes on while the process is stopped. */
  readonly #elapsed: () => number;
  #heardAt: number;

  constructor(leaseMs: number, elapsed: () => number = () => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#elapsed = elapsed;
    this.#heardAt = elapsed();
  }

  /** A beat that was begun then has reached the others; these it does not hold any more. */
  heard(begunAt: number, lost: readonly string[]): void {
    this.#heardAt = begunAt;
    for (const name of lost) this.#leases.delete(name);
  }

  add(lease: Lease): void {
    this.#leases.set(lease.name, lease);
  }

  drop(name: string): void {
    const lease = this.#leases.get(name);
    this.#leases.delete(name);
    if (lease !== undefined) this.#dropped.push(lease);
  }

  /**
   * What was given up here since the last time, or forgotten in a silence, each once. The database may still take it to
   * be held: nobody else would get it.
   */
  takeDropped(): readonly Lease[] {
    this.#forgetIfSilent();
    return this.#dropped.splice(0);
  }

  get(name: string): Lease | null {
    this.#forgetIfSilent();
    return this.#leases.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  get all(): readonly Lease[] {
    this.#forgetIfSilent();
    return [...this.#leases.values()];
  }

  #forgetIfSilent(): void {
    if (this.#elapsed() - this.#heardAt < this.#leaseMs) return;
    for (const name of this.#leases.keys()) this.drop(name);
  }
}

/**
 * The log as a worker may write to it: only about what it holds, and the database itself looks whether it does. What people
 * are told of has its name.
 */
export function fencedLog(log: SharedLog, holdings: Holdings, worker: string): Log {
  const signed = (events: readonly Event[]): readonly Event[] =>
    events.map((event) => (TOLD.has(event.type) ? { ...event, worker } : event));
  const leasesFor = (events: readonly Event[]): readonly Fence[] =>
    fencesOf(events).map((name) => held(holdings, name));
  const dropping = async <Result>(work: Promise<Result>, leases: () => readonly Fence[]): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (isLeaseLost(error)) for (const { name } of leases()) holdings.drop(name);
      throw error;
    }
  };
  const appendDecided = log.appendDecided?.bind(log);
  return {
    async append(events, expected, following = () => []) {
      const leases = leasesFor(events);
      const signedFollowing: Following = (...told) => signed(following(...told));
      return dropping(log.append(signed(events), { ...expected, leases }, signedFollowing), () => leases);
    },
    ...(appendDecided && {
      appendDecided: (after: number, decide: Deciding, calls?: Expectation["calls"]) => {
        let leases: readonly Fence[] = [];
        const signedDecide: Deciding = (news) => {
          const events = decide(news);
          return events && signed(events);
        };
        const decided = appendDecided(after, signedDecide, calls, (events) => (leases = leasesFor(events)));
        return dropping(decided, () => leases);
      },
    }),
    read: (after, filter) => log.read(after, filter),
    countCalls: (since) => log.countCalls(since),
    sumCosts: (since) => log.sumCosts(since),
    loadSnapshot: (version) => log.loadSnapshot(version),
    // All have the same state; it is enough that one of them stores it.
    saveSnapshot: async (state, version) => {
      if (holdings.has(COORDINATOR)) await log.saveSnapshot(state, version);
    },
    forget: () => log.forget(),
    close: () => log.close(),
  };
}

const TOLD: ReadonlySet<Event["type"]> = new Set(NOTICE_EVENTS);

export function isLeaseLost(error: unknown): boolean {
  return error instanceof RalphError && error.code === "lease-lost";
}

type Fence = Pick<Lease, "name" | "number">;

function held(holdings: Holdings, name: string): Fence {
  const lease = holdings.get(name);
  if (lease === null) throw new RalphError("lease-lost", `another worker goes on with ${name}`);
  return { name, number: lease.number };
}

/** What has to be held by whoever records these together. */
export function fencesOf(events: readonly Event[]): readonly string[] {
  if (events.some(({ type }) => MERGERS.has(type))) return [MERGER];
  if (events.length > 0 && events.every(({ type }) => FOLLOWS_VERDICT.has(type))) return [COORDINATOR];
  const names = events.map((event) => (COORDINATORS.has(event.type) ? COORDINATOR : taskOf(event)));
  return [...new Set(names.filter((name) => name !== null))];
}

const MERGERS = eventTypes(
  "merge.prepared",
  "merge.overtaken",
  "merge.failed",
  "merge.held",
  "task.proposed",
  "task.merged",
  "worktree.removed",
);

/** Without their verdict they follow from what a person accepted; nobody works on the task by then. */
const FOLLOWS_VERDICT = eventTypes("task.completed", "stage.passed");

/** These are about a task that nobody works on, or about the whole run. */
const COORDINATORS = eventTypes("question.answered", "task.unblocked", "run.ended");

function eventTypes(...types: readonly Event["type"][]): ReadonlySet<Event["type"]> {
  return new Set(types);
}

/**
 * Agents that are started only for what is held. A worker may sleep between the fact that an agent starts and the start
 * itself; by then the log may say that the task is worked on elsewhere.
 */
export function guardedAgents(agents: Agents, holdings: Holdings, journal: Journal): Agents {
  return {
    run: async (request, signal) => {
      const { task } = request;
      const number = holdings.get(task)?.number ?? null;
      if (!isHeldBy(taskState(journal.state, task), number))
        throw new RalphError("lease-lost", `another worker goes on with ${task}`);
      return agents.run(request, signal);
    },
    send: (iteration, text) => agents.send(iteration, text),
    sweep: (marker) => agents.sweep(marker),
    recoverReport: (iteration, startedAt) => agents.recoverReport(iteration, startedAt),
  };
}
