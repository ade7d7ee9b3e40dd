import { type Instant, formatDuration } from "../time.ts";
import { unreachable } from "../unreachable.ts";
import type { Ending, Failure } from "./agent-report.ts";
import { readResetTime } from "./read-reset-time.ts";
import { stripEscapes } from "../words/strip-escapes.ts";

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
      return { class: "agent", message: `timed out after ${formatDuration(ending.afterMs)}` };
    case "idle":
      return {
        class: "agent",
        message: `no sign of life for ${formatDuration(ending.afterMs)} (no output, no tool call, no change in the work tree, no CPU)`,
      };
    case "signalled":
      return { class: "agent", message: `killed by ${ending.signal}` };
    case "not-started":
      return EXHAUSTED.test(ending.message)
        ? {
            class: "transient",
            message: `${ending.message}: this machine has no more to give (ulimit -n, ulimit -u)`,
          }
        : { class: "config", message: ending.message };
    case "stopped":
    case "interrupted":
      return null;
    default:
      return unreachable(ending);
  }
}

/** Open files, processes, memory: the machine's fault, and for a while. */
const EXHAUSTED = /\b(?:EMFILE|ENFILE|EAGAIN|ENOMEM)\b/;
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

/** An agent that may not work now: it used too much, or nobody is logged in. */
interface Refusal {
  readonly class: "limit" | "auth";
  readonly line: string;
}

/** A message may begin at so many places of a line. */
const STARTS_MAX = 40;

/**
 * The last line in which an agent or its service refuses to go on. It must have the shape of an error message:
 * prose, code, tests and logs about limits and logins are none, nor are attempts that are followed by another.
 */
export function readLimit(lines: readonly string[]): Refusal | null {
  for (const line of lines.toReversed()) {
    const words = line.slice(0, LINE_LENGTH_MAX).replaceAll("’", "'");
    if (!HINT.test(words) || isOtherMatter(words)) continue;
    const starts = [0, ...startsIn(words)];
    if (says(LIMITS, words, starts)) return { class: "limit", line };
    if (says(LOGINS, words, starts)) return { class: "auth", line };
  }
  return null;
}

/** What every refusal has, to pass over other lines quickly. */
const HINT =
  /limit|quota|exhausted|429|too[ _]?many|credit|allowance|usage|throttl|token|401|unauth|auth|api[ _-]?key|log(?:ged)?[ -]?in|sign[ -]?in/i;

/**
 * Where a message begins: at the start of the line, behind what marks an error, and in the field of an error
 * object. Escaped quotes are those of an object within a string.
 */
