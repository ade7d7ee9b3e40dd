// What the recordings of the real programs must come to, written from what is known of the runs themselves.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ending, FailureClass, Usage } from "../../src/core/streams/agent-report.ts";
import type { StreamFormat } from "../../src/core/streams/stream-format.ts";

export interface RecordedStream {
  readonly format: StreamFormat;
  readonly name: string;
  readonly ending: Ending;
  readonly claim: "complete" | "none";
  readonly files: readonly string[];
  readonly tools: number;
  readonly session: string | null;
  readonly usage: Usage;
  readonly model: string | null;
  readonly isOver: boolean;
  readonly failure: FailureClass | null;
  readonly message: RegExp;
  readonly resetsAt: string | null;
}

const FOLDER = join(import.meta.dirname, "..", "recordings");
export const NOW = Date.parse("2026-11-15T03:00:00Z");

export function linesOf({ format, name }: RecordedStream): readonly string[] {
  return readFileSync(join(FOLDER, format, `${name}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

export function stderrOf({ format, name }: RecordedStream): readonly string[] {
  const file = join(FOLDER, format, `${name}.stderr.txt`);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

const exit = (code: number): Ending => ({ is: "exited", code });
const TERM: Ending = { is: "signalled", signal: "SIGTERM" };

type Numbers = readonly [
  inputTokens: number | null,
  outputTokens: number | null,
  cacheReadTokens: number | null,
  costUsd: number | null,
];
const UNTOLD: Numbers = [null, null, null, null];

function ended(
  format: StreamFormat,
  name: string,
  session: string | null,
  [inputTokens, outputTokens, cacheReadTokens, costUsd]: Numbers,
  more: Partial<RecordedStream> = {},
): RecordedStream {
  const usage = { inputTokens, outputTokens, cacheReadTokens, costUsd };
  return { ...GOOD, format, name, session, usage, model: MODELS[format], ...more };
}

const MODELS: Readonly<Record<StreamFormat, string | null>> = {
  claude: "claude-opus-5-5",
  codex: null,
  gemini: "gemini-2.5-pro",
  opencode: null,
  copilot: "scripted-model",
  acp: null,
};

const GOOD = {
  ending: exit(0),
  claim: "none",
  files: [],
  tools: 0,
  isOver: true,
  failure: null,
  message: /^/,
  resetsAt: null,
} as const;
/** Wrote NOTE.md with one call and committed it with another. */
const DID = { claim: "complete", files: ["NOTE.md"], tools: 2 } as const;
const SAID = { claim: "complete" } as const;
const failed = (failure: FailureClass, message: RegExp, more: Partial<RecordedStream> = {}) => ({
  ending: exit(1),
  failure,
  message,
  ...more,
});
const KILLED = { tools: 1, isOver: false };

const CLAUDE: readonly RecordedStream[] = [
  ended("claude", "success", "774e6430-8294-4b80-a0e6-4103ca13801f", [3_900, 123, 1_500, 0.01896], DID),
  ended("claude", "flaky", "fac703c0-4a4d-4a84-9ef4-67ba5acafebb", [3_900, 123, 1_500, 0.01896], DID),
  ended("claude", "stophook", "15159394-39bc-4320-baa1-a7c84fdb124b", [7_800, 246, 3_000, 0.03792], {
    ...DID,
    tools: 4,
  }),
  ended("claude", "noop", "fa11ff3c-d6d0-49f4-a108-1ddc941d7bd0", [1_200, 40, 500, 0.0059], SAID),
  ended("claude", "mcp", "0122ec4d-3432-4f2a-93dc-601e9ea9f5bf", [1_200, 40, 500, 0.0059]),
  ended("claude", "resume1", "11111111-2222-4333-8444-555555555555", [1_200, 40, 500, 0.0059]),
  ended("claude", "resume2", "11111111-2222-4333-8444-555555555555", [1_200, 40, 500, 0.0059]),
  ended("claude", "perm-default", "63754e13-e23b-479c-ad16-e20b1015212c", [3_900, 123, 1_500, 0.01896], {
    ...failed("agent", /^not permitted: Write, Bash$/, SAID),
    ending: exit(0),
    tools: 2,
  }),
  ended(
    "claude",
    "maxturns",
    "8e454338-1e4f-4c6f-a907-f03dc5ff12c4",
    [3_900, 123, 1_500, 0.01896],
    failed("agent", /^Reached maximum number of turns/, { tools: 3 }),
  ),
  ended("claude", "sigint-tool", "e4189caf-f316-4f80-b9d9-5eec1582b39f", [1_200, 40, 500, 0.0059], {
    ...failed("agent", /aborted_tools/, { tools: 1 }),
    ending: exit(0),
  }),
  // It tells the whole only at its end; until then the sum of its answers is known.
  ended("claude", "sigterm-tool", "92c2c437-a920-4890-aeee-7ff8b6ef2b06", [1_200, 1, 500, null], {
    ...failed("agent", /^no final result \(exit code 143\)$/, KILLED),
    ending: exit(143),
  }),
  ended(
    "claude",
    "err401-full",
    "919e6b47-80b0-4790-8c9f-4e96bca627b2",
    [0, 0, 0, 0],
    failed("auth", /^Invalid API key/),
  ),
  ended(
    "claude",
    "err429-full",
    "1fd5c536-e91c-4ea7-9dc9-6acda20e1c18",
    [0, 0, 0, 0],
    failed("limit", /rate limit of 50 requests per minute/),
  ),
  ended("claude", "errusage-oauth", "27775749-69cb-4c78-b7e9-8b3e0cf6a8ba", [0, 0, 0, 0], {
    ...failed("limit", /^You've hit your 5-hour limit/),
    model: "claude-sonnet-5-5",
    resetsAt: "2026-11-15T05:46:37.000Z",
  }),
  ended("claude", "resume-bad", "99999999-2222-4333-8444-555555555555", [0, 0, 0, 0], {
    ...failed("config", /^No conversation found/),
    model: null,
  }),
  ended("claude", "root-refusal", null, UNTOLD, {
    ...failed("config", /cannot be used with root/, { isOver: false }),
    model: null,
  }),
];

const CODEX: readonly RecordedStream[] = [
  ended("codex", "success", "01a1dd13-7a62-7220-9195-fb212320da7e", [1_800, 123, 1_500, null], DID),
  ended("codex", "flaky", "01a1dd23-6481-7483-b88c-8f349eb20610", [1_800, 123, 1_500, null], DID),
  ended("codex", "hooks", "01a1dd25-657a-7321-9397-181a6dda2205", [3_600, 246, 3_000, null], {
    ...DID,
    tools: 4,
  }),
  ended("codex", "noop", "01a1dd13-8994-7773-b2b4-c1e510d1373d", [500, 40, 500, null], SAID),
  ended("codex", "mcp", "01a1dd24-dcdc-7903-b0f1-52fa19b497b6", [1_100, 81, 1_000, null], { tools: 1 }),
  ended("codex", "failcmd-sandbox", "01a1dd24-f068-74a0-9e4f-a01f93e7125c", [1_100, 81, 1_000, null], {
    tools: 1,
  }),
  ended("codex", "resume1", "01a1dd1b-d5c0-7033-bf89-5ef521299a3d", [500, 40, 500, null]),
  // A resumed thread counts from its beginning.
  ended("codex", "resume2", "01a1dd1b-d5c0-7033-bf89-5ef521299a3d", [1_000, 80, 1_000, null]),
  ended("codex", "sigterm-tool", "01a1dd14-448b-76e0-99f2-90600c825863", UNTOLD, {
    ...failed("agent", /^killed by SIGTERM$/, KILLED),
    ending: TERM,
  }),
  ended(
    "codex",
    "err401",
    "01a1dd13-9561-7791-9d3d-acb40427b54b",
    UNTOLD,
    failed("auth", /^unexpected status 401/),
  ),
  ended(
    "codex",
    "err429",
    "01a1dd13-beb1-7ae2-80ff-96087bb24fdc",
    UNTOLD,
    failed("limit", /last status: 429/),
  ),
  ended("codex", "errusage", "01a1dd14-0873-7b31-aebc-51e6ef386945", UNTOLD, {
    ...failed("limit", /^You’ve hit your usage limit/),
    resetsAt: "2026-11-15T05:40:00.000Z",
  }),
];

const GEMINI: readonly RecordedStream[] = [
  ended("gemini", "success", "02845b3a-4276-4c65-a418-6ef3498aaa55", [1_800, 144, 1_500, null], DID),
  ended("gemini", "flaky", "d282f8c4-1de6-43de-b9fa-77fe1def1939", [1_800, 144, 1_500, null], DID),
  ended("gemini", "noop", "d1e3fbf9-d5f3-4584-a054-af8ffef538c0", [500, 47, 500, null], SAID),
  ended("gemini", "mcp", "cc1f3d1f-7736-4919-9442-5412a2663a24", [1_100, 95, 1_000, null], { tools: 1 }),
  ended("gemini", "resume1", "11111111-2222-4333-8444-555555555555", [500, 47, 500, null]),
  ended("gemini", "sigterm-tool", "990833f4-fbb2-4575-90e6-1807e9e68593", UNTOLD, {
    ...failed("agent", /^no final result \(exit code 0\)$/, KILLED),
    ending: exit(0),
  }),
  ended("gemini", "err401", "2eb6287e-be5b-4f45-928a-dd88dbf9bbf1", [0, 0, 0, null], {
    ...failed("auth", /API key not valid/),
    ending: exit(145),
  }),
  ended("gemini", "err429-full", "d8a0cb62-b7b9-49ac-bfa8-d1660f87241f", [0, 0, 0, null], {
    ...failed("limit", /Resource has been exhausted/),
    ending: exit(173),
    resetsAt: "2026-11-15T02:49:25.876Z",
  }),
];

const OPENCODE: readonly RecordedStream[] = [
  ended("opencode", "success", "ses_e22ec673bffeN42l216try8OhG", [1_800, 123, 1_500, 0.007695], DID),
  ended("opencode", "flaky", "ses_e22dc878cffepho86Tk1BYwhiB", [1_800, 123, 1_500, 0.007695], DID),
  ended("opencode", "noop", "ses_e22ec0c5effemf1F46exVqfTjX", [500, 40, 500, 0.00225], SAID),
  ended("opencode", "mcp", "ses_e22e36aa4ffe63MdN6PzCzI1MQ", [1_100, 81, 1_000, 0.004815], { tools: 1 }),
  ended("opencode", "resume1", "ses_e22e41789ffeY1v8HDp5l32NQQ", [500, 40, 500, 0.00225]),
  // It tells of a tool only when that is done.
  ended("opencode", "sigterm-tool", "ses_e22e97f18ffetHZqkiS6Dspzfk", UNTOLD, {
    ...failed("agent", /^killed by SIGTERM$/, { isOver: false }),
    ending: TERM,
  }),
  ended(
    "opencode",
    "err401",
    "ses_e22ebe2f9ffeAn1OgXOn1tupUq",
    UNTOLD,
    failed("auth", /^Incorrect API key/, { isOver: false }),
  ),
  ended("opencode", "err429", "ses_e22ebb889ffehoCQUUyRhHT8jU", UNTOLD, {
    ...failed("limit", /^Rate limit reached/, { isOver: false }),
    resetsAt: "2026-11-15T02:41:14.826Z",
  }),
];

const COPILOT: readonly RecordedStream[] = [
  ended("copilot", "success", "9ac77a51-ba61-460b-a424-4489b50cd129", UNTOLD, DID),
  ended("copilot", "flaky", "e1284f72-19f6-4169-8fdb-c170448056d9", UNTOLD, DID),
  ended("copilot", "noop", "d30fa14f-71d9-45ed-81d2-69613e23cba9", UNTOLD, SAID),
  ended("copilot", "mcp", "e72bf435-83e7-43f6-819a-19b34cfed7ec", UNTOLD, { tools: 1 }),
  ended("copilot", "resume1", "11111111-2222-4333-8444-555555555555", UNTOLD),
  ended("copilot", "sigterm-tool", null, UNTOLD, {
    ...failed("agent", /^killed by SIGTERM$/, KILLED),
    ending: TERM,
  }),
  ended("copilot", "err401", "1feb865c-0f20-457f-9fed-5454848e139b", UNTOLD, {
    ...failed("auth", /^Authentication failed/),
    model: null,
  }),
  ended("copilot", "err429", "ca971815-1548-476e-9852-7fcf0875610e", UNTOLD, {
    ...failed("limit", /Rate limit reached/),
    model: null,
    resetsAt: "2026-11-15T02:40:39.986Z",
  }),
];

export const RECORDED: readonly RecordedStream[] = [...CLAUDE, ...CODEX, ...GEMINI, ...OPENCODE, ...COPILOT];
