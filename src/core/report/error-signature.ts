import type { Failure } from "./agent-report.ts";

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
