import type { TaskId } from "../core/plan.ts";
import { clockTime } from "../core/time.ts";
import { beginningOf, readTranscriptLines } from "../core/views/transcript.ts";
import { createEntryPrinter, tellsTime, TIME_COLUMNS } from "../core/views/transcript-lines.ts";
import type { TextField } from "./key.ts";
import { plainLine, wrapped } from "./plain-line.ts";

/** The end of a transcript on the screen. */
export interface Pager {
  readonly task: TaskId;
  readonly iteration: number;
  /** Null until it was read. */
  readonly transcript: Transcript | null;
  readonly rows: readonly string[];
  /** The first row that is seen. */
  readonly top: number;
  /** With thoughts, and the input and result of each call. */
  readonly isFull: boolean;
  /** It stays at the end, and the end grows. */
  readonly follows: boolean;
  /** What is being typed to look for. */
  readonly search: TextField | null;
  /** What was looked for last, and the row where it was found. */
  readonly query: string;
  readonly hit: number | null;
}

/** As much of a transcript as is in memory: its end. */
export interface Transcript {
  /** Of the whole file, in bytes. */
  readonly size: number;
  readonly text: string;
  /** There is more before it. */
  readonly isCut: boolean;
  /** Then its first lines, which tell its format. */
  readonly head?: string;
}

/** Rows of a window for the transcript itself: a line is for the title, one for the keys. */
export function pagerHeight(rows: number): number {
  return Math.max(1, rows - 3);
}

export function withTranscript(
  pager: Pager,
  transcript: Transcript,
  size: { readonly columns: number; readonly rows: number },
): Pager {
  const earlier = transcript.isCut ? [`… earlier output: ralph logs ${pager.iteration}`] : [];
  const { lines, margin } = shownLines(transcript, pager.isFull);
  const rows = [...earlier, ...lines.flatMap((line) => rowsOf(line, size.columns, margin))];
  const top = pager.follows ? rows.length : pager.top;
  return movedTo({ ...pager, transcript, rows }, top, pagerHeight(size.rows));
}

/** The lines of its entries, and how many columns the times take. */
function shownLines(
  { text, head }: Transcript,
  isFull: boolean,
): { readonly lines: readonly string[]; readonly margin: number } {
  const given = text.replace(/\n$/, "").split("\n");
  const beginning = beginningOf(head === undefined ? given : head.split("\n"));
  const isTimed = tellsTime(beginning.format);
  let shown = "";
  const printer = createEntryPrinter((more) => (shown += more), {
    clock: isTimed ? clockTime : null,
    isFull,
  });
  const reading = readTranscriptLines(beginning, { onEntry: (entry) => printer.entry(entry) });
  for (const [place, line] of given.entries()) reading.line(line, place);
  reading.end();
  return { lines: shown.replace(/\n$/, "").split("\n"), margin: isTimed ? TIME_COLUMNS : 0 };
}

/** A longer line is cut here: wrapping a line of megabytes would take seconds. */
const LINE_MAX = 16_384;

function rowsOf(line: string, columns: number, margin: number): readonly string[] {
  const plain = plainLine(line.slice(0, LINE_MAX).replace(/\r$/, ""));
  const [first = "", ...rest] = wrapped(plain.slice(margin), columns - margin);
  return [plain.slice(0, margin) + first, ...rest.map((row) => " ".repeat(margin) + row)];
}

/** Going down to the last row follows the end from then on. */
export function scrolled(pager: Pager, by: number, height: number): Pager {
  if (by === 0) return pager;
  const top = pager.top + by;
  const follows = by > 0 && top >= pager.rows.length - height;
  return { ...movedTo(pager, top, height), follows, hit: null };
}

const ROWS_BEFORE_HIT = 3;

/** Shows the next row that has the query in it, beginning anew at the other end; null without any. */
export function searched(pager: Pager, step: 1 | -1, height: number): Pager | null {
  const { rows, top, hit } = pager;
  const query = pager.query.toLowerCase();
  const here = hit ?? (step > 0 ? top - 1 : top);
  for (let distance = 1; distance <= rows.length; distance += 1) {
    const row = (here + step * distance + 2 * rows.length) % rows.length;
    if (rows[row]?.toLowerCase().includes(query))
      return { ...movedTo(pager, row - ROWS_BEFORE_HIT, height), follows: false, hit: row };
  }
  return null;
}

function movedTo(pager: Pager, top: number, height: number): Pager {
  return { ...pager, top: Math.max(0, Math.min(top, pager.rows.length - height)) };
}
