import type { Claim } from "./agent-report.ts";
import { createFenceTracker } from "./fence-tracker.ts";
import { stripEscapes } from "./strip-escapes.ts";

export interface ExpectedPromise {
  readonly completion: string;
  /** Without it the bare words on a line of their own count too, in any case. */
  readonly requireXml: boolean;
}

/** Reads `<promise>…</promise>` out of plain text, a line at a time, in bounded memory. */
export interface PromiseReader {
  readLine(line: string): void;
  /** What the text says so far. */
  claim(): Claim;
}

const OPEN = "<promise>";
const CLOSE = "</promise>";
/** Lines without one say nothing here, unless a tag is open; most are done with after this. */
const SIGNAL_CHARACTER = /[<`~]/;
const TAG_LENGTH_MAX = 64 * 1024;
const WORDS_LENGTH_MAX = 2_000;
const OPTIONS_MAX = 20;

export function createPromiseReader(expected: ExpectedPromise): PromiseReader {
  const completion = expected.completion.trim();
  const fences = createFenceTracker();
  let hold: Claim | null = null;
  let last: Claim = { is: "none" };
  /** What stands after an opening tag whose end has not come yet. */
  let open: string | null = null;

  const take = (text: string): void => {
    const held = readHold(text);
    if (held === "empty") return;
    if (held !== null) hold = held;
    else last = text === completion ? { is: "complete", promise: text } : { is: "none" };
  };
  const readWords = (words: string): void => {
    const isOpening = words.startsWith(OPEN);
    if (!isOpening && open === null) {
      if (!expected.requireXml && words !== "" && words.toLowerCase() === completion.toLowerCase())
        take(completion);
      return;
    }
    // A new beginning drops an old one that never ended.
    const text: string = isOpening ? words.slice(OPEN.length) : `${open}\n${words}`;
    const end = words.indexOf(CLOSE);
    const standsAlone = end >= 0 && end + CLOSE.length === words.length;
    if (standsAlone && text.length <= TAG_LENGTH_MAX) take(text.slice(0, -CLOSE.length).trim());
    open = end >= 0 || text.length > TAG_LENGTH_MAX ? null : text;
  };
  return {
    readLine(line) {
      if (open === null && expected.requireXml && !SIGNAL_CHARACTER.test(line)) return;
      // A lone return starts the line anew on a terminal, as progress bars do.
      for (const part of stripEscapes(line).split("\r")) {
        if (fences.isFenced(part) || part.trimStart().startsWith(">")) open = null;
        else readWords(part.trim());
      }
    },
    claim: () => hold ?? last,
  };
}

/** A blocker or a question holds the task; one without words is no signal at all. */
function readHold(text: string): Claim | "empty" | null {
  if (text.startsWith("BLOCKED:")) {
    const reason = bounded(text.slice("BLOCKED:".length));
    return reason === "" ? "empty" : { is: "blocked", reason };
  }
  if (!text.startsWith("DECIDE:")) return null;
  const [question = "", ...parts] = text.slice("DECIDE:".length).split("|").map(bounded);
  const options = parts
    .filter((part) => part !== "" && !/^(?:default|deadline)\s*=/.test(part))
    .slice(0, OPTIONS_MAX);
  return question === "" ? "empty" : { is: "undecided", question, options };
}

function bounded(text: string): string {
  return text.trim().slice(0, WORDS_LENGTH_MAX);
}
