import { lastLineOf, type PassageReader } from "./read-passage.ts";
import type { ExpectedPromise } from "./read-promise.ts";
import { BLOCK_END, BLOCK_START } from "./read-status-block.ts";
import { stripEscapes } from "./strip-escapes.ts";

/** The neighbours of a line of the prompt; null at its ends. */
interface Place {
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Takes the prompt's tags, status blocks and fences out of an agent's output where the agent only repeats the
 * prompt, so that the example in it is not taken for the agent's word. An honest promise is a line
 * of the prompt too, so the surroundings tell: an echo has the prompt's lines before and after it, blank lines and
 * indentation aside. The agent's last words are its own.
 */
export function createEchoFilter(prompt: string, expected: ExpectedPromise, words: PassageReader) {
  const places = findPlaces(prompt, expected);
  let previous: string | null = null;
  /** A signal that may be the prompt's, and the words before it. */
  let waiting: { readonly line: string; readonly said: string; readonly before: string | null } | null = null;
  /** What ends the tag or block that the agent itself opened: inside, its words may well be the prompt's. */
  let ownEnd: RegExp | null = null;

  const letGo = (next: string | null): void => {
    if (waiting === null) return;
    const { line, said, before } = waiting;
    waiting = null;
    if (places.get(said)?.some((place) => isAt(place, before, next))) return;
    ownEnd = endOf(said);
    words.readLine(line);
  };
  const takeSignal = (line: string, said: string): void => {
    letGo(said);
    if (ownEnd !== null || !places.has(said)) words.readLine(line);
    else waiting = { line, said, before: previous === null ? null : wordsOf(previous) };
    if (ownEnd?.test(said)) ownEnd = null;
  };
  const isIdle = (): boolean => waiting === null && ownEnd === null && expected.requireXml;
  return {
    readLine(line: string): void {
      if (line.trim() === "") return words.readLine(line);
      const isPlain = isIdle() && !SIGNAL_CHARACTER.test(line);
      if (places.size > 0 && !isPlain) takeSignal(line, wordsOf(line));
      else words.readLine(line);
      previous = line;
    },
    readPlain(lines: string): void {
      words.readPlain(lines);
      previous = lastLineOf(lines) ?? previous;
    },
    isIdle: () => isIdle() && words.isIdle(),
    /** Hands over a line that waited for the one after it. */
    end: () => letGo(null),
  };
}

const OPEN = "<promise>";
const CLOSE = /<\/promise>/;
/** Lines without one cannot be a signal; most are done with after this. */
const SIGNAL_CHARACTER = /[<`~]|RALPH_STATUS|EXIT_SIGNAL/i;
/** Shorter words are too common to prove anything. */
const FRAGMENT_LENGTH_MIN = 3;
const PLACES_MAX = 1_000;

function findPlaces(prompt: string, expected: ExpectedPromise): ReadonlyMap<string, readonly Place[]> {
  const lines = prompt
    .split(/[\r\n]+/)
    .map(wordsOf)
    .filter((line) => line !== "");
  const places = new Map<string, Place[]>();
  for (const [index, line] of lines.entries()) {
    if (!isSignal(line, expected)) continue;
    const known = places.get(line) ?? [];
    if (known.length < PLACES_MAX)
      known.push({ before: lines[index - 1] ?? null, after: lines[index + 1] ?? null });
    places.set(line, known);
  }
  return places;
}

function isSignal(line: string, { completion, requireXml }: ExpectedPromise): boolean {
  if (line.includes(OPEN) || CLOSE.test(line) || /^(?:```|~~~)/.test(line)) return true;
  if (BLOCK_START.test(line) || BLOCK_END.test(line) || /^EXIT_SIGNAL\s*:/i.test(line)) return true;
  return !requireXml && line.toLowerCase() === completion.trim().toLowerCase();
}

function endOf(words: string): RegExp | null {
  if (BLOCK_START.test(words)) return BLOCK_END;
  return words.startsWith(OPEN) && !CLOSE.test(words) ? CLOSE : null;
}

/** Some agents break long lines, so a neighbour may be only the nearest part of the prompt's line. */
function isAt({ before, after }: Place, previous: string | null, next: string | null): boolean {
  const isLong = (words: string | null): words is string =>
    words !== null && words.length >= FRAGMENT_LENGTH_MIN;
  if (before === null ? previous !== null : !(isLong(previous) && before.endsWith(previous))) return false;
  return after === null ? before !== null : isLong(next) && after.startsWith(next);
}

function wordsOf(line: string): string {
  return stripEscapes(line).trim();
}

/** Fewer lines that are the prompt's may well be the agent's own: it says again what the prompt quotes. */
const RUN_MIN = 3;
/** So many places of the prompt are followed at a time, the longest runs first. */
const RUNS_MAX = 50;

/**
 * Leaves out lines that only repeat the prompt: at least three in a row, in the prompt's order, blank lines aside.
 * Agents may break its lines.
 */
export function withoutEcho<Line extends { readonly text: string }>(
  lines: readonly Line[],
  prompt: string,
): readonly Line[] {
  const given = linesOf(prompt);
  const text = given.join(" ");
  /** Where in the text lines begin, by their first word. */
  const starts = new Map<string, number[]>();
  let start = 0;
  for (const line of given) {
    const known = starts.get(firstWord(line)) ?? [];
    if (known.length < RUNS_MAX) starts.set(firstWord(line), [...known, start]);
    start += line.length + 1;
  }
  const said = lines.filter(({ text: line }) => line.trim() !== "");
  const echoed = new Set<Line>();
  /** Where the prompt would go on, and how many lines have repeated it up to there. */
  let runs: ReadonlyMap<number, number> = new Map();
  for (const [index, line] of said.entries()) {
    const words = spacedWords(line.text);
    const next = new Map<number, number>();
    for (const at of [...runs.keys(), ...(starts.get(firstWord(words)) ?? [])]) {
      const end = at + words.length;
      if (!text.startsWith(words, at) || (end < text.length && text[end] !== " ")) continue;
      const length = (runs.get(at) ?? 0) + 1;
      next.set(end + 1, Math.max(length, next.get(end + 1) ?? 0));
      if (length >= RUN_MIN) for (const one of said.slice(index + 1 - RUN_MIN, index + 1)) echoed.add(one);
      if (next.size === RUNS_MAX) break;
    }
    runs = next;
  }
  return lines.filter((line) => !echoed.has(line));
}

/** The lines of the prompt, without colours and indentation. */
export function linesOf(prompt: string): readonly string[] {
  const lines = stripEscapes(prompt).split(/[\r\n]+/);
  return lines.map(spacedWords).filter((line) => line !== "");
}

function firstWord(words: string): string {
  return words.split(" ", 1)[0] ?? "";
}

function spacedWords(line: string): string {
  return line.trim().replaceAll(/\s+/g, " ");
}
