import stringWidth from "string-width";
import { stripEscapes } from "../core/words/strip-escapes.ts";

/** A text as one line that cannot disturb the terminal: no escapes, no control characters, no change of direction. */
export function plainLine(text: string): string {
  return stripEscapes(text)
    .replaceAll("\t", "    ")
    .replaceAll(/\r?\n|\r/g, " ")
    .replaceAll(DIRECTIONS, "");
}

const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/g;

/** Rows of at most so many columns; a line that is empty is one empty row. */
export function wrapped(line: string, columns: number): readonly string[] {
  // Most lines are simple, and they are many.
  if (/^[ -~]*$/.test(line))
    return line === "" ? [""] : (line.match(new RegExp(`.{1,${columns}}`, "g")) ?? []);
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const { segment } of characters.segment(line)) {
    const width = stringWidth(segment);
    if (used + width > columns && row !== "") {
      rows.push(row);
      row = "";
      used = 0;
    }
    row += segment;
    used += width;
  }
  return [...rows, row];
}

/** Rows that break between words where they can. */
export function wrappedWords(text: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(" ")) {
    const longer = row === "" ? word : `${row} ${word}`;
    if (stringWidth(longer) <= columns) {
      row = longer;
      continue;
    }
    if (row !== "") rows.push(row);
    const pieces = wrapped(word, columns);
    rows.push(...pieces.slice(0, -1));
    row = pieces.at(-1) ?? "";
  }
  return [...rows, row];
}

const characters = new Intl.Segmenter();

/** Without the tenths, which would change with every look. */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1_000) * 1_000);
}
