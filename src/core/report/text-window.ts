import type { Standing } from "./split-lines.ts";

export interface WindowLine {
  readonly text: string;
  readonly standing: Standing;
}

/** Keeps the last lines of a text, up to a total length; of a longer line its end, of blank lines in a row one. */
export interface TextWindow {
  add(text: string, standing: Standing): void;
  lines(): readonly WindowLine[];
}

/** Each line begins with a mark that tells where it stands, and ends with a newline. */
const STANDINGS: readonly Standing[] = ["plain", "fenced", "quoted"];
const FIRST_MARK = 65;
const NEWLINE = 10;
const MARK_AND_NEWLINE = 2;

/**
 * A ring of characters: strings kept for a while among hundreds of megabytes that pass by make the garbage
 * collector take several times the memory.
 */
export function createTextWindow(length: number): TextWindow {
  // One more than is kept: it tells whether the first line is whole.
  const ring = new Uint16Array(length + 1);
  let next = 0;
  let isFull = false;
  let wasBlank = false;
  const put = (character: number): void => {
    ring[next] = character;
    next += 1;
    if (next < ring.length) return;
    next = 0;
    isFull = true;
  };
  return {
    add(text, standing) {
      const isBlank = text === "";
      if (isBlank && wasBlank) return;
      wasBlank = isBlank;
      put(FIRST_MARK + STANDINGS.indexOf(standing));
      const from = Math.max(0, text.length - length + MARK_AND_NEWLINE);
      for (let at = from; at < text.length; at += 1) put(text.charCodeAt(at));
      put(NEWLINE);
    },
    lines() {
      const newest = textOf(ring.subarray(0, next));
      if (!isFull) return linesIn(newest);
      const kept = textOf(ring.subarray(next)) + newest;
      return linesIn(kept.slice(kept.indexOf("\n") + 1));
    },
  };
}

function linesIn(text: string): readonly WindowLine[] {
  return text.split("\n").slice(0, -1).map(toLine);
}

function toLine(line: string): WindowLine {
  return { text: line.slice(1), standing: STANDINGS[line.charCodeAt(0) - FIRST_MARK] ?? "plain" };
}

const CHARACTERS_AT_ONCE = 4_096;

function textOf(characters: Uint16Array): string {
  let text = "";
  for (let at = 0; at < characters.length; at += CHARACTERS_AT_ONCE)
    text += String.fromCharCode(...characters.subarray(at, at + CHARACTERS_AT_ONCE));
  return text;
}
