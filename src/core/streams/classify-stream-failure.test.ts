import { describe, expect, test } from "vitest";
import type { Ending, Failure } from "./agent-report.ts";
import { classifyStreamFailure, isHopeless } from "./classify-stream-failure.ts";
import { isFields } from "./json-fields.ts";
import { createFactRecorder, failureOf } from "./stream-facts.ts";
import { STDERR, STREAMS, type StreamFormat } from "./stream-format.ts";

const NOW = Date.parse("2026-11-15T03:00:00Z");

function classify(
  format: StreamFormat,
  events: readonly object[],
  ending: Ending = { is: "exited", code: 1 },
  words = "",
): Failure | null {
  const recorder = createFactRecorder(null);
  for (const event of events) if (isFields(event)) STREAMS[format](event, recorder);
  const end = { ending, facts: recorder.read(), hasEvents: events.length > 0, words };
  return classifyStreamFailure(end, NOW, "UTC");
}

const exit = (code: number): Ending => ({ is: "exited", code });
const claudeError = (more: object): object => ({
  type: "result",
  subtype: "success",
  is_error: true,
  terminal_reason: "api_error",
  ...more,
});
const codexError = (message: string): object => ({ type: "turn.failed", error: { message } });
const opencodeError = (data: object, name = "APIError"): object => ({
  type: "error",
  timestamp: NOW - 60_000,
  error: { name, data },
});

describe("an error result", () => {
  const cases: readonly (readonly [string, StreamFormat, object, number, Failure["class"]])[] = [
    [
      "claude, overloaded",
      "claude",
      claudeError({ api_error_status: 529, result: "API Error: Overloaded" }),
      1,
      "transient",
    ],
    ["claude, connection", "claude", claudeError({ result: "API Error: Connection error." }), 1, "transient"],
    ["claude, forbidden", "claude", claudeError({ api_error_status: 403, result: "API Error" }), 1, "auth"],
    [
      "claude, not logged in",
      "claude",
      claudeError({ result: "Not logged in · Please run /login" }),
      1,
      "auth",
    ],
    [
      "claude, too long",
      "claude",
      claudeError({ api_error_status: 400, result: "Prompt is too long" }),
      1,
      "agent",
    ],
    [
      "claude, its own budget",
      "claude",
      claudeError({
        subtype: "error_max_budget_usd",
        terminal_reason: "budget",
        errors: ["Spending limit reached ($1)"],
      }),
      1,
      "agent",
    ],
    [
      "codex, at capacity",
      "codex",
      codexError("Selected model is at capacity. Please try a different model."),
      1,
      "transient",
    ],
    [
      "codex, dropped",
      "codex",
      codexError("stream disconnected before completion: error sending request"),
      1,
      "transient",
    ],
    ["codex, 503", "codex", codexError("unexpected status 503 Service Unavailable: busy"), 1, "transient"],
    ["codex, what nobody knows", "codex", codexError("the sandbox is in a bad mood"), 1, "agent"],
    [
      "gemini, 503",
      "gemini",
      { type: "result", status: "error", error: { type: "unknown", message: "[API Error: x]" } },
      247,
      "transient",
    ],
    [
      "gemini, 500",
      "gemini",
      { type: "result", status: "error", error: { message: "[API Error: x]" } },
      244,
      "transient",
    ],
    [
      "gemini, the day's quota",
      "gemini",
      {
        type: "result",
        status: "error",
        error: { message: "You have exhausted your daily quota on this model." },
      },
      173,
      "limit",
    ],
    [
      "gemini, dropped",
      "gemini",
      { type: "result", status: "error", error: { message: "[API Error: terminated]" } },
      1,
      "transient",
    ],
    ["opencode, 500", "opencode", opencodeError({ message: "Internal", statusCode: 500 }), 1, "transient"],
    ["opencode, no key", "opencode", opencodeError({ message: "no key" }, "ProviderAuthError"), 1, "auth"],
    [
      "opencode, aborted",
      "opencode",
      opencodeError({ message: "Aborted" }, "MessageAbortedError"),
      1,
      "agent",
    ],
    [
      "copilot, overloaded",
      "copilot",
      { type: "session.error", data: { errorType: "query", message: "503 busy", statusCode: 503 } },
      1,
      "transient",
    ],
  ];
  test.each(cases)("%s", (_, format, event, code, expected) => {
    expect(classify(format, [event], exit(code))?.class).toBe(expected);
  });
});