const START =
  /^[\s■✗✘×✕⚠⎿❌●⚡🖐!│┃]+|\b(?:error|warn)\]?\s{1,3}[\w:.-]{1,60}:\s|(?:error|exception|failed|failure|fatal|rejected|warn(?:ing)?)(?: code)?[\s:([\]){]{1,4}|\\{0,4}["'](?:message|error|detail|details|msg|result|reason)\\{0,4}["']\s?:\s?\\{0,4}["']|[·∙] |(?<=^|[:(]\s?)4(?:01|02|03|29)\)?[\s:·-]{1,4}|\bsorry, |(?:^|: )(?:claude(?: code)?|codex|gemini|copilot|cursor(?:-agent)?|opencode|aider|amp|goose|qwen|droid): /giu;

function startsIn(line: string): readonly number[] {
  const found = [...line.matchAll(START)].slice(0, STARTS_MAX);
  return found.map((match) => match.index + match[0].length);
}

interface Shapes {
  /** Sticky: read where a message begins. */
  readonly messages: readonly RegExp[];
  /** Read anywhere: what only an error has. */
  readonly codes: readonly RegExp[];
}

function says({ messages, codes }: Shapes, line: string, starts: readonly number[]): boolean {
  if (codes.some((shape) => shape.test(line))) return true;
  return starts.some((start) =>
    messages.some((shape) => {
      shape.lastIndex = start;
      return shape.test(line);
    }),
  );
}

/** The phrase is the whole message or a clause of it: "rate limit exceeded errors are retried" goes on. */
const END = String.raw`(?=\s{0,2}(?:$|[.,:;!?|"'}\])(·∙\\–—-]|(?:for|on|by|until|resets?|please|try|because|or|and)\b))`;
const KIND =
  "(?:api|rate|usage|quota|requests?|session|hourly|daily|weekly|monthly|\\d{1,2}-?hour|messages?|spend(?:ing)?|credits?)";
const KINDS = `(?:(?:${KIND}|current|plan|premium|account|organization|free|tier|claude|codex|ai|opus|sonnet|haiku|gemini|copilot|model) ){0,4}`;
const STATUS = (code: string): RegExp =>
  new RegExp(
    String.raw`\b(?:failed|rejected|error|unexpected|last|returned)\b(?: (?:with|because of|by|the server|from|client|http|response|an?))?[\s"'\\{:(-]{1,8}(?:http |status code|statuscode|status|code)?[\s"'\\:=(#]{0,6}${code}(?![\w%]|[.:]\w|\s(?:errors?|problems?|tests?|warnings?|files?|lines?|items?|failures?|of)\b)`,
    "i",
  );
/** As the value of a field of an error object; the quotes keep source code out. */
const FIELD = (values: string): RegExp =>
  new RegExp(
    String.raw`(?:["'](?:type|code|status|reason|error|kind|errorkind|error_code)\\{0,4}["']|\berror_code)\s?[:=]\s?\\{0,4}["']?(?:${values})\b`,
    "i",
  );

const LIMITS: Shapes = {
  messages: shapes([
    String.raw`(?:http(?:\/[\d.]+)?|status(?: code)?:?) 429${END}`,
    String.raw`(?:(?:http(?:\/[\d.]+)?|status(?: code)?:?|error:?) )?429[\s,;(]{1,3}retry-after\b`,
    String.raw`retry-after:\s?\d{1,6}\s*$`,
    String.raw`(?:http(?:\/[\d.]+)? |status(?: code)?:? )?429\)?:?\s(?:too many|rate|you|your|quota|resource|this|client error)\b`,
    `(?:http 429 )?too many (?:requests|tokens)${END}`,
    String.raw`you(?:'ve| have|'re| are)? (?:hit|reached|exceeded|exhausted|used(?: up)?|run out of|out of) (?:your|the|a|all|all your|all of your|extra|included|free)?\s?(?:[\w-]+ ){0,4}(?:limits?|quota|credits?|allowance|usage|capacity)\b(?! of \d)`,
    String.raw`you have (?:no|insufficient) (?:\w+ )?(?:quota|credits?|balance)\b`,
    `(?:your|the) ${KINDS}(?:limit|quota|allowance) (?:will reset\\b|(?:has been|is|was) (?:reached|exceeded|exhausted|used up)${END})`,
    `${KINDS}${KIND} limit (?:has been |was )?(?:reached|exceeded|hit)${END}`,
    `${KINDS}quota (?:has been |was )?(?:reached|exceeded|exhausted)${END}`,
    `rate[- ]limited${END}`,
    String.raw`this request would exceed (?:your|the) [\w' -]{0,40}rate limit\b`,
    String.raw`number of [\w ]{1,30} has exceeded your [\w -]{1,30}rate limit\b`,
    String.raw`(?:rate limit reached for|request too large for) [^\n]{1,120}\b(?:tokens|requests) per (?:min|minute|day)\b`,
    `resource (?:has been )?exhausted${END}`,
    "your credit balance is too low\\b",
    `insufficient (?:credits?|quota)${END}|402:? insufficient balance`,
    "you do not have enough credits\\b",
  ]),
  codes: [
    STATUS("429"),
    FIELD(
      "rate_limit_error|rate_limit_exceeded|rate_limit|rate_limited|ratelimitexceeded|usage_limit_reached|insufficient_quota|quota_exceeded|resource_exhausted|too_many_requests|billing_hard_limit_reached",
    ),
    /\b(?:status|code)\W{1,3}RESOURCE_EXHAUSTED\b|^\W{0,4}RESOURCE_EXHAUSTED\b|\berror:? RESOURCE_EXHAUSTED\b/,
    /\b(?:Throttling(?:Exception|Error)|(?:RateLimit|\w*Quota)(?:Exceeded)?Error|TooManyRequestsException)\)?: /,
  ],
};

const AGENTS = "(?:claude|codex|gemini|opencode|copilot|cursor-agent|amp|goose|qwen|droid|auggie)";
const KEYS =
  "(?:anthropic|openai|gemini|google|openrouter|codex|cursor|mistral|deepseek|groq|xai|azure_openai)_api_key|anthropic_auth_token|claude_code_oauth_token";

const LOGINS: Shapes = {
  messages: shapes([
    String.raw`(?:http(?:\/[\d.]+)?|status(?: code)?:?) 401${END}`,
    String.raw`(?:http(?:\/[\d.]+)? |status(?: code)?:? )?401\)?:?\s(?:unauthori[sz]ed|invalid|authentication)\b`,
    `(?:invalid|incorrect|missing|expired|revoked|no) (?:\\w+ )?(?:x-)?api[ -]key(?: (?:provided|found|configured|set|supplied))?${END}`,
    `(?:your |the )?(?:\\w+ )?api key (?:is )?(?:not valid|invalid|expired|missing|not set|not found|has expired|was revoked)${END}`,
    String.raw`(?:(?:your|claude|codex) (?:\w+ )?|(?:the )?(?:oauth|login) )(?:token|session|login|credentials?) (?:has |have |is |are |was )?(?:expired|been revoked|revoked|invalid|no longer valid)${END}`,
    String.raw`your (?:access|refresh) token could not be refreshed\b`,
    String.raw`(?:failed to refresh|could not refresh) (?:\w+ ){0,2}token\b`,
    `invalid (?:authentication credentials|bearer token|x-api-key)${END}`,
    `(?:(?:you are|you're) )?(?:currently )?(?:not|no longer) (?:logged|signed) in${END}`,
    `(?:no authentication information found|login (?:required|expired))${END}`,
    String.raw`please (?:re-?authenticate|(?:log|sign) (?:out and (?:log|sign) in|in again|back in))\b`,
    `(?:${KEYS})\\b(?: environment variable)? (?:is |was )?(?:not set|missing|not found|unset|not defined|required|empty|invalid)\\b`,
    String.raw`(?:missing|no) (?:required )?(?:environment variable|env var|env)s?:? ["'\x60]?(?:${KEYS})\b`,
    String.raw`when using gemini api, you must specify\b`,
    String.raw`please set an auth method\b`,
  ]),
  codes: [
    STATUS("401"),
    FIELD(
      "authentication_error|authentication_failed|invalid_api_key|api_key_invalid|unauthenticated|token_expired|refresh_token_\\w{1,20}|invalid_grant",
    ),
    new RegExp(
      String.raw`\b(?:please |to (?:log|sign) in,? )?(?:run|use|type|execute):? ["'\x60]?(?:\/login\b|${AGENTS} (?:auth |\/)?login\b)`,
      "i",
    ),
    /\b(?:openai|anthropic|litellm)\.AuthenticationError: /,
  ],
};

