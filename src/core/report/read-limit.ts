import { isOtherMatter } from "./limit-prose.ts";

/** An agent that may not work now: it used too much, or nobody is logged in. */
export interface Refusal {
  readonly class: "limit" | "auth";
  readonly line: string;
}

const LINE_LENGTH_MAX = 2_000;
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
