import { failureMessage, failureName } from "./failure-name.ts";
import { FAILURE_SHAPES } from "./failure-shapes.ts";
import { stripEscapes } from "./strip-escapes.ts";

const FAILURES_MAX = 50;
const LINE_LENGTH_MAX = 2_000;

/**
 * The names of what failed in the output of a test runner, linter or compiler; the same failure has the same name
 * next time. Empty when nothing is recognised.
 */
export function readFailures(tail: string): readonly string[] {
  const lines = tail.split("\n").map((line) => stripEscapes(line.slice(0, LINE_LENGTH_MAX)).trimEnd());
  const names = new Set<string>();
  const hasProof = lines.some((line) => PROOF.test(line));
  const isUnformatted = lines.some((line) => line.startsWith("[warn] Code style issues"));
  let file = "";
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    if (names.size === FAILURES_MAX) break;
    if (FILE_LINE.test(line)) file = line;
    const name =
      rustError(lines, index) ??
      (hasProof ? numbered(lines, index) : null) ??
      (isUnformatted ? unformatted(line) : null) ??
      failureIn(line, file, hasProof);
    const normal = name === null ? "" : failureName(name);
    if (normal !== "") names.add(normal);
  }
  return [...names];
}

/** What fails now and did not before. */
export function newFailures(before: readonly string[], now: readonly string[]): readonly string[] {
  const known = new Set(before);
  return now.filter((name) => !known.has(name));
}

/** Runners say at the end how many tests failed. */
const PROOF = /\b[1-9]\d* (?:failing|failed|failures?)\b|^\s*FAIL\b|^FAILURES!|\bFailures: [1-9]/;
const FILE_LINE = /^\S.*\.\w{1,6}$/;

function failureIn(line: string, file: string, hasProof: boolean): string | null {
  for (const { pattern, read, needsProof } of FAILURE_SHAPES) {
    const found = needsProof && !hasProof ? null : pattern.exec(line);
    if (found !== null) return read(found, file);
  }
  return null;
}

/** `error[E0308]: …`, and on the next line where; without a place it is only a summary. */
function rustError(lines: readonly string[], index: number): string | null {
  const message = /^error(?:\[\w+\])?: .*$/.exec(lines[index] ?? "")?.[0];
  if (message === undefined) return null;
  const place = /^\s*--> (\S+?):\d+:\d+$/.exec(lines[index + 1] ?? "");
  if (place !== null) return `${place[1]}: ${failureMessage(message)}`;
  return message.startsWith("error[") ? failureMessage(message) : null;
}

const TITLE_LINES_MAX = 6;

/** mocha, Playwright, PHPUnit, RSpec and ExUnit number what failed; the title of mocha goes over several lines. */
function numbered(lines: readonly string[], index: number): string | null {
  const [, indent = "", start] = /^(\s*)\d{1,5}\) (\S.*)$/.exec(lines[index] ?? "") ?? [];
  if (start === undefined) return null;
  // minitest
  if (/^(?:Failure|Error):$/.test(start)) return lines[index + 1]?.split(" [", 1)[0] ?? null;
  const title = [start];
  for (let next = index + 1; !isTitleEnd(title.at(-1)) && next < index + TITLE_LINES_MAX; next += 1) {
    const line = lines[next] ?? "";
    if (!line.startsWith(`${indent}     `)) return start;
    title.push(line.trim());
  }
  return isTitleEnd(title.at(-1)) ? title.join(" ").slice(0, -1) : start;
}

function isTitleEnd(line: string | undefined): boolean {
  return line?.endsWith(":") ?? false;
}

/** Prettier names what is not as it would write it. */
function unformatted(line: string): string | null {
  const file = /^\[warn\] (\S+\.\w+)$/.exec(line)?.[1];
  return file === undefined ? null : `${file}: not formatted`;
}
