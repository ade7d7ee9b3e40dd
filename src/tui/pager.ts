import { plainLine, wrapped } from "./plain-line.ts";
import { EMPTY_FIELD, type TextField } from "./key.ts";

/** A transcript of any size on the screen: only a piece of it is known. */
export interface Pager {
  readonly task: string;
  readonly iteration: number;
  readonly rows: readonly Row[];
  /** The first row that is seen. */
  readonly top: number;
  readonly from: number;
  readonly to: number;
  readonly size: number;
  /** It stays at the end, and the end grows. */
  readonly follows: boolean;
  /** Where to stand in the piece that is asked for; null: at its end. */
  readonly anchor: Anchor | null;
  /** What is being typed to look for. */
  readonly search: TextField | null;
  /** What was looked for last. */
  readonly query: string;
}

interface Row {
  /** Where its line begins, in bytes. */
  readonly at: number;
  readonly text: string;
}

interface Anchor {
  readonly at: number;
  /** So many rows from there. */
  readonly move: number;
}

/** The pager, and from which byte on it wants to read; undefined: nothing; null: the end. */
export interface Paged {
  readonly pager: Pager;
  readonly wants?: number | null;
}

export function openPager(task: string, iteration: number): Pager {
  return {
    task,
    iteration,
    rows: [],
    top: 0,
    from: 0,
    to: 0,
    size: -1,
    follows: true,
    anchor: null,
    search: null,
    query: "",
  };
}

/** Rows of a window for the transcript itself: a line is for the title, one for the keys. */
export function pagerHeight(rows: number): number {
  return Math.max(1, rows - 3);
}

export function withPiece(
  pager: Pager,
  { from, to, size, text }: Piece,
  columns: number,
  height: number,
): Pager {
  const rows = rowsOf(text, from, columns);
  const read = { ...pager, rows, from, to, size, anchor: null };
  if (pager.anchor === null) return { ...read, top: lastTop(read, height) };
  const { at, move } = pager.anchor;
  const found = rows.findIndex((row) => row.at >= at);
  const top = between((found < 0 ? rows.length : found) + move, 0, lastTop(read, height));
  return { ...read, top };
}

export function scrolled(pager: Pager, by: number, height: number): Paged {
  const top = pager.top + by;
  const here = pager.rows[pager.top]?.at ?? pager.from;
  const anchor = { at: here, move: by };
  if (top < 0 && pager.from > 0)
    return { pager: { ...pager, follows: false, anchor }, wants: Math.max(0, here - PIECE_BYTES / 2) };
  if (top > lastTop(pager, height) && pager.to < pager.size)
    return { pager: { ...pager, follows: false, anchor }, wants: Math.max(0, here - PIECE_BYTES / 8) };
  const follows = by > 0 && top >= lastTop(pager, height);
  return { pager: { ...pager, top: between(top, 0, lastTop(pager, height)), follows } };
}

export function toBegin(pager: Pager): Paged {
  const moved = { ...pager, follows: false };
  return pager.from === 0
    ? { pager: { ...moved, top: 0 } }
    : { pager: { ...moved, anchor: { at: 0, move: 0 } }, wants: 0 };
}

export function toEnd(pager: Pager, height: number): Paged {
  const moved = { ...pager, follows: true, anchor: null };
  return isAtEnd(pager)
    ? { pager: { ...moved, top: lastTop(pager, height) } }
    : { pager: moved, wants: null };
}

/** Whether the end is known, as far as one has heard. */
export function isAtEnd({ to, size }: Pager): boolean {
  return to === size;
}

/** Shows a line that was found, with a little of what comes before. */
export function toLine(pager: Pager, at: number): Paged {
  const moved = { ...pager, follows: false, anchor: { at, move: -ROWS_BEFORE_HIT } };
  return { pager: moved, wants: Math.max(0, at - PIECE_BYTES / 4) };
}

/** The window has another width. */
export function rewrapped(pager: Pager): Paged {
  const at = pager.rows[pager.top]?.at ?? pager.from;
  const anchor = pager.follows ? null : { at, move: 0 };
  return { pager: { ...pager, anchor }, wants: pager.from };
}

export function beginSearch(pager: Pager): Pager {
  return { ...pager, search: EMPTY_FIELD };
}

/** The byte at which the line begins that a search goes on from. */
export function searchFrom({ rows, top, from }: Pager): number {
  return rows[Math.min(top + ROWS_BEFORE_HIT, rows.length - 1)]?.at ?? from;
}

const ROWS_BEFORE_HIT = 3;
/** Longer lines are taken for several, so that one line of megabytes can be looked at too. */
const LINE_MAX = 4_096;

function rowsOf(text: string, from: number, columns: number): readonly Row[] {
  const rows: Row[] = [];
  let at = from;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    let begin = 0;
    do {
      const part = line.slice(begin, begin + LINE_MAX);
      for (const row of wrapped(plainLine(part.replace(/\r$/, "")), columns)) rows.push({ at, text: row });
      at += Buffer.byteLength(part);
      begin += LINE_MAX;
    } while (begin < line.length);
    at += 1;
  }
  return rows;
}

function lastTop({ rows }: Pick<Pager, "rows">, height: number): number {
  return Math.max(0, rows.length - height);
}

function between(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** A part of a transcript of any size. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** Of the whole transcript, in bytes. */
  readonly size: number;
  readonly text: string;
}

/** So much of a transcript is in memory at a time. */
export const PIECE_BYTES = 256 * 1024;
