import type { Standing } from "./split-lines.ts";

export interface WindowLine {
  readonly text: string;
  readonly standing: Standing;
}

/** Keeps the last lines of a text, up to a total length; of a longer line its end, of blank lines in a row one. */
export interface TextWindow {
  add(line: string, standing: Standing): void;
  /** Many lines at once, with a newline between them. */
  addPlain(lines: string): void;
  lines(): readonly WindowLine[];
}

/** Each line begins with a mark that tells where it stands, and ends with a newline. */
const STANDINGS: readonly Standing[] = ["plain", "fenced", "quoted"];
const FIRST_MARK = 65;
const NEWLINE = 10;
const MARK_AND_NEWLINE = 2;
/** Where two passages meet, so many characters may not count. */
const BLANK_MAX = 8;

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
  const putLine = (line: string, standing: Standing): void => {
    const isBlank = line === "";
    if (isBlank && wasBlank) return;
    wasBlank = isBlank;
    put(FIRST_MARK + STANDINGS.indexOf(standing));
    const from = Math.max(0, line.length - length + MARK_AND_NEWLINE);
    for (let at = from; at < line.length; at += 1) put(line.charCodeAt(at));
    put(NEWLINE);
  };
  /** Plain lines at the end, not yet in the ring: among hundreds of megabytes most never have to get there. */
  let waiting: string[] = [];
  let waitingLength = 0;
  const isEnough = (kept: number): boolean => kept > length + BLANK_MAX * waiting.length;
  const putWaiting = (): void => {
    for (const lines of waiting) for (const line of lines.split("\n")) putLine(line, "plain");
    waiting = [];
    waitingLength = 0;
  };
  return {
    add(line, standing) {
      putWaiting();
      putLine(line, standing);
    },
    addPlain(lines) {
      waiting.push(lines);
      waitingLength += lines.length;
      // Of blank lines in a row one counts: then even the window's length of text may not be enough.
      if (lines.includes("\n\n\n")) return putWaiting();
      while (isEnough(waitingLength - (waiting[0]?.length ?? 0)))
        waitingLength -= waiting.shift()?.length ?? 0;
    },
    lines() {
      putWaiting();
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
