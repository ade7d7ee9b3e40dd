import { parseDuration } from "../time.ts";
import type { Claim } from "../streams/agent-report.ts";
import type { Standing } from "./split-lines.ts";

export interface ExpectedPromise {
  readonly completion: string;
  /** Without it the bare words on a line of their own count too, in any case. */
  readonly requireXml: boolean;
}

interface Promised {
  readonly claim: Claim;
  /** The text of the promise that counts, whether or not it is the expected one; null without any. */
  readonly promise: string | null;
}

const OPEN = "<promise>";
const CLOSE = "</promise>";
const TAG_LENGTH_MAX = 64 * 1024;
const WORDS_LENGTH_MAX = 2_000;
/** Of what is told on: everything that a review found. */
const PROMISE_LENGTH_MAX = 20_000;
const OPTIONS_MAX = 20;

/** Reads `<promise>…</promise>` out of plain text, a line at a time, in bounded memory. */
export function createPromiseReader(expected: ExpectedPromise) {
  const completion = expected.completion.trim();
  const bareWords = expected.requireXml ? null : completion.toLowerCase();
  let hold: Promised | null = null;
  let last: Promised = { claim: { is: "none" }, promise: null };
  let isHidden = false;
  /** What stands after an opening tag whose end has not come yet. */
  let open: string | null = null;

  const take = (text: string): void => {
    const claim = readClaim(text, completion);
    if (claim === null) return;
    const promised = { claim, promise: text.slice(0, PROMISE_LENGTH_MAX) };
    // A blocker or a question holds the task, whatever else is said.
    if (claim.is === "blocked" || claim.is === "undecided") hold = promised;
    else last = promised;
  };
  const readWords = (words: string): void => {
    const isOpening = words.startsWith(OPEN);
    if (!isOpening && open === null) {
      if (words !== "" && words.toLowerCase() === bareWords) take(completion);
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
    read(line: string, standing: Standing): void {
      const isPlain = standing === "plain";
      if (line.includes(OPEN)) isHidden ||= isDisguised(line, completion, isPlain);
      if (!isPlain) open = null;
      // Most lines are done with after this.
      else if (open !== null || bareWords !== null || line.includes("<")) readWords(line.trim());
    },
    /** No tag is open, and no words count that stand bare. */
    isIdle: () => open === null && bareWords === null,
    /** `isHidden`: the expected promise stands alone on a line, but quoted, fenced, in a comment or decorated. */
    said: () => ({ ...(hold ?? last), isHidden }),
  };
}

/** Whether the line has the expected promise and else only marks, of which a plain one needs at least one. */
function isDisguised(line: string, completion: string, isPlain: boolean): boolean {
  const words = line.trim();
  if (words.length > completion.length + DISGUISE_LENGTH_MAX || (isPlain && words.startsWith(OPEN)))
    return false;
  const [, before = "", text = "", after = ""] = /^(.*?)<promise>(.*?)<\/promise>(.*)$/.exec(words) ?? [];
  return text.trim() === completion && MARKS_BEFORE.test(before) && MARKS_AFTER.test(after);
}

const DISGUISE_LENGTH_MAX = 200;
/** Quotation or comment, then heading or list, then bold, italics or code. */
const MARKS_BEFORE = /^(?:[\s>]*|<!--\s*)(?:#{1,6}\s+|(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s*)?)?[*_`]*$/;
const MARKS_AFTER = /^[*_`]*\s*(?:-->)?$/;

/** A blocker, a question or a finding without its words is no signal at all: null. */
function readClaim(text: string, completion: string): Claim | null {
  const [, kind, words = ""] = /^(BLOCKED|ALREADY_DONE|DECIDE):([^]*)$/.exec(text) ?? [];
  if (kind === undefined) return text === completion ? { is: "complete", promise: text } : { is: "none" };
  const [question = "", ...parts] = words.split("|").map(bounded);
  const reason = kind === "DECIDE" ? question : bounded(words);
  if (reason === "") return null;
  if (kind !== "DECIDE") return { is: kind === "BLOCKED" ? "blocked" : "already-done", reason };
  const settings = new Map<string, string>();
  const options = parts.filter((part) => {
    const [, name = "", value = ""] = /^(default|deadline)\s*=\s*(.*)$/is.exec(part) ?? [];
    if (name !== "" && !settings.has(name.toLowerCase())) settings.set(name.toLowerCase(), value);
    return part !== "" && name === "";
  });
  const deadline = settings.get("deadline") || null;
  return {
    is: "undecided",
    question,
    options: options.slice(0, OPTIONS_MAX),
    default: settings.get("default") || null,
    deadlineMs: deadline === null ? null : parseDuration(deadline),
  };
}

function bounded(text: string): string {
  return text.trim().slice(0, WORDS_LENGTH_MAX);
}
