import type { Event } from "../../core/events.ts";
import { KEEPER, MERGER } from "../../core/loop/effect-owner.ts";
import { NOTICE_EVENTS } from "../../core/notices/notice.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Lease, SharedLog } from "../fleet-ports.ts";
import type { Deciding, Expectation, Following, Log } from "../ports.ts";
import type { Holdings } from "./holdings.ts";

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
      if (error instanceof RalphError && error.code === "lease-lost")
        for (const { name } of leases()) holdings.drop(name);
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
      if (holdings.has(KEEPER)) await log.saveSnapshot(state, version);
    },
    forget: () => log.forget(),
    close: () => log.close(),
  };
}

const TOLD: ReadonlySet<Event["type"]> = new Set(NOTICE_EVENTS);

type Fence = Pick<Lease, "name" | "number">;

function held(holdings: Holdings, name: string): Fence {
  const lease = holdings.get(name);
  if (lease === null) throw new RalphError("lease-lost", `another worker goes on with ${name}`);
  return { name, number: lease.number };
}

/** What has to be held by whoever records these together. */
export function fencesOf(events: readonly Event[]): readonly string[] {
  if (events.some(({ type }) => MERGERS.has(type))) return [MERGER];
  const names = events.map((event) => (KEEPERS.has(event.type) ? KEEPER : taskOf(event)));
  return [...new Set(names.filter((name) => name !== null))];
}

const MERGERS: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "merge.prepared",
  "merge.overtaken",
  "merge.failed",
  "merge.held",
  "task.proposed",
  "task.merged",
  "worktree.removed",
]);

/** These are about a task that nobody works on, or about the whole run. */
const KEEPERS: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "question.answered",
  "task.unblocked",
  "run.ended",
]);
