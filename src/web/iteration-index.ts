import { setImmediate as nextTurn } from "node:timers/promises";
import type { Recorded } from "../core/events.ts";
import { ITERATION_ROW_EVENTS, iterationRows, type IterationRow } from "../core/projections/iteration-row.ts";
import type { Log } from "../engine/ports.ts";
import type { IterationPage } from "./api.ts";

export interface IterationQuery {
  /** Only those with a smaller number. */
  readonly before: number;
  readonly limit: number;
  readonly matches: (row: IterationRow) => boolean;
  /** Every iteration is meant. */
  readonly isEvery: boolean;
}

const CHUNK = 200;

/**
 * The rows of all iterations. They are read in the background, the newest first and few at a time, so that nobody
 * waits for a long history who asks for its end.
 */
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
