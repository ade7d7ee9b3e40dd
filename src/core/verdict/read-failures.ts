import { stripEscapes } from "../words/strip-escapes.ts";

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

/** The more telling ones first: one line is one failure. */
function failureIn(line: string, lastFile: string, hasProof: boolean): string | null {
  for (const source of SOURCES) {
    const { file = lastFile, message = null } = source.exec(line)?.groups ?? {};
    if (message !== null) return `${file === "" ? "" : `${file}: `}${failureMessage(message)}`;
  }
  for (const test of hasProof ? [PROVEN_TEST, ...TESTS] : TESTS) {
    const found = test.exec(line);
    if (found !== null) return found.slice(1).join(" ");
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

/** How runners of tests write that one failed: its name is what the groups have. */
const TESTS: readonly RegExp[] = [
  // TAP
  /^\s*not ok\b\s*\d*(?:\s*-)?\s*(?!.*#\s*(?:[tT][oO][dD][oO]|[sS][kK][iI][pP])\b)(.*?)(?:\s#\s.*)?$/,
  // node:test, vitest, AVA, Playwright; linters count their problems with the same sign
  /^\s*[✖×✗✘]\s+(?:\d+\s+(?=\[))?(?:\[fail\]:\s)?(?!\s|failing tests:|\d+ (?:problem|error|warning)s?\b)(.*)$/,
  // nextest, jest, vitest, go (the package)
  /^\s*FAIL\s+(?:\[[^\]]{0,40}\]\s+)?(?:\([\s\d/]{1,20}\)\s+)?(\S.*)$/,
  // RSpec
  /^rspec (\S+?):\d+ # (.*)$/,
  // pytest; the reason is behind a dash
  /^(?:FAILED|ERROR) (?=\S+?(?:\.py\b|::))([^\s[]*(?:\[.*?\](?= - |$))?)/,
  // unittest, automake
  /^(?:FAIL|ERROR): (\w+ \([\w.]+\).*)$/,
  /^FAIL: (\S+)/,
  // go
  /^\s*--- FAIL: (\S+)/,
  // rust, deno
  /^(?:test )?(\S.*?) \.\.\. FAILED\b/,
  // bun
  /^\(fail\) (.*)$/,
  // gradle
  /^(\S.* > .*) FAILED$/,
  // .NET
  /^\s+Failed (\S.*?) \[[^\]]{1,20}\]$/,
  // maven
  /^\[ERROR\]\s+(?:\w+\.)*?(\w+\.\w+)(?::\d+|->|\s+--\s|\s+Time elapsed)/,
  /^\[ERROR\]\s+(\w+\([\w.$]+\))\s+Time elapsed/,
];
/** jest; the line means a failure only where something else says that there are any. */
const PROVEN_TEST = /^\s*●\s+(?!\s|(?:Console|\w+ Warning:?)$)(.*)$/;

/** Of compilers and linters: the file and the message; without a file it is the one that was named last. */
const SOURCES: readonly RegExp[] = [
  // tsc, plain and coloured
  /^(?<file>\S.*?)(?:\(\d+,\d+\):|:\d+:\d+ -) (?<message>error TS\d+: .*)$/,
  // javac by maven
  /^\[ERROR\] (?<file>\S+):\[\d+,\d+\] (?<message>.*)$/,
  // gcc, clang, mypy, javac, swiftc
  /^(?<file>\S+?):\d+(?::\d+)?: (?<message>(?:fatal )?error: .*)$/,
  // flake8, ruff, pylint
  /^(?<file>\S+?\.pyi?):\d+:\d+: (?<message>[A-Z]+\d+:? .*)$/,
  // go vet and build
  /^(?:vet: )?(?<file>\S+?\.go):\d+:\d+: (?<message>.*)$/,
  // eslint and stylelint, below the name of the file
  /^\s+\d+:\d+\s+(?:error|✖)\s+(?<message>\S.*)$/,
];

const NAME_LENGTH_MAX = 200;

/** A failure without what differs from run to run: durations, addresses, places in files, where the project lies. */
function failureName(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(RULE_AT_END, "")
    .replace(DURATION_AT_END, "")
    .replaceAll(ADDRESS, "…")
    .replaceAll(ABSOLUTE, "$1")
    .replaceAll(PLACE, "")
    .trim()
    .slice(0, NAME_LENGTH_MAX)
    .toWellFormed();
}

/** What a tool says about a failure may hold numbers that grow; a name that somebody gave does not. */
function failureMessage(text: string): string {
  return text.replaceAll(/(?<![\w.])\d+(?:[.,]\d+)*(?!\w)/g, "…");
}

const RULE_AT_END = / ─{3,}$/;
const DURATION_AT_END =
  / (?:[([] ?\d[\d.,]{0,12} ?(?:ns|[mµμ]?s|sec|min|m) ?[)\]]|\d[\d.,]{0,12} ?(?:ns|[mµμ]?s))$/;
const ADDRESS = /\b0x[0-9a-f]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** The last folder and the name are kept. */
const ABSOLUTE = /(?<![\w./-])(?:[A-Za-z]:|file:\/\/)?[/\\](?:[\w.@+-]+[/\\])+([\w.@+-]+[/\\][\w.@+-]+)/g;
/** `:12:3`, `(12,3)` and `:[12,3]` behind a file, and `(line 12)`. */
const PLACE = /(?<=\.\w{1,6})(?::\d+(?::\d+)?|:?[([]\d+,\d+[)\]])|\s?\(line \d+\)/g;
