import { ITERATION_ROW_EVENTS, iterationRows, type IterationRow } from "../core/views/iteration-record.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Recorded } from "../core/events.ts";
import { taskOf } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/state.ts";
import type { LiveProgress, Overview } from "../core/views/overview.ts";
import type { Log } from "../engine/ports.ts";
import { lookEvery, type ScreenPorts, type WatchedProject, watchProject } from "../app/watch-project.ts";
import type { Facts, IterationPage } from "./api.ts";

/** Whoever was away longer asks for everything anew. */
const FACTS_TOLD_MAX = 2_000;

/** The project as all pages see it: looked at once for all who ask, and told to all who listen. */
export class LiveProject {
  readonly #ports: ScreenPorts;
  readonly #signal: AbortSignal;
  readonly #listeners = new Set<() => void>();
  #watched: WatchedProject | null = null;
  #index: IterationIndex | null = null;
  /** When the log began: another moment is another log. */
  #begun: number | null = null;
  #log: Log | null = null;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** `signal`: nothing is read any more. */
  constructor(ports: ScreenPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
  }

  /** As of the last look. */
  get state(): State {
    return this.#watched?.state ?? EMPTY_STATE;
  }

  /** As of the last look. */
  get progress(): readonly LiveProgress[] {
    return this.#watched?.driving.progress ?? [];
  }

  async overview(): Promise<Overview> {
    await this.refresh();
    return (this.#watched ?? (await watchProject(this.#ports))).overview();
  }

  /** Null until the first run. */
  async log(): Promise<Log | null> {
    await this.refresh();
    return this.#ports.log();
  }

  /** Null until the first run. */
  async iterations(): Promise<IterationIndex | null> {
    await this.refresh();
    // Whoever waits for rows hears of what goes wrong.
    this.#index?.fill(this.#signal).catch(() => {});
    return this.#index;
  }

  /** What came after a position; null when nothing did. */
  async factsSince(position: number): Promise<Facts | null> {
    const log = await this.#ports.log();
    const end = this.state.position;
    if (log === null || position === end) return null;
    if (position > end || end - position > FACTS_TOLD_MAX) return everythingUpTo(end);
    return factsOf(await log.read(position));
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One look at a time: who comes while one is under way waits for the next, which sees what is there by now. */
  refresh(): Promise<void> {
    return (this.#next ??= this.#running.then(() => {
      this.#next = null;
      const look = this.#look();
      // Whoever asked for it hears of the failure.
      this.#running = look.catch(() => {});
      return look;
    }));
  }

  async #look(): Promise<void> {
    const log = await this.#ports.log();
    const begun = (await log?.read(0, { limit: 1 }))?.[0]?.at ?? null;
    if (this.#watched === null || begun !== this.#begun || log !== this.#log) {
      this.#watched = await watchProject(this.#ports);
      this.#begun = begun;
      this.#log = log;
      this.#index = log === null ? null : new IterationIndex(log, this.state.lastIteration);
      return this.#tell();
    }
    const news = await this.#watched.catchUp();
    if (news.length === 0) return;
    await this.#index?.note(news);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Without any names: whatever a page shows may be old. */
function everythingUpTo(position: number): Facts {
  return { position, types: [], tasks: [], iterations: [] };
}

function factsOf(events: readonly Recorded[]): Facts | null {
  const last = events.at(-1);
  if (last === undefined) return null;
  return {
    position: last.position,
    types: [...new Set(events.map(({ type }) => type))],
    tasks: [...new Set(events.map(taskOf).filter((task) => task !== null))],
    iterations: [...new Set(events.flatMap((event) => ("iteration" in event ? [event.iteration] : [])))],
  };
}

export interface IterationQuery {
  /** Only those with a smaller number. */
  readonly before: number;
  readonly limit: number;
  readonly matches: (row: IterationRow) => boolean;
  /** Every iteration is meant. */
  readonly isEvery: boolean;
}

const CHUNK = 200;

/** The rows of all iterations, read in the background and newest first: the end is there at once. */
export class IterationIndex {
  readonly #log: Log;
  readonly #rows: (IterationRow | undefined)[] = [];
  #last: number;
  /** All from this number on are known. */
  #low: number;
  #count = 0;
  #reading: Promise<void> | null = null;

  constructor(log: Log, lastIteration: number) {
    this.#log = log;
    this.#last = lastIteration;
    this.#low = lastIteration + 1;
  }

