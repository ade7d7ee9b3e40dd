import type { Instant } from "../../time.ts";
import type { Ending, Failure, FailureClass } from "../agent-report.ts";
import { classifyFailure } from "../classify-failure.ts";
import { readResetTime } from "../read-reset-time.ts";
import type { StreamFacts, StreamFailure } from "./stream-facts.ts";

/** What is known of a process that spoke a structured format. */
export interface StreamEnd {
  readonly ending: Ending;
  readonly facts: StreamFacts;
  /** Whether there was any event at all: one that refused to start has only words. */
  readonly hasEvents: boolean;
  /** The end of what came on stdout and was no event, then of stderr. */
  readonly words: string;
}

const MESSAGE_LENGTH_MAX = 300;

/**
 * What went wrong; null when nothing did, or the judge knows better. Only error results and structured events count,
 * never prose, tool results, or the retries of the program itself.
 */
export function classifyStreamFailure(end: StreamEnd, now: Instant, zone: string): Failure | null {
  const { ending, facts } = end;
  if (ending.is === "stopped" || ending.is === "interrupted" || ending.is === "not-started")
    return classifyFailure(ending, SILENCE);
  const isCutOff = ending.is === "timed-out" || ending.is === "idle";
  // Asked to end because its time was over, it says that it was interrupted.
  if (isCutOff && facts.failure?.isOwn !== false) return classifyFailure(ending, SILENCE);
  if (facts.failure !== null)
    return classifyError({ ...facts.failure, status: statusOf(facts.failure, ending) }, now, zone);
  if (ending.is !== "exited")
    return facts.isOver && ending.is === "signalled" ? null : classifyFailure(ending, SILENCE);
  if (facts.isOver)
    return ending.code === 0 ? null : own(`exit code ${ending.code} after the final result`, end);
  if (!end.hasEvents && ending.code !== 0) return classifyRefusal(end, ending, now, zone);
  return own(`no final result (exit code ${ending.code})`, end);
}

const SILENCE = { stderr: "", lastLines: [] };

function own(message: string, { ending, words }: StreamEnd): Failure {
  const isQuiet = ending.is === "exited" && ending.code === 0;
  const last = isQuiet ? undefined : linesOf(words).at(-1);
  return { class: "agent", message: cut(last === undefined ? message : `${message}: ${last}`) };
}

/** It did not start: its words are all there is. */
function classifyRefusal(end: StreamEnd, ending: Ending, now: Instant, zone: string): Failure {
  const said = classifyFailure(ending, { stderr: end.words, lastLines: [] }, now, zone);
  return said === null || said.class === "agent"
    ? { class: "config", message: said?.message ?? "it did not start" }
    : said;
}

/** Gemini ends with the lower eight bits of the status: 145 is 401, 173 is 429. */
function statusOf({ status, isOwn }: StreamFailure, ending: Ending): number | null {
  if (status !== null || isOwn || ending.is !== "exited") return status;
  return ending.code >= 144 && ending.code <= 255 ? ending.code + 256 : null;
}

function classifyError(error: StreamFailure, now: Instant, zone: string): Failure {
  const message = cut(error.message.trim());
  const kind = error.isOwn ? "agent" : (byStatus(error.status) ?? byName(error) ?? byWords(error, now, zone));
  return kind === "limit"
    ? { class: kind, message, resetsAt: resetOf(error, now, zone) }
    : { class: kind, message };
}

function byStatus(status: number | null): FailureClass | null {
  if (status === null) return null;
  if (status === 429 || status === 402) return "limit";
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "config";
  return status >= 500 || status === 408 ? "transient" : null;
}

const NAMES: readonly (readonly [RegExp, FailureClass])[] = [
  [/rate_?limit|usage_?limit|quota|resource_?exhausted|too_?many_?requests/i, "limit"],
  [/^auth|authenticat|unauthori|permission_error|ProviderAuth/i, "auth"],
  [/overload|server_error|unavailable|timeout|connection|network/i, "transient"],
];

function byName({ kind }: StreamFailure): FailureClass | null {
  return kind === null ? null : (NAMES.find(([name]) => name.test(kind))?.[1] ?? null);
}

/** Where there is no number and no name there are only words; they are the service's, so they may say it in any way. */
function byWords({ message }: StreamFailure, now: Instant, zone: string): FailureClass {
  if (SESSIONS.test(message)) return "config";
  const status = /\bstatus(?: code)?:? (\d{3})\b/i.exec(message)?.[1];
  const told = status === undefined ? null : byStatus(Number(status));
  if (told !== null) return told;
  const said = classifyFailure({ is: "exited", code: 1 }, { stderr: message, lastLines: [] }, now, zone);
  if (said !== null && said.class !== "agent") return said.class;
  return DROPPED.test(message) ? "transient" : "agent";
}

const SESSIONS =
  /\bno (?:conversation|session|thread|rollout) found\b|\bsession (?:id )?\S{0,60} ?(?:is )?(?:already in use|not found|does not exist)\b|\binvalid session\b/i;
const DROPPED =
  /\bstream (?:disconnected|closed|error)|\bat capacity\b|\boverloaded\b|\bhigh demand\b|\bconnection (?:was )?(?:closed|lost|dropped|reset|error|failed)|\bpremature close\b|\bterminated\b|\bsocket\b|\bnetwork\b|\bfetch failed\b|\btimed? ?out\b|\btemporarily unavailable\b|\berror sending request\b/i;

function resetOf({ resetsAt, resetTexts, at }: StreamFailure, now: Instant, zone: string): Instant | null {
  if (resetsAt !== null) return resetsAt;
  for (const text of resetTexts) {
    const found = readResetTime(text, at ?? now, zone);
    if (found !== null) return found;
  }
  return null;
}

function linesOf(words: string): readonly string[] {
  return words
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function cut(message: string): string {
  return message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
}
