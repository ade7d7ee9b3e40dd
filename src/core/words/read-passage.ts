import { SUSPICIOUS } from "./strip-escapes.ts";

/** Reads a text of which most lines are no signal, and need not be looked at one by one. */
export interface PassageReader {
  /** Nothing has begun whose end would have to be looked for. */
  isIdle(): boolean;
  readLine(line: string): void;
  /** Lines in which nothing is or begins a signal; asked only when idle. */
  readPlain(lines: string): void;
}

/** The lines are parted by newlines; after the last one there is none. */
export function readPassage(passage: string, reader: PassageReader): void {
  if (reader.isIdle() && isPlain(passage)) return reader.readPlain(passage);
  for (let at = 0; at <= passage.length;) {
    const isIdle = reader.isIdle();
    const mark = isIdle ? placeOfMark(passage, at) : at;
    if (mark === null) return reader.readPlain(passage.slice(at));
    const start = isIdle ? Math.max(at, passage.lastIndexOf("\n", mark) + 1) : at;
    if (start > at) reader.readPlain(passage.slice(at, start - 1));
    const newline = passage.indexOf("\n", start);
    const end = newline < 0 ? passage.length : newline;
    reader.readLine(withoutReturn(passage.slice(start, end)));
    at = end + 1;
  }
}

/** The last one that is not blank; null without any. */
export function lastLineOf(lines: string): string | null {
  const words = lines.trimEnd();
  return words === "" ? null : (lines.slice(words.lastIndexOf("\n") + 1).split("\n", 1)[0] ?? null);
}

export function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/* oxlint-disable no-control-regex -- these characters are what it is about */

/** What tags, comments, fences, quotations and status blocks have, and what does not belong into a text at all. */
const MARK = new RegExp(`${SUSPICIOUS.source}|[<>\`~\\r]|---|_STATUS|EXIT_SIGNAL`, "gi");

function placeOfMark(passage: string, from: number): number | null {
  MARK.lastIndex = from;
  return MARK.exec(passage)?.index ?? null;
}

/** A test that is many times as fast; it may take what is plain for what is not. */
function isPlain(passage: string): boolean {
  return !WIDE.test(passage) && !passage.includes("---") && FEW_MARKS.every((marks) => !marks.test(passage));
}

/** Only texts without them are quick to search. */
const WIDE = /[\u0100-\uffff]/;
/** The characters among the marks. Up to sixteen of them are found at once, as fast as a single one. */
const FEW_MARKS = [
  /[<>`~_\x1b\r\0\x01\x02\x03\x04\x05\x06\x07\x08]/,
  /[\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c]/,
  /[\x1d\x1e\x1f\x7f]/,
  /[\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f]/,
  /[\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f]/,
];