  async page({ before, limit, matches, isEvery }: IterationQuery): Promise<IterationPage> {
    const isComplete = (): boolean => this.#low <= 1;
    const rows: IterationRow[] = [];
    for (let number = Math.min(before - 1, this.#last); rows.length < limit; number -= 1) {
      while (number < this.#low && !isComplete()) await this.#readMore();
      if (number < 1) break;
      const row = this.#rows[number];
      if (row !== undefined && matches(row)) rows.push(row);
    }
    // Until all are read their number is as good: only a history that was lost leaves numbers out.
    if (isEvery) return { rows, total: isComplete() ? this.#count : this.#low - 1 + this.#count };
    const all = await this.all();
    return { rows, total: all.reduce((sum, row) => sum + (matches(row) ? 1 : 0), 0) };
  }

  /** The oldest first. */
  async all(): Promise<readonly IterationRow[]> {
    while (this.#low > 1) await this.#readMore();
    return this.#rows.filter((row) => row !== undefined);
  }

  /** Reads the whole history, as long as nobody says stop. */
  async fill(signal: AbortSignal): Promise<void> {
    while (this.#low > 1 && !signal.aborted) await this.#readMore();
  }

  /** Looks again at iterations of which something new is known. */
  async note(news: readonly Recorded[]): Promise<void> {
    const numbers = news.flatMap((event) => ("iteration" in event ? [event.iteration] : []));
    for (const number of new Set(numbers)) if (number >= this.#low) await this.#read(number, number);
  }

  /** Everybody who waits, waits for the same reading. */
  #readMore(): Promise<void> {
    return (this.#reading ??= this.#readNext().finally(() => {
      this.#reading = null;
    }));
  }

  async #readNext(): Promise<void> {
    const to = this.#low - 1;
    const from = Math.max(1, to - CHUNK + 1);
    await this.#read(from, to);
    this.#low = from;
    await nextTurn();
  }

  async #read(from: number, to: number): Promise<void> {
    const events = await this.#log.read(0, { iterations: { from, to }, types: ITERATION_ROW_EVENTS });
    for (const row of iterationRows(events)) {
      if (this.#rows[row.iteration] === undefined) this.#count += 1;
      this.#rows[row.iteration] = row;
      this.#last = Math.max(this.#last, row.iteration);
    }
  }
}

const POLL_MS = 300;
const PROGRESS_MS = 1_000;
const HEARTBEAT_MS = 15_000;

/** Tells all pages what is new. The log is looked at by one for all, and by nobody while no page is open. */
export class EventStream {
  readonly #live: LiveProject;
  readonly #stop: AbortSignal;
  readonly #listeners = new Set<Listener>();
  #polling: AbortController | null = null;
  #lastProgress = { text: "[]", at: 0 };

  /** `stop`: every stream is closed. */
  constructor(live: LiveProject, stop: AbortSignal) {
    this.#live = live;
    this.#stop = stop;
    live.listen(() => {
      for (const listener of this.#listeners) listener.wake();
    });
  }

  /** `after`: the position that the page has seen; null when it has just come. */
  serve(context: Context, after: number | null): Response {
    return streamSSE(context, async (stream) => {
      const listener = new Listener();
      const leave = (): void => listener.leave();
      stream.onAbort(leave);
      this.#stop.addEventListener("abort", leave);
      this.#join(listener);
      try {
        await this.#tell(stream, listener, after);
      } catch {
        // The stream ends, and the browser comes again by itself.
      } finally {
        this.#stop.removeEventListener("abort", leave);
        this.#part(listener);
      }
    });
  }

  async #tell(stream: SSEStreamingApi, listener: Listener, after: number | null): Promise<void> {
    // Whoever has the page open will want to see the history.
    await this.#live.iterations().catch(() => null); // the next look may succeed
    let position = after ?? this.#live.state.position;
    if (after === null) await sendFacts(stream, everythingUpTo(position));
    let progress = "[]";
    while (!listener.isGone && !stream.aborted && !this.#stop.aborted) {
      const facts = await this.#live.factsSince(position);
      if (facts !== null) {
        position = facts.position;
        await sendFacts(stream, facts);
      }
      if (progress !== this.#lastProgress.text) {
        progress = this.#lastProgress.text;
        await stream.writeSSE({ event: "progress", data: progress });
      }
      if (!(await listener.isWokenWithin(HEARTBEAT_MS))) await stream.write(": here\n\n");
    }
  }

  #join(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#polling !== null) return;
    const polling = new AbortController();
    this.#polling = polling;
    void lookEvery(POLL_MS, AbortSignal.any([polling.signal, this.#stop]), () => this.#look());
  }

  #part(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#polling?.abort();
    this.#polling = null;
  }

  async #look(): Promise<void> {
    await this.#live.refresh().catch(() => {}); // it is looked again in a moment
    const now = performance.now();
    if (now - this.#lastProgress.at < PROGRESS_MS) return;
    const text = JSON.stringify(this.#live.progress);
    const isNews = text !== this.#lastProgress.text;
    this.#lastProgress = { text, at: now };
    if (isNews) for (const listener of this.#listeners) listener.wake();
  }
}

async function sendFacts(stream: SSEStreamingApi, facts: ReturnType<typeof everythingUpTo>): Promise<void> {
  await stream.writeSSE({ event: "facts", id: String(facts.position), data: JSON.stringify(facts) });
}

/** One page, and whether there may be something to tell it. */
class Listener {
  #isWoken = false;
  #resolve: (() => void) | null = null;
  isGone = false;

  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  leave(): void {
    this.isGone = true;
    this.wake();
  }

  async isWokenWithin(ms: number): Promise<boolean> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    this.#resolve = null;
    return wasWoken;
  }
}
