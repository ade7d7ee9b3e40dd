import { formatDuration } from "../duration.ts";
import type { Instant } from "../time.ts";
import { unreachable } from "../unreachable.ts";
import type { Ending, Failure } from "./agent-report.ts";
import { readLimit, type Refusal } from "./read-limit.ts";
import { readResetTime } from "./read-reset-time.ts";
import { stripEscapes } from "./strip-escapes.ts";

export interface OutputTail {
  /** The end of what came on stderr. */
  readonly stderr: string;
  /** Of stdout. */
  readonly lastLines: readonly string[];
}

/**
 * What went wrong with an agent process that spoke plain text; null when nothing did, or the judge knows better.
 * Without `now` nobody can tell when a limit ends; times that name no zone are in `zone` (an IANA name).
 */
export function classifyFailure(
  ending: Ending,
  tail: OutputTail,
  now: Instant | null = null,
  zone = "UTC",
): Failure | null {
  switch (ending.is) {
    case "exited":
      return ending.code === 0 ? null : classifyExit(ending.code, tail, now, zone);
    case "timed-out":
      return { class: "agent", message: `no end after ${Math.round(ending.afterMs / 1_000)} s` };
    case "idle":
      return {
        class: "agent",
        message: `no sign of life for ${formatDuration(ending.afterMs)} (no output, no tool call, no change in the work tree, no CPU)`,
      };
    case "signalled":
      return { class: "agent", message: `killed by ${ending.signal}` };
    case "not-started":
      return { class: "config", message: ending.message };
    case "stopped":
    case "interrupted":
      return null;
    default:
      return unreachable(ending);
  }
}

const LAST_LINES = 10;
const LINE_LENGTH_MAX = 2_000;
const MESSAGE_LENGTH_MAX = 300;

function classifyExit(
  code: number,
  { stderr, lastLines }: OutputTail,
  now: Instant | null,
  zone: string,
): Failure {
  const errors = stderr
    .split("\n")
    .map(readable)
    .filter((line) => line !== "");
  const suspects = [...errors, ...lastLines.slice(-LAST_LINES).map(readable)];
  const refusal = readLimit(suspects);
  if (refusal !== null) {
    const message = refusal.line.slice(0, MESSAGE_LENGTH_MAX);
    if (refusal.class === "auth") return { class: "auth", message };
    return { class: "limit", message, resetsAt: now === null ? null : resetOf(refusal, suspects, now, zone) };
  }
  const outage = suspects.findLast((line) => OUTAGES.some((shape) => shape.test(line)));
  if (outage !== undefined) return { class: "transient", message: outage.slice(0, MESSAGE_LENGTH_MAX) };
  const last = errors.at(-1);
  const message = last === undefined ? `exit code ${code}` : `exit code ${code}: ${last}`;
  return { class: "agent", message: message.slice(0, MESSAGE_LENGTH_MAX) };
}

const LINES_AROUND = 10;

/** The line itself says it, or one that goes with it: wrapped words, the other fields, the headers before. */
function resetOf({ line }: Refusal, lines: readonly string[], now: Instant, zone: string): Instant | null {
  const at = lines.lastIndexOf(line);
  const after = lines.slice(at, at + 1 + LINES_AROUND).join("\n");
  const before = lines.slice(Math.max(0, at - LINES_AROUND), at).join("\n");
  return readResetTime(after, now, zone) ?? readResetTime(before, now, zone);
}

function readable(line: string): string {
  return stripEscapes(line.slice(0, LINE_LENGTH_MAX)).trim();
}

const CODES =
  "(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)";

/**
 * Each wants the words around that an error has: prose about error handling, or a file called 502.html, is no
 * outage.
 */
const OUTAGES: readonly RegExp[] = [
  new RegExp(
    `(?:^|[:=("'\\[{]\\s*|\\b(?:connect|read|write|getaddrinfo|error|errno|code|failed|syscall)\\s+["']?)${CODES}\\b`,
    "i",
  ),
  /\bsocket hang up\b/i,
  /\bnetwork error\b/i,
  /\b(?:fetch failed|connection (?:error|reset by peer|refused|timed out))\b/i,
  /\boverloaded_error\b/i,
  /^(?:error\W+|api error\W+)?overloaded\W*$/i,
  /\b(?:api|model|server|service|engine|system|provider)\s+(?:is|are)\s+(?:currently\s+|temporarily\s+)?overloaded\b/i,
  /\b(?:error|529)\b[\s:("'-]*overloaded\b/i,
  /\boverloaded[,.;:]?\s+(?:please|try|retry)/i,
  /\b(?:http(?:\/[\d.]+)?|status|status code|statuscode|(?:api )?error)["']?[\s:=(#"'-]{0,4}5(?:00|02|03|04|29)(?![\w%]|\.\w)/i,
  /\b5(?:00|02|03|04|29)\s+(?:internal server error|bad gateway|service unavailable|gateway time-?out|overloaded)\b/i,
  /\b(?:service unavailable|bad gateway|internal server error|gateway time-?out)\b/i,
];
