import { EVENT_VERSION, type Event, type Recorded } from "../../core/events.ts";
import { taskOf } from "../../core/loop/evolve.ts";
import type { State } from "../../core/state.ts";
import type { Instant } from "../../core/time.ts";
import { RalphError } from "../../core/errors.ts";
import type { Lease, SharedExpectation, SharedLog } from "../../engine/fleet-ports.ts";
import type { Deciding, Following, LogFilter } from "../../engine/ports.ts";
import { costOf, upcast } from "./stored-rows.ts";

type Fence = Pick<Lease, "name" | "number">;

export interface MemoryLogOptions {
  /** Shared by the handles of several processes, or by those before and after a restart. */
  readonly storage?: MemoryStorage;
  readonly project?: string;
  readonly now: () => Instant;
  /** Of a log that many share: whether a lease is the last one that was given out under its name. */
  readonly isLast?: (lease: Fence) => boolean;
  /** Awaited before and after every operation; it may throw, as for a process that is gone. */
  readonly pause: () => Promise<void>;
}

/** A log that lives as long as its storage and is as asynchronous as a real one. */
export class MemoryLog implements SharedLog {
  readonly #options: MemoryLogOptions;
  readonly #storage: MemoryStorage;
  readonly #shelf: Shelf;
  readonly appendDecided?: NonNullable<SharedLog["appendDecided"]>;

  constructor(options: MemoryLogOptions) {
    this.#options = options;
    this.#storage = options.storage ?? new MemoryStorage();
    this.#shelf = this.#storage.shelf(options.project ?? "");
    if (options.isLast !== undefined)
      this.appendDecided = (since, decide, calls, leasesFor = () => []) =>
        this.#append(decide, { since, ...(calls && { calls }) }, () => [], leasesFor);
  }

  async append(
    events: readonly Event[],
    expected: SharedExpectation = {},
    following: Following = () => [],
  ): Promise<readonly Recorded[] | null> {
    if (events.length === 0) return [];
    return this.#append(
      () => events,
      expected,
      following,
      () => expected.leases ?? [],
    );
  }

  async read(after: number, filter: LogFilter = {}): Promise<readonly Recorded[]> {
    await this.#options.pause();
    const found = matching(this.#shelf.events, after, filter);
    await this.#options.pause();
    return found;
  }

  async countCalls(since: Instant): Promise<number> {
    await this.#options.pause();
    return this.#callsSince(since);
  }

  async sumCosts(since: Instant): Promise<number> {
    await this.#options.pause();
    const costs = this.#storage.events().map((event) => (event.at < since ? 0 : (costOf(event) ?? 0)));
    return costs.reduce((sum, cost) => sum + cost, 0);
  }

  async loadSnapshot(version: number): Promise<State | null> {
    await this.#options.pause();
    const { snapshot, events } = this.#shelf;
    await this.#options.pause();
    if (snapshot === null || snapshot.version !== version || snapshot.position > events.length) return null;
    return JSON.parse(snapshot.text) as State;
  }

  async saveSnapshot(state: State, version: number): Promise<void> {
    const text = JSON.stringify(state);
    await this.#options.pause();
    this.#shelf.snapshot = { position: state.position, version, text };
    await this.#options.pause();
  }

  async forget(): Promise<void> {
    await this.#options.pause();
    this.#shelf.events.length = 0;
    this.#shelf.snapshot = null;
  }

  async listen(heard: () => void): Promise<{ close(): Promise<void> }> {
    const { listeners } = this.#shelf;
    await this.#options.pause();
    listeners.add(heard);
    return { close: async () => void listeners.delete(heard) };
  }

  async close(): Promise<void> {}

  async #append(
    decide: Deciding,
    expected: SharedExpectation,
    following: Following,
    leasesFor: (events: readonly Event[]) => readonly Fence[],
  ): Promise<readonly Recorded[] | null> {
    const { pause } = this.#options;
    await pause();
    const { events } = this.#shelf;
    const news = expected.since === undefined ? [] : events.slice(expected.since);
    const decided = decide(news) ?? [];
    this.#requireLeases(leasesFor(decided));
    if (decided.length === 0 || !this.#isMet(expected)) {
      await pause();
      return null;
    }
    const recorded = this.#recorded(decided, events.length);
    const followed = this.#recorded(following(recorded, news), events.length + recorded.length);
    const together = [...recorded, ...followed];
    this.#shelf.events.push(...together);
    for (const heard of this.#shelf.listeners) heard();
    await pause();
    return together;
  }

  #requireLeases(leases: readonly Fence[]): void {
    const lost = leases.find((lease) => this.#options.isLast?.(lease) !== true);
    if (lost !== undefined) throw new RalphError("lease-lost", `another worker has taken over ${lost.name}`);
  }

  #callsSince(since: Instant): number {
    const events = this.#storage.events();
    const resets = events.filter((event) => event.type === "calls.reset").map((event) => event.at + 1);
    const from = Math.max(since, ...resets);
    const isCall = ({ type }: Recorded): boolean => type === "iteration.started" || type === "reader.asked";
    return events.filter((event) => isCall(event) && event.at >= from).length;
  }

  #isMet({ task, position, calls }: SharedExpectation): boolean {
    const { events } = this.#shelf;
    if (position !== undefined && position !== events.length) return false;
    if (calls !== undefined && this.#callsSince(calls.since) >= calls.below) return false;
    if (task === undefined) return true;
    return task.position === (events.findLast((event) => taskOf(event) === task.id)?.position ?? 0);
  }

  #recorded(events: readonly Event[], last: number): readonly Recorded[] {
    const at = this.#options.now();
    return events.map((event, index) => {
      const stored = upcast(EVENT_VERSION, JSON.parse(JSON.stringify(event)));
      return Object.assign(stored, { position: last + 1 + index, at });
    });
  }
}

/** What a disk is to the real store: it outlives the handles. */
export class MemoryStorage {
  readonly #shelves = new Map<string, Shelf>();

  /** Of all projects. */
  events(): readonly Recorded[] {
    return [...this.#shelves.values()].flatMap(({ events }) => events);
  }

  shelf(project: string): Shelf {
    const known = this.#shelves.get(project);
    if (known !== undefined) return known;
    const shelf: Shelf = { events: [], snapshot: null, listeners: new Set() };
    this.#shelves.set(project, shelf);
    return shelf;
  }
}

/** One project's part. The event at position n is entry n - 1; readers share it, as nobody may change it. */
interface Shelf {
  readonly events: Recorded[];
  /** Called when anybody has appended anything. */
  readonly listeners: Set<() => void>;
  snapshot: { readonly position: number; readonly version: number; readonly text: string } | null;
}

function matching(events: readonly Recorded[], after: number, filter: LogFilter): readonly Recorded[] {
  const { types, task, iteration, iterations, limit = Infinity } = filter;
  const later = events.slice(Math.max(after, 0));
  const found = later.filter(
    (event) =>
      (types === undefined || types.includes(event.type)) &&
      (task === undefined || taskOf(event) === task) &&
      (iteration === undefined || ("iteration" in event && event.iteration === iteration)) &&
      (iterations === undefined ||
        ("iteration" in event && event.iteration >= iterations.from && event.iteration <= iterations.to)),
  );
  return found.length <= limit ? found : found.slice(0, limit);
}
