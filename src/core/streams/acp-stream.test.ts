import { describe, expect, test } from "vitest";
import type { Failure } from "./agent-report.ts";
import { isAcpMessage, readAcpMessage } from "./acp-stream.ts";
import { classifyStreamFailure } from "./classify-stream-failure.ts";
import { fieldsOf } from "./json-fields.ts";
import { createFactRecorder, type StreamFacts } from "./stream-facts.ts";

const NOW = Date.parse("2026-11-15T03:00:00Z");

function read(...messages: readonly object[]): StreamFacts {
  const recorder = createFactRecorder("/w");
  for (const message of messages) readAcpMessage(fieldsOf(message), recorder);
  return recorder.read();
}

const update = (fields: object, sessionId = "s") => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId, update: fields },
});
const says = (text: string, more: object = {}) =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more });
const call = (more: object) => update({ sessionUpdate: "tool_call", toolCallId: "t", ...more });
const callUpdate = (more: object) => update({ sessionUpdate: "tool_call_update", toolCallId: "t", ...more });
const answer = (result: object) => ({ jsonrpc: "2.0", id: 1, result });
const ended = (more: object = {}) => answer({ stopReason: "end_turn", ...more });

describe("what it says", () => {
  test("comes in pieces; a call, or another id, begins a new message", () => {
    expect(read(says("a"), says("b")).message).toBe("ab");
    expect(read(says("a"), call({ status: "completed" }), says("b")).message).toBe("b");
    expect(read(says("a", { messageId: "1" }), says("b", { messageId: "2" })).message).toBe("b");
  });

  test("an id keeps a message together while a call in the background ends", () => {
    const pieces = [says("<promise>COMP", { messageId: "1" }), says("LETE</promise>", { messageId: "1" })];
    const [first, second] = pieces as [object, object];
    const facts = read(call({}), first, callUpdate({ status: "completed" }), second);
    expect(facts.message).toBe("<promise>COMPLETE</promise>");
  });

  test("what is said before an answer to a setting is not part of the work", () => {
    expect(read(says("[MODE_UPDATE] yolo"), answer({}), says("Done.")).message).toBe("Done.");
  });

  test("thoughts, plans, and the words of the user and of other agents are not its words", () => {
    const facts = read(
      answer({ sessionId: "s" }),
      says("mine"),
      update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } }),
      update({ sessionUpdate: "plan", entries: [] }),
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "theirs" } }, "other"),
      says("theirs", { _meta: { claudeCode: { parentToolUseId: "t" } } }),
    );
    expect(facts).toMatchObject({ message: "mine", sessionId: "s" });
  });
});

describe("calls", () => {
  const diff = (path: string, more: object = {}) => ({ type: "diff", path, newText: "x", ...more });

  test("write the files that are told at any time, if they end well", () => {
    const late = [call({ kind: "edit" }), callUpdate({ content: [diff("/w/a.ts")] })];
    expect(read(...late).filesWritten).toEqual([]);
    expect(read(...late, callUpdate({ status: "failed" })).filesWritten).toEqual([]);
    expect(read(...late, callUpdate({ status: "completed" })).filesWritten).toEqual(["a.ts"]);
  });

  test("name the place of an edit, but that of a command is a folder", () => {
    const locations = [{ path: "/w/a.ts" }];
    const done = { status: "completed", locations };
    expect(read(call({ kind: "edit", ...done })).filesWritten).toEqual(["a.ts"]);
    expect(read(call({ kind: "execute", ...done })).filesWritten).toEqual([]);
  });

  test("that delete write nothing", () => {
    const content = [diff("/w/a.ts", { _meta: { kind: "delete" } }), diff("/w/b.ts")];
    expect(read(call({ status: "completed", content })).filesWritten).toEqual(["b.ts"]);
  });

  test("are counted once, and not again when news of an old one come", () => {
    const messages = [call({}), call({}), callUpdate({ status: "completed" }), callUpdate({ content: [] })];
    expect(read(...messages).toolCalls).toBe(1);
  });

  test.each([
    [{ name: "exec_command", kind: "execute", title: "ls" }, "exec_command"],
    [{ _meta: { claudeCode: { toolName: "Bash" } }, kind: "execute" }, "Bash"],
    [{ kind: "execute", title: "ls" }, "execute"],
    [{ kind: "other", title: "x_echo" }, "x_echo"],
    [{}, "tool"],
  ])("have names: %o", (more, expected) => {
    expect(read(call(more)).lastTool).toBe(expected);
  });
});

describe("tokens", () => {
  const usageOf = (usage: object) => read(ended({ usage })).usage;
  const told = { inputTokens: 1_000, outputTokens: 100, cachedReadTokens: 500, cachedWriteTokens: 200 };

  test.each([
    ["apart", { ...told, thoughtTokens: 10, totalTokens: 1_810 }, [1_200, 110]],
    ["apart, the thoughts within", { ...told, thoughtTokens: 10, totalTokens: 1_800 }, [1_200, 100]],
    ["within the input", { ...told, totalTokens: 1_100 }, [500, 100]],
    ["without a total", { ...told, thoughtTokens: 10 }, [1_200, 110]],
  ] as const)("from the cache are %s", (_, usage, [inputTokens, outputTokens]) => {
    expect(usageOf(usage)).toEqual({ inputTokens, outputTokens, cacheReadTokens: 500, costUsd: null });
  });

  test("that nobody tells are not known", () => {
    expect(read(ended({ usage: null, _meta: { quota: { token_count: null } } })).usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      costUsd: null,
    });
  });

  test("of several models name the one that did the work, and the cost is in dollars", () => {
    const models = [
      { model: "small", token_count: { input_tokens: 10 } },
      { model: "large", token_count: { input_tokens: 900 } },
    ];
    const facts = read(
      update({ sessionUpdate: "usage_update", cost: { amount: 0.5, currency: "USD" } }),
      update({ sessionUpdate: "usage_update", cost: { amount: 9, currency: "EUR" } }),
      ended({ _meta: { quota: { token_count: { input_tokens: 910 }, model_usage: models } } }),
    );
    expect(facts).toMatchObject({ model: "large", usage: { inputTokens: 910, costUsd: 0.5 } });
  });
});

