import { stripVTControlCharacters } from "node:util";

/** What a run of the tests leaves for the check to count and to tell. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** A test that failed, or something outside any test: a file that does not load, a hook, a stray error. */
export interface Failure {
  readonly file: string;
  readonly name: string;
  readonly message: string;
}

const MESSAGE_LINES = 15;
const OUTPUT_LINES = 200;

/** What failed and why, so short that even the head of a long output tells all of it. */
export function tellFailures(failures: readonly Failure[]): string {
  return failures.map((failure) => `${title(failure)}\n${indent(firstLines(failure.message))}`).join("\n\n");
}

export function listFailures(failures: readonly Failure[]): string {
  return failures.map((failure) => `FAILED  ${title(failure)}`).join("\n");
}

/** The end of what a program said, without colours. */
export function endOf(output: string): string {
  const lines = plain(output).trimEnd().split("\n");
  if (lines.length <= OUTPUT_LINES) return lines.join("\n");
  return [`(${lines.length - OUTPUT_LINES} lines left out)`, ...lines.slice(-OUTPUT_LINES)].join("\n");
}

export function plain(text: string): string {
  return stripVTControlCharacters(text);
}

function title({ file, name }: Failure): string {
  return name === "" ? file : `${file} > ${name}`;
}

function firstLines(message: string): string {
  const lines = plain(message).trim().split("\n");
  if (lines.length <= MESSAGE_LINES) return lines.join("\n");
  return [...lines.slice(0, MESSAGE_LINES), `(${lines.length - MESSAGE_LINES} more lines)`].join("\n");
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "    ");
}
