import { formatDuration, type Instant } from "../time.ts";
import type { Ending, Failure, FailureClass, FailureKind } from "./agent-report.ts";
import { classifyFailure } from "./classify-failure.ts";
import { readResetTime } from "./read-reset-time.ts";
import { failureOf, type StreamFacts, type StreamFailure } from "./stream-facts.ts";

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
  if (isCutOff && facts.retrying !== null) {
    // Ended by us while the program tried again and again by itself.
    const failure = classifyError(facts.retrying, now, zone);
    return failure.class === "agent" ? { ...failure, class: "transient" } : failure;
  }
  if (ending.is === "idle" && facts.isWaiting)
    return {
      class: "transient",
      message: `no answer from its service for ${formatDuration(ending.afterMs)}`,
    };
  // Asked to end because its time was over, it says that it was interrupted.
  if (isCutOff && facts.failure?.isOwn !== false) return classifyFailure(ending, SILENCE);
  if (facts.failure !== null) {
    // Of some errors opencode's stream says only that there was one, and its log what it was.
    const error = facts.failure.kind === "UnknownError" ? (facts.retrying ?? facts.failure) : facts.failure;
    return classifyError({ ...error, status: statusOf(error, ending) }, now, zone);
  }
  if (ending.is !== "exited")
    return facts.isOver && ending.is === "signalled" ? null : classifyFailure(ending, SILENCE);
  // An error that it got over may still be in its exit code.
  if (facts.isOver && ending.code !== 0 && !facts.hadErrors)
    return own(`exit code ${ending.code} after the final result`, end);
  if (facts.isOver) {
    const isEmpty = facts.message.trim() === "" && facts.toolCalls === 0;
    const message = "it ended without a word and without a tool call";
    return isEmpty ? { class: "agent", kind: "empty", message } : null;
  }
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
  const line = linesOf(end.words).findLast((words) => ruleFor(words, null) !== null);
  if (line !== undefined) return classifyError(failureOf(line), now, zone);
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

/** Whether trying again, without a person, cannot help. */
export function isHopeless(error: StreamFailure): boolean {
  const { class: kind, kind: what } = classifyError(error, 0, "UTC");
  return kind === "auth" || kind === "config" || what === "credit";
}

function classifyError(error: StreamFailure, now: Instant, zone: string): Failure {
  const message = cut(error.message.trim());
  const found = ruleFor(`${error.kind ?? ""} ${error.message}`, error.status);
  const rule = error.isOwn && found?.[1] !== "agent" ? null : found;
  const kind =
    rule?.[1] ??
    (error.isOwn ? "agent" : (byStatus(error.status) ?? byName(error.kind) ?? byWords(error, now, zone)));
  // What an agent does not find may be something else than its model.
  const isModel = error.status === 404 && error.kind !== "not_found";
  const what = error.what ?? rule?.[2] ?? (isModel ? "model" : error.status === 402 ? "credit" : null);
  return {
    class: kind,
    ...(what !== null && { kind: what }),
    message,
    ...(kind === "limit" && { resetsAt: resetOf(error, now, zone) }),
  };
}

type Rule = readonly [RegExp, FailureClass, FailureKind?];

/**
 * What the service or the program says of the matter itself. It counts for more than the number that comes with it:
 * for each of these some send 400, others 401, 403 or 429.
 */
