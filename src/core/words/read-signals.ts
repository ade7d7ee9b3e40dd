import type { Claim, Failure, SignalReport, StatusBlock, Answer } from "../streams/agent-report.ts";
import { readCitations } from "./read-citations.ts";
import { readKeywords, proseOf, findWordsAgainst } from "./read-keywords.ts";
import { createPromiseReader, type ExpectedPromise } from "./read-promise.ts";
import { claimOfBlock, createStatusBlockReader } from "./read-status-block.ts";
import { withoutEcho, linesOf } from "./prompt-echo.ts";
import { createLineReader } from "./split-lines.ts";
import { createTextWindow } from "./text-window.ts";

/**
 * The final message of a plain text is all of it. Claims are looked for everywhere; prose (keywords,
 * contradictions, citations, the last error) only in this much at its end.
 */
const WINDOW_LENGTH = 64 * 1024;

/**
 * Reads everything an agent says in plain text, in linear time and bounded memory. Prose that only repeats the prompt
 * is not the agent's.
 */
export function createSignalReader(expected: ExpectedPromise, prompt = "") {
  const promises = createPromiseReader(expected);
  const blocks = createStatusBlockReader();
  const window = createTextWindow(WINDOW_LENGTH);
  const lines = createLineReader((line, standing) => {
    promises.read(line, standing);
    blocks.read(line, standing);
    window.add(line, standing);
  });
  return {
    isIdle: () => lines.isIdle() && promises.isIdle() && blocks.isIdle(),
    readLine: (line: string) => lines.read(line),
    readPlain: (plain: string) => window.addPlain(plain),
    report(failure: Failure | null): SignalReport {
      lines.end();
      const { claim: promised, promise, isHidden: isPromiseHidden } = promises.said();
      const statusBlock = blocks.block();
      const bare = blocks.bareExitSignal();
      const { claim, conflicts } = combine(promised, statusBlock, bare);
      const own = withoutEcho(window.lines(), prompt);
      const plain = own.filter(({ standing }) => standing === "plain").map(({ text }) => text);
      const finalText = own.map(({ text }) => text);
      const prose = withoutSignals(proseOf(plain));
      const keywords = readKeywords(prose);
      const citations = readCitations(own);
      const { workType = null, testsStatus = null } = statusBlock ?? {};
      const isDone = claim.is === "complete" || claim.is === "already-done";
      return {
        claim,
        promise,
        promiseMatches: promised.is === "complete",
        finalText: finalText.join("\n").trim().toWellFormed(),
        signals: {
          confidence: claim.is === "none" ? keywords.confidence : 100,
          isTestOnly:
            workType === null ? keywords.isTestOnly && citations.length === 0 : workType === "TESTING",
          isStuck: !isDone && keywords.isStuck,
          contradictions: [...conflicts, ...findWordsAgainst(prose)],
          citations,
          answers: readAnswers(plain, prompt),
          isPromiseHidden,
          errorSignature: errorSignature(failure, finalText),
          statusBlock,
          exitSignal: statusBlock?.exitSignal ?? bare,
          workType,
          testsStatus,
        },
      };
    },
  };
}

/** A promise outranks the block, and the block a bare line; who is overruled is told. */
function combine(promised: Claim, block: StatusBlock | null, bare: boolean | null) {
  const ofBlock = claimOfBlock(block);
  const ofLine: Claim = bare === true ? { is: "complete", promise: "EXIT_SIGNAL: true" } : { is: "none" };
  const claim = [promised, ofBlock, ofLine].find(({ is }) => is !== "none") ?? promised;
  const conflicts: string[] = [];
  const isByLine = promised.is === "none" && ofLine.is === "complete";
  if ((promised.is === "complete" || isByLine) && (ofBlock.is === "blocked" || ofBlock.is === "unfinished")) {
    const by = isByLine ? "a line says EXIT_SIGNAL: true" : "the promise is printed";
    const decides = block?.status === "BLOCKED" || block?.exitSignal == null;
    const field = decides ? `STATUS: ${block?.status}` : `EXIT_SIGNAL: ${block.exitSignal}`;
    conflicts.push(`${by}, but the status block says ${field}`);
  }
  if (claim.is === "complete" && block?.testsStatus === "FAILING")
    conflicts.push("the status block says TESTS_STATUS: FAILING");
  return { claim, conflicts };
}

/** What stands in a promise or a field is read as such, and not as prose too; a recommendation is prose. */
function withoutSignals(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  const lastEnd = lines.findLastIndex((line) => line.includes("</promise>"));
  let isInside = false;
  for (const [index, line] of lines.entries()) {
    if (line.trimStart().startsWith("<promise>")) isInside = index <= lastEnd;
    if (!isInside && !FIELD.test(line)) kept.push(line);
    if (line.includes("</promise>")) isInside = false;
  }
  return kept;
}

const FIELD =
  /^\s*(?:STATUS|TASKS_COMPLETED_THIS_LOOP|FILES_MODIFIED|TESTS_STATUS|WORK_TYPE|EXIT_SIGNAL)\s*:/i;