describe("when a limit ends", () => {
  test("is a field of the body before it is a header", () => {
    const body = JSON.stringify({ error: { type: "usage_limit_reached", resets_at: NOW / 1_000 + 7_200 } });
    const data = { message: "limit", statusCode: 429, responseHeaders: { "retry-after": "30" } };
    expect(classify("opencode", [opencodeError({ ...data, responseBody: body })])?.resetsAt).toBe(
      NOW + 7_200_000,
    );
  });

  test("counts from the event's own time", () => {
    const data = { message: "slow down", statusCode: 429, responseHeaders: { "retry-after": "30" } };
    expect(classify("opencode", [opencodeError(data)])?.resetsAt).toBe(NOW - 30_000);
  });

  test("is known from claude's event even if no result follows", () => {
    const info = { status: "rejected", resetsAt: NOW / 1_000 + 60 };
    const event = { type: "rate_limit_event", rate_limit_info: info };
    expect(classify("claude", [event], exit(143))).toMatchObject({ class: "limit", resetsAt: NOW + 60_000 });
  });

  test("a warning of claude is no limit", () => {
    const info = { status: "allowed_warning", resetsAt: NOW / 1_000 + 60 };
    const events = [
      { type: "rate_limit_event", rate_limit_info: info },
      { type: "result", subtype: "success", is_error: false, result: "Done." },
    ];
    expect(classify("claude", events, exit(0))).toBeNull();
  });
});

describe("a program that tries again by itself", () => {
  const retry = (format: StreamFormat, event: object | string): Failure | null => {
    const recorder = createFactRecorder(null);
    if (typeof event === "string") STDERR[format]?.(event, recorder);
    else if (isFields(event)) STREAMS[format](event, recorder);
    const end = { ending: IDLE, facts: recorder.read(), hasEvents: true, words: "" };
    return classifyStreamFailure(end, NOW, "UTC");
  };
  const IDLE = { is: "idle", afterMs: 60_000 } as const;

  test.each<[string, StreamFormat, object | string, Partial<Failure>]>([
    [
      "codex, no network",
      "codex",
      {
        type: "error",
        message: "Reconnecting... waiting for network (Connection failed: error sending request)",
      },
      { class: "transient" },
    ],
    [
      "claude, overloaded",
      "claude",
      { type: "system", subtype: "api_retry", attempt: 2, error_status: 529, error: "overloaded" },
      { class: "transient" },
    ],
    [
      "copilot, no credit",
      "copilot",
      {
        type: "model.call_failure",
        ephemeral: true,
        data: { statusCode: 429, errorMessage: '{"code":"insufficient_quota"}' },
      },
      { class: "limit", kind: "credit" },
    ],
    [
      "gemini, overloaded",
      "gemini",
      'Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {"error":{"code":503,"message":"The model is overloaded."}}',
      { class: "transient", message: "The model is overloaded." },
    ],
    [
      "gemini, a limit",
      "gemini",
      "Attempt 2 failed: Resource has been exhausted (e.g. check quota). Please retry in 2s.",
      { class: "limit", resetsAt: NOW + 2_000 },
    ],
    [
      "opencode, cut off",
      "opencode",
      'timestamp=2026-11-19T18:29:22.205Z level=ERROR run=e message="stream error" small=false agent=build error.error="AI_APICallError: Cannot connect to API: ECONNREFUSED"',
      { class: "transient" },
    ],
  ])("and is ended for it: %s", (_, format, event, expected) => {
    expect(retry(format, event)).toMatchObject(expected);
  });

  test("is not when it got further, or when a tool was at work", () => {
    const error = { type: "error", message: "Reconnecting... 1/5 (stream disconnected)" };
    const says = { type: "item.completed", item: { id: "1", type: "agent_message", text: "Go." } };
    const tool = { type: "item.started", item: { id: "2", type: "command_execution" } };
    expect(classify("codex", [error, says, tool], IDLE)).toMatchObject({ class: "agent" });
    const step = { type: "step_start", sessionID: "s", part: {} };
    expect(classify("opencode", [step], IDLE)).toMatchObject({ class: "agent" });
    expect(
      classify("opencode", [step, { type: "step_finish", part: { reason: "tool-calls" } }], IDLE),
    ).toMatchObject({ class: "transient" });
  });

  test.each([
    ["Invalid API key", true],
    ["Your prepayment credits are depleted.", true],
    ["The model is overloaded.", false],
    ["Resource has been exhausted. Please retry in 2s.", false],
  ])("%s is in vain without a person: %s", (message, expected) => {
    expect(isHopeless(failureOf(message))).toBe(expected);
  });
});

test("opencode that got over a full context and went on has not failed, though its exit code says so", () => {
  const events = [
    opencodeError({ message: "too long" }, "ContextOverflowError"),
    { type: "step_start", sessionID: "s", part: {} },
    { type: "text", sessionID: "s", part: { text: "Done." } },
    { type: "step_finish", sessionID: "s", part: { reason: "stop" } },
  ];
  expect(classify("opencode", events, exit(1))).toBeNull();
  expect(classify("opencode", events.slice(0, 2), exit(1))).toMatchObject({ class: "agent" });
  expect(classify("opencode", events.slice(0, 1), exit(1))).toMatchObject({ kind: "overflow" });
});

