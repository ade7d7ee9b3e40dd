import type { State } from "../../core/state.ts";
import type { Instant } from "../../core/time.ts";
import type { Fleet } from "../fleet-ports.ts";
import { Journal } from "../journal.ts";
import type { Follower, Log, Ports, Clock } from "../ports.ts";
import { Bell, Worker } from "./worker.ts";
import { guardedAgents, type Holdings } from "./holdings.ts";

export interface WorkerRun {
  readonly id: string;
  readonly lanes: number;
  readonly labels: readonly string[];
  readonly merges: boolean;
  readonly drains: boolean;
  readonly leaseMs: number;
  /** As a worker may write to it. */
  readonly log: Log;
  readonly fleet: Fleet;
  readonly holdings: Holdings;
  readonly clock: SharedClock;
  /** How often it looks at offers and others' facts while nobody tells it of any. */
  readonly tickMs?: number;
  /** Ends what an earlier process of this worker has left running. */
  readonly endLeftovers: () => Promise<unknown>;
  readonly followers: readonly Follower[];
  /** Before it records anything: where things stand. */
  readonly onOpened?: (state: State) => Promise<void>;
  /** Everything the engine needs, from the state as it is by then. */
  readonly portsFor: (state: () => State) => Ports;
  /** What its lanes are doing, for screens. */
  readonly progress: () => readonly unknown[];
  readonly onTrouble: (what: string) => void;
  /** Called about once a second. */
  readonly onHealth: (health: Health) => void;
}

export interface Health {
  readonly state: State;
  /** By the clock that all share. */
  readonly now: Instant;
  readonly busyLanes: number;
  readonly holds: readonly string[];
}

/** How often it looks whether it is still heard, whatever else it waits for. */
const WATCH_MS = 500;
const TICK_MS = 1_000;

/** One worker from its first beat until it has left. */
export async function runWorker(run: WorkerRun, stop: AbortSignal): Promise<"drained" | "stopped"> {
  const { lanes, fleet, holdings, clock } = run;
  await run.endLeftovers();
  const bell = new Bell();
  const over = new AbortController();
  const beat = async (isLeaving: boolean): Promise<void> => {
    const begunAt = clock.elapsed();
    const { now, lost } = await fleet.beat({ lanes, isLeaving, progress: run.progress() });
    clock.heard(now, begunAt);
    holdings.heard(begunAt, lost);
    if (lost.length > 0) bell.ring();
  };
  await beat(false);
  let worker: Worker | null = null;
  const journal = await Journal.open(
    run.log,
    run.followers,
    () => clock.now(),
    (effect, state) => worker?.isOurs(effect, state) ?? false,
  );
  await run.onOpened?.(journal.state);
  const plain = run.portsFor(() => journal.state);
  const ports = { ...plain, agents: guardedAgents(plain.agents, holdings, journal) };
  worker = new Worker({ ...run, ports, journal, bell, tickMs: run.tickMs ?? TICK_MS });
  const leave = (): void => worker.stop();
  stop.addEventListener("abort", leave);
  if (stop.aborted) leave();
  const again = async (ms: number, look: () => Promise<void>): Promise<void> => {
    for (; !over.signal.aborted; await clock.sleep(ms, over.signal)) await look();
  };
  // Often enough to miss some, and for screens to be up to date; with long leases more rarely.
  const beatMs = Math.min(run.leaseMs / 6, Math.max(run.leaseMs / 15, 2_000), 10_000);
  const beating = again(beatMs, () => beat(worker.isStopping));
  const watching = again(WATCH_MS, async () => {
    worker.endWhatIsLost();
    run.onHealth({
      state: journal.state,
      now: clock.now(),
      busyLanes: worker.busyLanes,
      holds: holdings.all.map(({ name }) => name),
    });
  });
  try {
    return await Promise.race([worker.run(), failureOf(beating), failureOf(watching)]);
  } finally {
    over.abort();
    stop.removeEventListener("abort", leave);
    await fleet.leave();
  }
}

function failureOf(background: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => {
    background.catch(reject);
  });
}

/** The database's clock, as far as it was heard: what the clocks of the machines say does not matter. */
export class SharedClock implements Clock {
  readonly #own: Clock;
  readonly #elapsed: () => number;
  #ahead: number;

  constructor(own: Clock, elapsed: () => number = () => performance.now()) {
    this.#own = own;
    this.#elapsed = elapsed;
    this.#ahead = own.now() - elapsed();
  }

  /** It was this time there, at some moment since `begunAt`. */
  heard(now: Instant, begunAt: number): void {
    this.#ahead = Math.round(now - (begunAt + this.#elapsed()) / 2);
  }

  /** By this machine's own clock, which only ever goes on. */
  elapsed(): number {
    return this.#elapsed();
  }

  now(): Instant {
    return Math.round(this.#elapsed() + this.#ahead);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal);
  }
}