describe("the end", () => {
  const classify = (...messages: readonly object[]): Failure | null =>
    classifyStreamFailure(
      { ending: { is: "exited", code: 0 }, facts: read(...messages), hasEvents: true, words: "" },
      NOW,
      "UTC",
    );
  const error = (code: number, message: string, data?: unknown) => ({
    jsonrpc: "2.0",
    id: 1,
    error: { code, message, data },
  });

  test("is good, or a limit of the agent's own", () => {
    expect(classify(says("Done."), ended())).toBeNull();
    expect(classify(ended())).toMatchObject({ class: "agent", kind: "empty" });
    expect(classify(answer({ stopReason: "refusal" }))?.kind).toBe("refusal");
    expect(classify(answer({ stopReason: "max_turn_requests" }))?.kind).toBe("turns");
    const error = "Error: Authentication failed with provider at http://h/v1 (HTTP 401).";
    const retry = "Info: Request failed due to a transient API error. Retrying...";
    expect(classify(says(retry), says(error), ended())).toMatchObject({ class: "auth" });
    expect(classify(says(`I saw this: ${error}`), ended())).toBeNull();
    for (const stopReason of ["cancelled", "max_tokens", "max_turn_requests", "refusal", "brand_new"])
      expect(classify(answer({ stopReason }))).toMatchObject({ class: "agent" });
  });

  const cases: readonly (readonly [string, object, Failure["class"], RegExp])[] = [
    ["claude", error(-32_603, "Internal error: x", { errorKind: "rate_limit" }), "limit", /x$/],
    [
      "claude, overloaded",
      error(-32_603, "529 Overloaded", { errorKind: "server_error" }),
      "transient",
      /529/,
    ],
    ["claude, no login", error(-32_000, "Authentication required"), "auth", /^Authentication/],
    [
      "codex",
      error(-32_603, "Internal error", {
        message: "You’ve hit your usage limit.",
        codexErrorInfo: "usageLimitExceeded",
      }),
      "limit",
      /^Internal error: You’ve hit/,
    ],
    [
      "codex, with a status",
      error(-32_603, "Internal error", {
        codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 503 } },
      }),
      "transient",
      /^Internal error$/,
    ],
    ["gemini", error(429, "Please retry in 2s."), "limit", /2s/],
    ["gemini, 401", error(401, "API key not valid."), "auth", /key/],
    [
      "opencode",
      error(-32_603, "Internal error: Incorrect API key provided", { errorName: "APIError" }),
      "auth",
      /API key/,
    ],
    ["a session that is not there", error(-32_002, "Resource not found"), "config", /not found/],
    ["a request that was cancelled", error(-32_800, "Request cancelled: 429"), "agent", /429/],
    ["an error of which nothing is known", error(-32_603, "Internal error", "oops"), "agent", /: oops$/],
  ];
  test.each(cases)("as an error: %s", (_, message, expected, words) => {
    expect(classify(message)).toMatchObject({
      class: expected,
      message: expect.stringMatching(words) as string,
    });
  });

  test("tells when a limit ends", () => {
    const details = { errorKind: "rate_limit", resets_at: NOW / 1_000 + 3_600 };
    expect(classify(error(-32_603, "limit", details))).toMatchObject({ resetsAt: NOW + 3_600_000 });
    expect(classify(error(429, "Please retry in 30s."))).toMatchObject({ resetsAt: NOW + 30_000 });
  });

  const status = (type: string) =>
    update({ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus: { type } } } });

  test("of codex-acp may look good after a system error, whose words come as the agent's", () => {
    const words = says("exceeded retry limit, last status: 429 Too Many Requests\n\n");
    expect(classify(status("systemError"), words, ended())).toMatchObject({ class: "limit" });
    expect(classify(status("systemError"), status("active"), words, ended())).toBeNull();
  });
});

describe("whose message it is", () => {
  test.each([
    [says("x"), true],
    [{ jsonrpc: "2.0", id: 1, method: "session/request_permission" }, true],
    [answer({ protocolVersion: 1, agentCapabilities: {} }), true],
    [ended(), true],
    [answer({ protocolVersion: "2025-11-25", serverInfo: {} }), false],
    [{ method: "session/update" }, false],
    [{ type: "result" }, false],
  ])("%o: %s", (message, expected) => {
    expect(isAcpMessage(fieldsOf(message))).toBe(expected);
  });

  test("unknown ones are told apart", () => {
    const recorder = createFactRecorder(null);
    const knows = (message: object) => readAcpMessage(fieldsOf(message), recorder);
    expect(knows({ method: "_auth/status_update" })).toBe(true);
    expect(knows({ method: "fs/read_text_file", id: 1 })).toBe(true);
    expect(knows({ method: "brand/new" })).toBe(false);
    expect(knows(update({ sessionUpdate: "brand_new" }))).toBe(false);
    expect(knows({ type: "brand.new" })).toBe(false);
  });
});