test.each<[string, StreamFormat, readonly object[], Failure["kind"]]>([
  [
    "claude, its own turns",
    "claude",
    [{ type: "result", is_error: true, subtype: "error_max_turns" }],
    "turns",
  ],
  [
    "claude, a refusal",
    "claude",
    [{ type: "result", subtype: "success", stop_reason: "refusal", result: "No." }],
    "refusal",
  ],
  [
    "opencode, a refusal",
    "opencode",
    [{ type: "step_finish", part: { reason: "content-filter" } }],
    "refusal",
  ],
  [
    "claude, a full context that it noticed itself",
    "claude",
    [{ type: "result", is_error: true, terminal_reason: "blocking_limit", result: "Prompt is too long · …" }],
    "overflow",
  ],
  [
    "claude, an answer that was cut off",
    "claude",
    [{ type: "result", is_error: true, api_error: "max_output_tokens", terminal_reason: "api_error" }],
    "length",
  ],
  [
    "codex, an answer that was cut off",
    "codex",
    [
      { type: "turn.started" },
      { type: "turn.failed", error: { message: "Incomplete response returned, reason: max_output_tokens" } },
    ],
    "length",
  ],
  [
    "opencode, an answer that was cut off",
    "opencode",
    [{ type: "step_finish", part: { reason: "length" } }],
    "length",
  ],
  [
    "gemini, an answer without a word",
    "gemini",
    [
      { type: "error", severity: "error", message: "The model returned an empty response with no text." },
      { type: "result", status: "error", stats: {} },
    ],
    "empty",
  ],
  ["codex, nothing", "codex", [{ type: "turn.completed", usage: {} }], "empty"],
])("what it ended of is told: %s", (_, format, events, kind) => {
  expect(classify(format, events, exit(0))).toMatchObject({ class: "agent", kind });
});

describe("a process without an error result", () => {
  test("that retries by itself and goes on has not failed", () => {
    const events = [
      { type: "error", message: "Reconnecting... 5/5 (unexpected status 401 Unauthorized)" },
      { type: "error", message: "exceeded retry limit, last status: 429 Too Many Requests" },
      { type: "item.completed", item: { id: "1", type: "agent_message", text: "Done." } },
      { type: "turn.completed", usage: {} },
    ];
    expect(classify("codex", events, exit(0))).toBeNull();
    expect(classify("codex", events.slice(0, 1))).toMatchObject({ class: "agent" });
    expect(classify("codex", events.slice(0, 2))).toMatchObject({ class: "limit" });
  });

  test("that copilot ends in the middle of its work, with exit code 0, has", () => {
    const events = [
      { type: "assistant.message", data: { content: "Running.", toolRequests: [{}] } },
      { type: "tool.execution_start", data: { toolCallId: "t" } },
      { type: "result", sessionId: "s", exitCode: 0 },
    ];
    expect(classify("copilot", events, exit(0))).toMatchObject({ class: "agent" });
  });

  test.each([
    ["a bad session", "gemini", 42, 'Error resuming session: Invalid session identifier "x".', "config"],
    ["no login", "copilot", 1, "Error: No authentication information found.", "auth"],
    ["no network", "codex", 1, "Error: connect ECONNREFUSED 127.0.0.1:1", "transient"],
  ] as const)("that refuses to start: %s", (_, format, code, words, expected) => {
    expect(classify(format, [], exit(code), words)?.class).toBe(expected);
  });

  test("that started is not judged by what it prints on stderr", () => {
    const noise = "Attempt 2 failed: Resource has been exhausted (e.g. check quota)";
    const failure = classify("gemini", [{ type: "init", session_id: "s" }], exit(1), noise);
    expect(failure).toMatchObject({ class: "agent" });
  });

  const DONE = { type: "result", subtype: "success", is_error: false, result: "Done." };
  test("is judged by its result when we end it afterwards", () => {
    expect(classify("claude", [DONE], { is: "signalled", signal: "SIGTERM" })).toBeNull();
    expect(classify("claude", [DONE], exit(3))).toMatchObject({ class: "agent" });
  });

  test.each([
    [{ is: "timed-out", afterMs: 1_000 }, "agent"],
    // No tool was at work: its service did not answer.
    [{ is: "idle", afterMs: 1_000 }, "transient"],
    [{ is: "not-started", message: "no such program" }, "config"],
    [{ is: "stopped" }, undefined],
    [{ is: "interrupted" }, undefined],
  ] as const)("that ended as %o", (ending, expected) => {
    expect(classify("claude", [{ type: "system", subtype: "init" }], ending)?.class).toBe(expected);
  });
});

test("one that was asked to end because its time was over did not end in time, whatever it calls that", () => {
  const facts = {
    ...createFactRecorder(null).read(),
    isOver: true,
    failure: failureOf("error_during_execution (aborted_tools)", { isOwn: true }),
  };
  const ending = { is: "timed-out", afterMs: 14_000 } as const;
  const failure = classifyStreamFailure({ ending, facts, hasEvents: true, words: "" }, 0, "UTC");
  expect(failure).toMatchObject({ class: "agent", message: expect.stringMatching(/14 ?s/) });
});
