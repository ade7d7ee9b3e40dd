import { failureMessage } from "./failure-name.ts";

/** How tools write that something failed. */
export interface FailureShape {
  readonly pattern: RegExp;
  /** What failed, from what the pattern found and the file that was named last; null when it is none after all. */
  readonly read: (found: readonly string[], file: string) => string | null;
  /** The line means a failure only where something else says that there are any. */
  readonly needsProof?: true;
}

const first = ([, name = ""]: readonly string[]): string => name;
const fileAndMessage = ([, file = "", message = ""]: readonly string[]): string =>
  `${file}: ${failureMessage(message)}`;

/** Of runners of tests. */
const TESTS: readonly FailureShape[] = [
  // TAP
  {
    pattern: /^\s*not ok\b\s*\d*(?:\s*-)?\s*(.*)$/,
    read: ([, rest = ""]) => (/#\s*(?:todo|skip)\b/i.test(rest) ? null : rest.replace(/\s#\s.*$/, "")),
  },
  // node:test, vitest, AVA, Playwright; linters count their problems with the same sign
  {
    pattern: /^\s*[✖×✗✘]\s+(?:\d+\s+(?=\[))?(?:\[fail\]:\s)?(.*)$/,
    read: ([, name = ""]) =>
      /^(?:failing tests:|\d+ (?:problems?|errors?|warnings?)\b)/.test(name) ? null : name,
  },
  // jest
  {
    pattern: /^\s*●\s+(.*)$/,
    read: ([, name = ""]) => (/^(?:Console|\w+ Warning:?)$/.test(name) ? null : name),
    needsProof: true,
  },
  // nextest, jest, vitest, go (the package)
  { pattern: /^\s*FAIL\s+(?:\[[^\]]{0,40}\]\s+)?(?:\([\s\d/]{1,20}\)\s+)?(\S.*)$/, read: first },
  // RSpec
  { pattern: /^rspec (\S+?):\d+ # (.*)$/, read: ([, file = "", name = ""]) => `${file} ${name}` },
  // pytest; the reason is behind a dash
  {
    pattern: /^(?:FAILED|ERROR) (\S+?(?:\.py\b|::).*)$/,
    read: ([, rest = ""]) => /^[^\s[]*(?:\[.*?\](?= - |$))?/.exec(rest)?.[0] ?? null,
  },
  // unittest, automake
  { pattern: /^(?:FAIL|ERROR): (\w+ \([\w.]+\).*)$/, read: first },
  { pattern: /^FAIL: (\S+)/, read: first },
  // go
  { pattern: /^\s*--- FAIL: (\S+)/, read: first },
  // rust, deno
  { pattern: /^(?:test )?(\S.*?) \.\.\. FAILED\b/, read: first },
  // bun
  { pattern: /^\(fail\) (.*)$/, read: first },
  // gradle
  { pattern: /^(\S.*) FAILED$/, read: ([, name = ""]) => (name.includes(" > ") ? name : null) },
  // .NET
  { pattern: /^\s+Failed (\S.*?) \[[^\]]{1,20}\]$/, read: first },
  // maven
  { pattern: /^\[ERROR\]\s+(?:\w+\.)*?(\w+\.\w+)(?::\d+|->|\s+--\s|\s+Time elapsed)/, read: first },
  { pattern: /^\[ERROR\]\s+(\w+\([\w.$]+\))\s+Time elapsed/, read: first },
];

/** Of compilers and linters. */
const SOURCES: readonly FailureShape[] = [
  // tsc, plain and coloured
  { pattern: /^(\S.*?)(?:\(\d+,\d+\):|:\d+:\d+ -) (error TS\d+: .*)$/, read: fileAndMessage },
  // javac by maven
  { pattern: /^\[ERROR\] (\S+):\[\d+,\d+\] (.*)$/, read: fileAndMessage },
  // gcc, clang, mypy, javac, swiftc
  { pattern: /^(\S+?):\d+(?::\d+)?: ((?:fatal )?error: .*)$/, read: fileAndMessage },
  // flake8, ruff, pylint
  { pattern: /^(\S+?\.pyi?):\d+:\d+: ([A-Z]+\d+:? .*)$/, read: fileAndMessage },
  // go vet and build
  { pattern: /^(?:vet: )?(\S+?\.go):\d+:\d+: (.*)$/, read: fileAndMessage },
  // eslint and stylelint, below the name of the file
  {
    pattern: /^\s+\d+:\d+\s+(?:error|✖)\s+(\S.*)$/,
    read: ([, message = ""], file) =>
      file === "" ? failureMessage(message) : `${file}: ${failureMessage(message)}`,
  },
];

/** The more telling ones first: one line is one failure. */
export const FAILURE_SHAPES: readonly FailureShape[] = [...SOURCES, ...TESTS];
