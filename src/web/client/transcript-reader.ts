import type { TranscriptEntry } from "../../core/views/transcript.ts";
import type { EntryPage } from "../../core/views/overview.ts";
import { get, type Problem, withQuery } from "./api-client.ts";

/** Where somebody wanted to go; `turn` grows with every wish. */
export interface Goal {
  readonly turn: number;
  readonly to: number | "end";
}

export interface Reading {
  readonly window: TranscriptWindow;
  readonly goal: Goal | null;
  readonly problem: Problem | null;
}

const PAGE_BYTES = 64_000;

/** Loads a transcript in pages around what is looked at. */
export class TranscriptReader {
  readonly #path: string;
  readonly #show: (reading: Reading) => void;
  #reading: Reading = { window: EMPTY_WINDOW, goal: null, problem: null };
  #work: Promise<void> | null = null;
  #turn = 0;

  constructor(iteration: number, show: (reading: Reading) => void) {
    this.#path = `/api/iterations/${iteration}/transcript`;
    this.#show = show;
  }

  get isAtEnd(): boolean {
    return this.#reading.window.isEnd;
  }

  /** The page after the last, if nothing else is under way. */
  after(): void {
    this.#unlessBusy(async () => {
      const { window } = this.#reading;
      const page = await this.#load(window.to, PAGE_BYTES);
      if (page === null || (page.entries.length === 0 && page.to === window.to && window.isEnd)) return;
      this.#set({ window: withPage(window, page, "after") });
    });
  }

  before(): void {
    this.#unlessBusy(() => this.#before());
  }

  /** Around this byte, however far it is. */
  jump(to: number): void {
    this.#next(async () => {
      await this.#startAt(to);
      await this.#before();
      this.#turn += 1;
      this.#set({ goal: { turn: this.#turn, to } });
    });
  }

  toEnd(): void {
    this.#next(async () => {
      await this.#startAt(-PAGE_BYTES);
      this.#turn += 1;
      this.#set({ goal: { turn: this.#turn, to: "end" } });
    });
  }

  /** A line may be longer than a page: then it begins farther before. */
  async #before(): Promise<void> {
    const { window } = this.#reading;
    for (let bytes = PAGE_BYTES; window.from > 0; bytes *= 4) {
      const start = Math.max(0, window.from - bytes);
      const page = await this.#load(start, window.from - start);
      if (page === null) return;
      if (page.from >= window.from) continue;
      return this.#set({ window: withPage(window, page, "before") });
    }
  }

  async #startAt(from: number): Promise<void> {
    const page = await this.#load(from, PAGE_BYTES);
    if (page !== null) this.#set({ window: withPage(EMPTY_WINDOW, page, "after") });
  }

  async #load(from: number, limit: number): Promise<EntryPage | null> {
    const answer = await get<EntryPage>(withQuery(this.#path, { from, limit: Math.min(limit, LIMIT_MAX) }));
    const problem = answer.is === "problem" ? answer.problem : null;
    if (problem !== this.#reading.problem) this.#set({ problem });
    return answer.is === "ok" ? answer.value : null;
  }

  #unlessBusy(work: () => Promise<void>): void {
    if (this.#work === null) this.#next(work);
  }

  #next(work: () => Promise<void>): void {
    const mine = (this.#work ?? Promise.resolve()).then(work).finally(() => {
      if (this.#work === mine) this.#work = null;
    });
    this.#work = mine;
  }

  #set(change: Partial<Reading>): void {
    this.#reading = { ...this.#reading, ...change };
    this.#show(this.#reading);
  }
}

/** As much as the server gives at once. */
const LIMIT_MAX = 1024 * 1024;

/** The loaded part of a transcript of any size: without a gap, in bytes. */
export interface TranscriptWindow {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly isEnd: boolean;
  readonly pages: readonly EntryPage[];
}

/** More than this is not kept: the side that is out of sight goes. */
const PAGES_MAX = 12;

export const EMPTY_WINDOW: TranscriptWindow = { from: 0, to: 0, bytes: 0, isEnd: false, pages: [] };

export function withPage(
  window: TranscriptWindow,
  page: EntryPage,
  side: "before" | "after",
): TranscriptWindow {
  const pages = side === "before" ? pagesAfter(page, window) : pagesBefore(page, window);
  const kept = side === "before" ? pages.slice(0, PAGES_MAX) : pages.slice(-PAGES_MAX);
  const last = kept.at(-1);
  return {
    from: kept[0]?.from ?? 0,
    to: last?.to ?? 0,
    bytes: Math.max(page.bytes, last?.to ?? 0),
    isEnd: last?.isEnd ?? false,
    pages: kept,
  };
}

/** What was under way comes again with the next page, and small pages become one. */
function pagesBefore(page: EntryPage, { pages }: TranscriptWindow): readonly EntryPage[] {
  const before = pages
    .filter(({ from }) => from < page.from)
    .map((one) => ({
      ...one,
      to: Math.min(one.to, page.from),
      isEnd: false,
      entries: one.entries.filter(({ place }) => place < page.from),
    }));
  const last = before.at(-1);
  if (last === undefined || page.to - last.from > PAGE_BYTES) return [...before, page];
  const joined = { ...page, from: last.from, entries: [...last.entries, ...page.entries] };
  return [...before.slice(0, -1), joined];
}

/** Its calls are complete; what the pages after it know of them is the rest only. */
function pagesAfter(page: EntryPage, { from, pages }: TranscriptWindow): readonly EntryPage[] {
  const entries = page.entries.filter(({ place }) => place < from);
  const calls = new Set(entries.map(({ call }) => call).filter((call) => call !== ""));
  const rest = pages.map((one) => ({ ...one, entries: one.entries.filter(({ call }) => !calls.has(call)) }));
  return [{ ...page, to: from, isEnd: false, entries }, ...rest];
}

/** The entries of the window, each with a key of its own. */
export function entriesOf({
  pages,
}: TranscriptWindow): readonly (TranscriptEntry & { readonly key: string })[] {
  let last = -1;
  let nth = 0;
  let cost: number | null = null;
  return pages
    .flatMap(({ entries }) => entries)
    .map((entry) => {
      nth = entry.place === last ? nth + 1 : 0;
      last = entry.place;
      // Told where it grows.
      const costUsd = entry.costUsd === cost ? null : entry.costUsd;
      cost = entry.costUsd;
      return { ...entry, costUsd, key: `${entry.place}.${nth}` };
    });
}
