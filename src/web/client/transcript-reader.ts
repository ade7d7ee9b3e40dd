import type { TextPage } from "../../core/views/overview.ts";
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
/** A page is never smaller than some bytes: no piece may be left before the first. */
const BEGINNING_BYTES = 64;

/** Loads a text in pages around what is looked at. */
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
    const { to, bytes } = this.#reading.window;
    return to >= bytes;
  }

  /** The page after the last, if nothing else is under way. */
  after(): void {
    this.#unlessBusy(async () => {
      const { window } = this.#reading;
      const page = await this.#load(window.to, PAGE_BYTES);
      if (page !== null && (page.text !== "" || page.bytes !== window.bytes)) {
        this.#set({ window: withPage(window, page, "after") });
      }
    });
  }

  before(): void {
    this.#unlessBusy(() => this.#before());
  }

  /** Around this byte, however far it is. */
  jump(to: number): void {
    this.#next(async () => {
      await this.#startAt(beginningOf(to));
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

  async #before(): Promise<void> {
    const { window } = this.#reading;
    if (window.from === 0) return;
    const start = beginningOf(window.from - PAGE_BYTES);
    const page = await this.#load(start, window.from - start);
    if (page !== null && page.text !== "") this.#set({ window: withPage(window, page, "before") });
  }

  async #startAt(from: number): Promise<void> {
    const page = await this.#load(from, PAGE_BYTES);
    if (page !== null) this.#set({ window: withPage(EMPTY_WINDOW, page, "after") });
  }

  async #load(from: number, limit: number): Promise<TextPage | null> {
    const answer = await get<TextPage>(withQuery(this.#path, { from, limit }));
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

function beginningOf(byte: number): number {
  return byte < BEGINNING_BYTES ? 0 : byte;
}

/** The loaded part of a text of any size: without a gap, in bytes. */
interface TranscriptWindow {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
  readonly pages: readonly TextPage[];
}

/** More than this is not kept: the side that is out of sight goes. */
const PAGES_MAX = 40;

/** A page may begin so much earlier than asked for, where a letter begins. */
const LETTER_BYTES = 3;

export const EMPTY_WINDOW: TranscriptWindow = { from: 0, to: 0, bytes: 0, pages: [] };

export function withPage(
  window: TranscriptWindow,
  page: TextPage,
  side: "before" | "after",
): TranscriptWindow {
  const pages = side === "before" ? [page, ...window.pages] : [...window.pages, page];
  const kept = side === "before" ? pages.slice(0, PAGES_MAX) : pages.slice(-PAGES_MAX);
  return {
    from: kept[0]?.from ?? 0,
    to: kept.at(-1)?.to ?? 0,
    bytes: Math.max(page.bytes, kept.at(-1)?.to ?? 0),
    pages: kept,
  };
}

/** Colours and moves of a terminal. */
// oxlint-disable-next-line no-control-regex -- they are meant
const UNSHOWN = /\u001b\[[0-9;?]*[A-Za-z]|\r/g;

/** A line as the screen has room for it. */
interface TextRow {
  readonly text: string;
  /** It goes on with the line before. */
  readonly isRest: boolean;
}

/** The lines of the window, none longer than `columns`, and the row in which the page `anchor` begins. */
export function rowsOf(
  { pages }: TranscriptWindow,
  columns: number,
  anchor: number | null,
): { readonly rows: readonly TextRow[]; readonly anchorRow: number | null } {
  const before = anchor === null ? -1 : pages.findIndex(({ from }) => from >= anchor - LETTER_BYTES);
  const head = pages
    .slice(0, Math.max(0, before))
    .map(({ text }) => text)
    .join("");
  const whole = pages.map(({ text }) => text).join("");
  const rows: TextRow[] = [];
  let anchorRow: number | null = null;
  let at = 0;
  for (const line of whole.replace(/\n$/, "").split("\n")) {
    if (before >= 0 && at <= head.length) anchorRow = rows.length;
    addRows(rows, line.replaceAll(UNSHOWN, ""), columns);
    at += line.length + 1;
  }
  return { rows, anchorRow };
}

function addRows(rows: TextRow[], line: string, columns: number): void {
  rows.push({ text: line.slice(0, columns), isRest: false });
  for (let at = columns; at < line.length; at += columns) {
    rows.push({ text: line.slice(at, at + columns), isRest: true });
  }
}