const ANSWERS_MAX = 50;
const TEXT_LENGTH_MAX = 500;

/** Lines such as "Concern 1: …" and "Finding 2: …", with what follows up to a blank line; the last of each counts. */
function readAnswers(lines: readonly string[], prompt: string): readonly Answer[] {
  const given = new Set(linesOf(prompt));
  const answers = new Map<string, Answer>();
  let open: string | null = null;
  for (const line of lines) {
    const words = line.trim().replaceAll(/\s+/g, " ");
    const [, about = "", number = "", text = ""] = ANSWER.exec(words) ?? [];
    const known: Answer | undefined = open === null ? undefined : answers.get(open);
    if (about !== "" && !given.has(words)) {
      open = `${about} ${number}`.toLowerCase();
      answers.delete(open);
      const kind = about.toLowerCase() === "concern" ? "concern" : "finding";
      answers.set(open, { about: kind, number: Number(number), text: bounded(text) });
    } else if (known === undefined || open === null || about !== "" || ENDS.test(words)) open = null;
    else answers.set(open, { ...known, text: bounded(`${known.text} ${words}`) });
  }
  return [...answers.values()].filter(({ text }) => WORDS.test(text)).slice(-ANSWERS_MAX);
}

const ANSWER =
  /^(?:(?:[-*+•#]{1,6}|\d{1,3}[.)]) )?[*_]{0,2}(concern|finding) #?([1-9]\d{0,3})[*_]{0,2} ?:[*_]{0,2} ?(.*)$/i;
/** More than dots, and no placeholder in angle brackets. */
const WORDS = /^(?!<[^<>]*>$).*[\p{L}\p{N}]/u;
/** A blank line, a tag, a heading, a status block or another item of a list. */
const ENDS = /^(?:$|<|#|---|[-*+•] )/;

function bounded(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).trim().toWellFormed();
}

const LINE_LENGTH_MAX = 2_000;
const SIGNATURE_LENGTH_MAX = 300;

/**
 * The last error without what differs from time to time: paths, numbers, times. Two iterations that fail for the
 * same reason have the same signature; null without an error.
 */
export function errorSignature(failure: Failure | null, finalText: readonly string[]): string | null {
  const message = (failure?.message ?? "").split("\n").filter((line) => line.trim() !== "");
  const line = message.findLast(isError) ?? finalText.findLast(isError) ?? message.at(-1) ?? failure?.class;
  return line === undefined ? null : normalise(line);
}

function isError(line: string): boolean {
  const words = line.slice(0, LINE_LENGTH_MAX);
  return ERRORS.some((shape) => shape.test(words)) && !HARMLESS.test(words);
}

/** As programs print them; prose about errors is none. */
const ERRORS: readonly RegExp[] = [
  /(?:^|[\s[(])(?:[A-Z]\w*)?(?:Error|Exception)(?:\s?[[(][^\])]{0,40}[\])])?:/,
  /(?:^|[\s[(])(?:error|fatal|panic|failed|failure)(?:\s?\[[^\]]{0,40}\]|\s[A-Z]{1,6}\d{1,6})?:/i,
  /^\s*(?:npm )?ERR!|^\s*(?:FAILED|FAIL|ERROR|FATAL|PANIC)\b|\bpanicked at\b|^\s*E\s{2,}\S/,
  /\b(?:segmentation fault|command not found|permission denied|no such file or directory|out of memory)\b/i,
];
const HARMLESS =
  /\b(?:no|0|zero|without|fixed|resolved|handles?|handled)\s(?:\w+\s)?(?:errors?|failures?|failed|exceptions?)\b|\b(?:errors?|failures?|failed)\s?[:=]\s?(?:0|none)\b/i;

function normalise(line: string): string {
  return line
    .slice(0, LINE_LENGTH_MAX)
    .replaceAll(TIMES, "…")
    .split(DELIMITER)
    .map(withoutDetails)
    .join("")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/…(?:[\s:,.-]*…)+/g, "…")
    .trim()
    .slice(0, SIGNATURE_LENGTH_MAX)
    .toWellFormed();
}

const TIMES =
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?[ap]m)?\b|\b\d{1,12}(?:\.\d{1,9})?\s?(?:ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b/gi;

/** Kept, so that the line stays readable. */
const DELIMITER = /([\s"'`()[\]{},;<>=]+)/;
const PATH =
  /[/\\]|^[\w.-]+\.[A-Za-z]{1,5}:\d|^[\w-]+\.(?:[cm]?[jt]sx?|py|rs|go|java|rb|php|c|h|cpp|cs|swift|kt|json|toml|ya?ml|md|txt|sh|css|html|vue|sql|log|lock):?$/i;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** With a digit in it, or it may be a word. */
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]{0,40}\d)[0-9a-f]{7,64}\b/gi;

function withoutDetails(word: string): string {
  if (PATH.test(word)) return word.endsWith(":") ? "…:" : "…";
  return word
    .replaceAll(UUID, "…")
    .replaceAll(HEX, "…")
    .replaceAll(/\d+(?:[.,]\d+)*/g, "…");
}