const RULES: readonly Rule[] = [
  [
    /context_?length|context_?overflow|context_?window_?exceeded|context (?:window|limit)|maximum context|prompt (?:is|as) too long|prompt_too_long|max_prompt_tokens|(?:input|prompt)(?: length| tokens?| token count)[^.]{0,80}exceed|conversation (?:is )?too long/i,
    "agent",
    "overflow",
  ],
  [/\bempty response\b|\bno response was returned\b/i, "agent", "empty"],
  [/\bmax_?output_?tokens\b|\boutput token maximum\b/i, "agent", "length"],
  [/\bmax(?:imum)?[ _](?:session |number of )?turns\b/i, "agent", "turns"],
  [
    /usage polic|content[ _-]?(?:filter|policy|management)|prohibited_content|\bfinish ?reason:? ?(?:safety|recitation|blocklist)|(?:flagged|blocked) (?:as|for|by|due to) [^.]{0,40}(?:safety|policy|violat|potential|risk)|cyber_?policy|\binvalid_prompt\b/i,
    "agent",
    "refusal",
  ],
  [
    /credit balance|credits?error|credits? (?:are |is |have been )?(?:depleted|exhausted|used up)|out of (?:\w+ )?credits?|no credits?\b|insufficient[ _](?:balance|funds|credits?|quota)|no payment method|payment required|billing_error|billing (?:hard limit|not (?:active|enabled))|quota exceeded\. check your plan|current quota, please check your plan(?!.*(?:metric|retry in))|you have no quota|spend(?:ing)? (?:cap|limit)|purchase (?:more )?credits to/i,
    "limit",
    "credit",
  ],
  [
    /usage limits?\b|(?:hit|reached|exceeded|exhausted) your (?:[\w'-]+ ){0,4}(?:limit|quota|capacity)|regain access on|quota will reset|too many requests|rate.?limit(?:ed| reached| exceeded)/i,
    "limit",
  ],
  [
    /organi[sz]ation (?:has been |is )?disabled|disabled organi[sz]ation|organization has disabled|(?:account|subscription|workspace|api key)[^.]{0,40}\b(?:disabled|suspended|deactivated|banned|expired|cancell?ed|revoked|inactive)|upgrade to (?:plus|pro|max|a paid|team|business)|usage_not_included|plan (?:does not|doesn't) include|not included in your plan|not available (?:on|with|for|in) your (?:plan|account|country|region|subscription)|unsupported_country|no (?:active |valid )?(?:subscription|licen[cs]e)|not licen[cs]ed|no access to (?:claude|codex|copilot)|(?:does not|doesn't|do not|don't) have (?:access to (?:claude|codex|copilot|gemini)|permission)|oauth_org_not_allowed|org_disabled_credential|account_on_hold|verification_required|cloud_credential_error|ineligible|policy settings|denied by [^.]{0,30}policy|not authorized to use|on hold|permission[_ ]denied/i,
    "auth",
  ],
  [
    /missing (?:environment variable|bearer|credentials|api key|authorization)|(?:environment variable|api[ _]key)[^.]{0,60}(?:not set|not found|missing|required|not valid|invalid)|no (?:api key|auth(?:entication)?|credentials|provider)\b[^.]{0,30}(?:found|configured|available|set|provided|information)|not (?:logged|signed) in|(?:log|sign) ?(?:in|out) (?:again|and)|\/login\b|auth(?:entication)?[ _]required|unauthori[sz]ed|unauthenticated|authentication failed|token[^.]{0,40}(?:expired|revoked|invalid|could not be refreshed)/i,
    "auth",
  ],
  [
    /model_?not_?found|(?:unknown|invalid|unsupported|no such) model\b|\bmodels?\b[^.]{0,80}(?:not found|does not exist|not exist|is not (?:supported|available|valid)|may not exist)|model not found|not offer the model/i,
    "config",
    "model",
  ],
];

/** Words about tokens are about the context, but not where a service counts them by the minute. */
const BY_TIME = /per[- ](?:minute|hour|day)|rate limit|\b[TR]P[MD]\b/i;

function ruleFor(words: string, status: number | null): Rule | null {
  const isByTime = status === 429 || BY_TIME.test(words);
  return RULES.find(([shape, , kind]) => !(isByTime && kind === "overflow") && shape.test(words)) ?? null;
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
  [/overload|server_error|unavailable|timeout|connection|network|stream_?disconnected/i, "transient"],
];

function byName(kind: string | null): FailureClass | null {
  return NAMES.find(([name]) => name.test(kind ?? ""))?.[1] ?? null;
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
  /\bstream (?:disconnected|closed|error)|\bat capacity\b|\boverloaded\b|\bhigh demand\b|\bconnection (?:was )?(?:closed|lost|dropped|reset|error|failed)|\bpremature close\b|\bterminated\b|\bsocket\b|\b(?:could not|unable to|failed to|can't) (?:connect|reach)\b|\breading a body\b|\bunexpected eof\b|\beconn\w+|\benotfound\b|\betimedout\b|\bnetwork\b|\bfetch failed\b|\btimed? ?out\b|\btemporarily unavailable\b|\berror sending request\b/i;

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
