import { describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { readLimit } from "../streams/classify-failure.ts";
import { readResetTime } from "../streams/read-reset-time.ts";

const NOW = Date.parse("2026-11-15T02:46:37Z");

describe("a limit, and when it ends for someone in Berlin at 3:46", () => {
  test.each<[string, string | null]>([
    ["Claude AI usage limit reached|1794721597", "2026-11-15T05:46:37Z"],
    ["Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).", "2026-11-15T18:00:00Z"],
    ["You've hit your 5-hour limit · resets 5:46am (UTC)", "2026-11-15T05:46:00Z"],
    ["You've hit your limit · resets 3pm (Asia/Tokyo)", "2026-11-15T06:00:00Z"],
    ["You’ve hit your limit for Claude messages. Limits will reset at 9:30 AM.", "2026-11-15T08:30:00Z"],
    ["5-hour limit reached ∙ resets 3pm", "2026-11-15T14:00:00Z"],
    ["Weekly limit reached ∙ resets Nov 19, 3am", "2026-11-19T02:00:00Z"],
    ["Opus weekly limit reached ∙ resets Nov 19, 3am (UTC)", "2026-11-19T03:00:00Z"],
    ["Session limit reached ∙ resets 2am", "2026-11-16T01:00:00Z"],
    ["You're out of extra usage · resets Mon 9:00 (Asia/Kolkata)", "2026-11-16T03:30:00Z"],
    [
      "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 5:40 AM.",
      "2026-11-15T04:40:00Z",
    ],
    ["■ You've hit your usage limit or try again in 5 days 22 hours 11 minutes.", "2026-11-21T00:57:37Z"],
    ["You've hit your usage limit. Or try again at Nov 20th, 2026 8:19 PM.", "2026-11-20T19:19:00Z"],
    ["ERROR: You've hit your usage limit. Try again in less than a minute.", "2026-11-15T02:47:37Z"],
    ["ERROR: exceeded retry limit, last status: 429 Too Many Requests", null],
    [
      "[API Error: You have exhausted your capacity. Your quota will reset after 2h52m39s.]",
      "2026-11-15T05:39:16Z",
    ],
    ["[API Error: You have exhausted your daily quota on this model.]", null],
    [
      "Error when talking to Gemini API Full report available at: /tmp/e-2026-01-01T10-36-16-891Z.json RetryableQuotaError: Resource has been exhausted (e.g. check quota). Please retry in 2s.",
      "2026-11-15T02:46:39Z",
    ],
    [
      String.raw`✕ [API Error: {"error":{"message":"{\n \"error\": {\n \"code\": 429,\n \"status\": \"RESOURCE_EXHAUSTED\", \"retryDelay\": \"34s\"`,
      "2026-11-15T02:47:11Z",
    ],
    ["Usage limit reached for gemini-3. Access resets at 10:57 PM GMT-3.", "2026-11-16T01:57:00Z"],
    [
      "ResourceExhausted: 429 Quota exceeded for metric: x. retry_delay { seconds: 40 }",
      "2026-11-15T02:47:17Z",
    ],
    [
      "✗ Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 2 hours.",
      "2026-11-15T04:46:37Z",
    ],
    ['× Model call failed: {"message":"rate limit exceeded","code":"rate_limited"}', null],
    ["✘ Execution failed: 402 You have no quota", null],
    ["Model call failed: Sorry, you have exceeded your Copilot token usage.", null],
    [
      "Rate limit reached for gpt-4o in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.",
      "2026-11-15T02:46:57Z",
    ],
    [
      "2026-11-15T02:46:37.404Z ERROR codex_core::client: Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 1.5s.",
      "2026-11-15T02:46:38.500Z",
    ],
    [
      "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan.', 'type': 'insufficient_quota'}}",
      null,
    ],
    [
      'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."}}',
      null,
    ],
    ["API Error: Request rejected (429) · This request would exceed your organization's rate limit.", null],
    ['{"statusCode":429,"error":{"code":"rate_limit_exceeded"},"retry-after":"37"}', "2026-11-15T02:47:14Z"],
    [
      "429 Rate limit exceeded: free-models-per-day. X-RateLimit-Reset: 1794787200000",
      "2026-11-16T00:00:00Z",
    ],
    ["HTTP/1.1 429 Too Many Requests; Retry-After: Sun, 15 Nov 2026 07:28:00 GMT", "2026-11-15T07:28:00Z"],
    ["Error: Request failed with status code 429", null],
    ["Your credit balance is too low to access the Anthropic API.", null],
    ["Too many requests, please try again later.", null],
    ["ThrottlingException: Too many tokens, please wait before trying again.", null],
    [
      '{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1794800000}}',
      "2026-11-16T03:33:20Z",
    ],
    ["[ERROR] usage limit reached, available again on 2026-11-16T05:00:00+09:00", "2026-11-15T20:00:00Z"],
    ["Error: rate limited until 17:30 UTC", "2026-11-15T17:30:00Z"],
    ['{"is_error":true,"result":"You\'ve hit your limit · resets 5:46am (UTC)"}', "2026-11-15T05:46:00Z"],
  ])("%s", (line, end) => {
    expect(readLimit(["start", line, "bye"])).toEqual({ class: "limit", line });
    const at = readResetTime(line, NOW, "Europe/Berlin");
    expect(at && new Date(at).toISOString()).toBe(end && new Date(end).toISOString());
  });
});

describe("a lost login", () => {
  test.each([
    "Invalid API key · Please run /login",
    "Invalid API key · Fix external API key",
    'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."}} · Please run /login',
    "OAuth token has expired",
    "unexpected status 401 Unauthorized: Incorrect API key provided: sk-dummy., url: http://127.0.0.1:8199/v1/responses",
    "exceeded retry limit, last status: 401 Unauthorized, request id: 99438b5929d256ae-OSL",
    "[codex] Codex error: Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
    'Error when talking to Gemini API Full report available at: /tmp/x.json _ApiError: {"error":{"code":401,"message":"API key not valid. Please pass a valid API key.","status":"UNAUTHENTICATED"}}',
    "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.",
    "GEMINI_API_KEY is not set",
    "Missing environment variable: `OPENAI_API_KEY`.",
    "Please set an Auth method in your /home/me/.gemini/settings.json or specify GEMINI_API_KEY",
    "Not logged in. Please run `codex login`",
    "No authentication information found.",
    "Error: Authentication required. Please run 'cursor-agent login' first.",
    "HTTP 401 Unauthorized",
  ])("%s", (line) => {
    expect(readLimit([line, "bye"])).toEqual({ class: "auth", line });
  });
});

describe("neither", () => {
  test.each([
    "installed @upstash/ratelimit 2.0.1",
    "src/lib/ratelimit.ts: rate limit exceeded",
    "docs/rate-limits.md: Too many requests",
    "returns 429 when the rate limit is exceeded ✓",
    "  ✓ rate limit exceeded returns 429 (3 ms)",
    " × rate limit exceeded 12ms",
    " FAIL  src/limiter.test.ts > limiter > rate limit exceeded",
    "FAILED tests/test_limit.py::test_rate_limit - assert 429 == 200",
    "E   AssertionError: expected 200 but got 429 Too Many Requests",
    "● login › rejects an invalid API key",
    '[12:00:01] "GET /api/items HTTP/1.1" 429 12',
    "POST /login 401 Unauthorized",
    "[limiter] INFO too many requests from 10.0.0.1",
    "WARN Rate limit exceeded for ip 10.0.0.1",
    "I added a rate limiter; when the rate limit is exceeded it answers HTTP 429.",
    "Rate limiting works: after 5 calls the API answers 429 Too Many Requests.",
    "- Rate limit exceeded: the API now answers 429",
    "## Rate limit exceeded",
    "> You've hit your usage limit",
    "Rate limit exceeded errors are now retried.",
    "Rate limit exceeded page added",
    "Summary: rate limit exceeded → 429, invalid API key → 401",
    "Open questions: what if the weekly limit is reached?",
    "The usage limit is 100 requests per minute.",
    "You've reached your limit of 3 projects",
    '+  throw new ApiError(429, "Too many requests");',
    '    return res.status(429).json({ error: "Too many requests" });',
    '    message: "Too many requests, please try again later.",',
    'if (error.code === "rate_limit_exceeded") retry();',
    'export const LIMITED = "You\'ve hit your usage limit";',
    "    expect(res.status).toBe(429);",
    "  status: 429,",
    "429 tests passed",
    "429,",
    "401",
    "Error: 429 problems found",
    "error on line 429",
    "src/a.ts(429,12): error TS2345",
    "write failed: Disk quota exceeded",
    "Maximum turn limit reached",
    "Error: recursion limit exceeded",
    "Error: time limit exceeded",
    "context limit reached",
    "Error: Insufficient funds",
    "Error: Unauthorized",
    "Error: Invalid credentials",
    "Logged in as user: me",
    "The token has expired",
    "The middleware returns 401 Unauthorized for expired tokens.",
    'Users see "Invalid API key" when the key is wrong.',
    'the login page says "Please log in"',
    "fatal: Authentication failed for 'https://github.com/me/x.git/'",
    "npm error 401 Unauthorized - GET https://registry.npmjs.org/x",
  ])("%s", (line) => {
    expect(readLimit([line])).toBeNull();
  });

  test.each([
    "Attempt 2 failed: Resource has been exhausted (e.g. check quota). Please retry in 2s.",
    "Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)",
  ])("an attempt that another follows: %s", (line) => {
    expect(readLimit([line, "done"])).toBeNull();
  });
});

test("the last refusal counts", () => {
  expect(readLimit(["HTTP 401 Unauthorized", "HTTP 429 Too Many Requests", "bye"])?.class).toBe("limit");
  expect(readLimit(["HTTP 429 Too Many Requests", "HTTP 401 Unauthorized", "bye"])?.class).toBe("auth");
  expect(readLimit([])).toBeNull();
});

test.each<[string, string]>([
  ["long words", "rate_limit".repeat(10)],
  ["messages that begin everywhere", 'error: error: "message":"'],
  ["backslashes", "429\\\\\\\\"],
  ["blanks", "limit            "],
  ["words without an end", "your api rate usage quota account model "],
  ["colons", "error a::b::c: 401: "],
])("time grows with the text: %s", (_, part) => {
  const work = (size: number): void => {
    const line = part.repeat(Math.ceil(1_900 / part.length));
    readLimit(Array.from({ length: size / 2_000 }, () => line));
  };
  expect(growthOfFour(work, 400_000)).toBeLessThan(LINEAR_GROWTH_MAX);
});

test("a line of any length is read in the same time", () => {
  const before = process.cpuUsage();
  for (const part of ["limit ", "429 ", "error: ", "\\", "you have hit your ", "(401 "])
    readLimit([part.repeat(1_000_000)]);
  const { user } = process.cpuUsage(before);
  expect(user).toBeLessThan(2_000_000);
});
