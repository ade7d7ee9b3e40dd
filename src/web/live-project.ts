import type { Recorded } from "../core/events.ts";
import { taskOf } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/loop/state.ts";
import type { LiveProgress, Overview } from "../core/projections/overview.ts";
import type { Log } from "../engine/ports.ts";
import { watchProject, type ScreenPorts, type WatchedProject } from "../engine/watch-project.ts";
import type { Facts } from "./api.ts";
import { IterationIndex } from "./iteration-index.ts";

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
export function everythingUpTo(position: number): Facts {
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