function shapes(sources: readonly string[]): readonly RegExp[] {
  return sources.map((source) => new RegExp(source, "iy"));
}

/** Whether a line is about limits or logins, but not a refusal: code, a test, a log of somebody's program, prose. */
function isOtherMatter(line: string): boolean {
  const words = line.replaceAll(ADDRESSES, "");
  return OTHERS.some((shape) => shape.test(words));
}

/** Their paths speak of docs and limits, whatever the line says. */
const ADDRESSES = /\b[a-z]{2,10}:\/\/[^\s"')\]}]{1,300}/gi;

const OTHERS: readonly RegExp[] = [
  // Another attempt follows, and if all fail the last message says so.
  /\battempt["':\s]{1,3}\d{1,3}\b|\breconnecting\b|\bretrying\b|\bwill retry\b/i,
  // A diff, a comment, a list, a quotation, a table, a numbered line.
  /^\s*(?:[+<>|#]|-(?:\s|-|\w)|@@|\/\/|\/?\*|"""|(?!4\d\d\b)\d{1,6}(?:\s{0,4}[|│→]|:(?!\d\d)|[.)-]\s))/,
  // Other programs, which have limits and logins of their own.
  /^\s*(?:fatal|remote|git|gh|npm|npm err!|npm error|yarn|pnpm|pip|docker|cargo|curl|ssh)\b[!: ]/i,
  // A single field of an object in source code or in a dump: what it belongs to says more.
  /^\s*(?:(?!\w{0,30}error\b)[a-z_]\w{0,40}\s{0,4}[:=]\s{0,4}(?:\d{1,9}|(["'`])[^"'`]{0,500}\1),?|["']\w{1,40}["']\s{0,2}:\s{0,4}\d{1,9},?)\s*$/i,
  // Source code.
  /\bthrow new\b|\bnew \w{0,40}(?:Error|Exception|Response)\(|\b(?:expect|assert\w{0,20}|it|test|describe|raises|fail|describe\.each)\s?\(|\b(?:const|let|var|return|function|await|import|export|def|raise|class|case|elif|async|fn|func|pub|private|public)\s(?=[\w{('"$])|\bconsole\.|\bif \(|=>|[!=]==?(?:\s|$)|;\s*$/,
  // The report of a test.
  /[✓✔☑✅›]|^\s*(?:PASS|FAIL|FAILED|ok|not ok|---)\b\s|::test|\bassert(?:ion(?:error)?)?\b|\(\d{1,9}(?:\.\d{1,3})? ?m?s\)\s*$|\s\d{1,9} ?ms\s*$/i,
  // A file of the project by its relative path, or a package.
  /(?:^|[\s`'"(])(?!\/)[\w@.-][\w@./-]{0,200}\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|php|cs|c|h|cpp|md|mdx|vue|sql|html|css)\b/,
  /@[\w-]{1,60}\/[\w-]{1,60}/,
  // The log of a server, and whom it limits.
  /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s{1,4}["'`]?\/|\b(?:INFO|DEBUG|TRACE|VERBOSE)\b|HTTP\/\d(?:\.\d)?"/,
  /\bfor (?:the )?(?:ip|user|client|host|address|route|endpoint|tenant|customer|key)\b|\bfor \d{1,3}\.\d{1,3}\.\d/i,
  // Somebody tells what was done, or what happens when.
  /\bI\b|\bI'(?:ve|ll|m|d)\b|\b(?:We|we) (?:now|should|can|need|could|will)\b/,
  /\b(?:add(?:ed|s|ing)|implement(?:s|ed|ing|ation)?|handles?|handled|returns|raises|throws|emits|shows|displays|should|would be|middleware|documentation|documented|readme|changelog|mock(?:s|ed)?|stub(?:s|bed)?|simulat\w{1,6}|expect(?:s|ed)|tests?|tested|testing|fixed|fixes|covers?|covered|verif(?:ies|ied)|ensures|limiter|responds?|answers|endpoint|users|clients|callers|scenario|feature)\b/i,
];
