import { describe, expect, test } from "vitest";
import { acpPeer, says, SESSION, type AcpPeer } from "../../../../test/fixtures/acp-peer.ts";

const EXITED = { is: "exited", code: 0 } as const;
const PROMISE = "Done.\n<promise>COMPLETE</promise>";
const STEERING = { _meta: { steering: { supported: true } } };
const CLAUDE = { agentInfo: { name: "@agentclientprotocol/claude-agent-acp" } };

const methods = ({ heard }: AcpPeer) => heard.map(({ method }) => method ?? "reply");
const paramsOf = ({ heard }: AcpPeer, method: string) =>
  heard.findLast((message) => message.method === method)?.params;
const lastReply = ({ heard }: AcpPeer) => heard.findLast(({ method }) => method === undefined);

describe("from the first word to the last", () => {
  test("it introduces itself, opens a session, gives the prompt and hears the answer", () => {
    const env = { KEY: "value" };
    const peer = acpPeer({
      version: "1.2.3",
      exactPrompt: "the key is s3cret",
      mcpServers: [{ name: "ralph", command: "ralph", args: ["mcp"], env }],
    });
    expect(peer.heard).toMatchObject([
      {
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: 1,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
          clientInfo: { name: "ralph", version: "1.2.3" },
        },
      },
    ]);
    peer.begins();
    expect(paramsOf(peer, "session/new")).toEqual({
      cwd: "/w",
      mcpServers: [
        { name: "ralph", command: "ralph", args: ["mcp"], env: [{ name: "KEY", value: "value" }] },
      ],
    });
    expect(paramsOf(peer, "session/prompt")).toEqual({
      sessionId: SESSION,
      prompt: [{ type: "text", text: "the key is s3cret" }],
    });
    peer.updates(says("Done.\n<promise>COMP"));
    peer.updates(says("LETE</promise>"));
    expect(peer.reader.isOver()).toBe(false);
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED)).toMatchObject({
      claim: { is: "complete" },
      sessionId: SESSION,
      failure: null,
    });
  });

  test("lines that are no JSON, and answers that nobody waits for, are noise", () => {
    const peer = acpPeer();
    peer.reader.stdoutLine("Warning: 256-color support not detected.");
    peer.reader.stdoutLine("{ this is no JSON }");
    peer.says({ id: 99, result: {} });
    peer.says({ id: "server-1", result: {} });
    peer.begins();
    peer.reader.stdoutLine('"text"');
    peer.updates(says(PROMISE));
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.result(EXITED)).toMatchObject({ claim: { is: "complete" }, failure: null });
  });

  test("an agent that dies in the middle has given no result", async () => {
    const peer = acpPeer();
    const early = peer.send("first");
    peer.begins(STEERING);
    peer.updates(says(PROMISE));
    const late = peer.send("second");
    expect(peer.reader.isOver()).toBe(false);
    expect(peer.reader.result({ is: "signalled", signal: "SIGKILL" })).toMatchObject({
      failure: { class: "agent", message: "killed by SIGKILL" },
    });
    expect(await Promise.all([early, late, peer.send("third")])).toEqual([false, false, false]);
  });
});

describe("the settings of a session", () => {
  const modes = (...ids: readonly string[]) => ({
    modes: { currentModeId: "default", availableModes: ids.map((id) => ({ id, name: id })) },
  });

  test.each(["bypassPermissions", "agent-full-access", "yolo"])(
    "full permissions are the mode %s",
    (mode) => {
      const peer = acpPeer();
      peer.begins({}, modes("default", mode));
      expect(paramsOf(peer, "session/set_mode")).toEqual({ sessionId: SESSION, modeId: mode });
      peer.updates(says(`[MODE_UPDATE] ${mode}`));
      peer.answers("session/set_mode", {});
      peer.updates(says("<promise>COMPLETE</promise>"));
      peer.answers("session/prompt", { stopReason: "end_turn" });
      expect(peer.reader.result(EXITED)).toMatchObject({ finalText: "<promise>COMPLETE</promise>" });
    },
  );

  test("a mode that is not offered, or not wanted, is not set", () => {
    for (const [permissions, mode] of [
      ["full", "plan"],
      ["edits", "yolo"],
      ["own", "yolo"],
    ] as const) {
      const peer = acpPeer({ permissions });
      peer.begins({}, modes("default", mode));
      expect(methods(peer)).toEqual(["initialize", "session/new", "session/prompt"]);
    }
  });

  test("a mode that is refused is done without", () => {
    const peer = acpPeer();
    peer.begins({}, modes("yolo"));
    peer.refuses("session/set_mode", { code: -32_603, message: "not as root" });
    expect(methods(peer)).toContain("session/prompt");
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.result(EXITED).failure).toBeNull();
  });

  const option = (value: string) => ({
    configOptions: [
      {
        id: "model",
        category: "model",
        currentValue: "default",
        options: [{ value: "default" }, { group: "more", options: [{ value }] }],
      },
    ],
  });

  test("a model is set as an option, or by the older method", () => {
    const newer = acpPeer({ model: "opus" });
    newer.begins({}, option("opus"));
    expect(paramsOf(newer, "session/set_config_option")).toEqual({
      sessionId: SESSION,
      configId: "model",
      value: "opus",
    });
    const older = acpPeer({ model: "opus" });
    older.begins({}, { models: { currentModelId: "auto", availableModels: [{ modelId: "opus" }] } });
    expect(paramsOf(older, "session/set_model")).toEqual({ sessionId: SESSION, modelId: "opus" });
    older.refuses("session/set_model", { code: -32_602, message: "no such model" });
    expect(methods(older)).not.toContain("session/prompt");
    expect(older.reader.result(EXITED).failure).toMatchObject({ message: "no such model" });
  });

  test("one that is not offered is not set", () => {
    const peer = acpPeer({ model: "opus" });
    peer.begins({}, option("haiku"));
    expect(methods(peer)).toEqual(["initialize", "session/new", "session/prompt"]);
  });
});

describe("an earlier session", () => {
  const opened = (agentCapabilities: object) => {
    const peer = acpPeer({ resume: "old", permissions: "own" });
    peer.answers("initialize", { protocolVersion: 1, agentCapabilities });
    return peer;
  };

  test("is resumed where the agent can do that, with a cost that is not known", () => {
    const peer = opened({ loadSession: true, sessionCapabilities: { resume: {} } });
    expect(paramsOf(peer, "session/resume")).toEqual({ sessionId: "old", cwd: "/w", mcpServers: [] });
    peer.answers("session/resume", {});
    peer.updates({ sessionUpdate: "usage_update", cost: { amount: 7, currency: "USD" } });
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.result(EXITED)).toMatchObject({ sessionId: "old", usage: { costUsd: null } });
  });

  test("is loaded otherwise, and its history is not counted, though it may come late", () => {
    const peer = opened({ loadSession: true });
    expect(methods(peer)).toEqual(["initialize", "session/load"]);
    const history = () => {
      peer.updates({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Do it." } });
      peer.updates({ sessionUpdate: "tool_call", toolCallId: "1", kind: "execute", status: "completed" });
      peer.updates(says(PROMISE));
    };
    history();
    peer.answers("session/load", { modes: { currentModeId: "default" } });
    expect(paramsOf(peer, "session/set_mode")).toEqual({ sessionId: "old", modeId: "default" });
    history();
    peer.answers("session/set_mode", {});
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.result(EXITED)).toMatchObject({
      sessionId: "old",
      toolCalls: 0,
      claim: { is: "none" },
    });
  });

  test("is given up where the agent can do neither", () => {
    const peer = opened({ loadSession: false });
    expect(methods(peer)).toEqual(["initialize", "session/new"]);
  });

  test("that is not there any more is a matter of configuration", () => {
    const peer = opened({ loadSession: true });
    peer.refuses("session/load", {
      code: -32_603,
      message: "Internal error",
      data: { details: "None found." },
    });
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure).toEqual({
      class: "config",
      message: "Internal error: None found.",
    });
  });
});

describe("what the agent asks", () => {
  const ALWAYS_FIRST = [
    { optionId: "always", kind: "allow_always", name: "Always" },
    { optionId: "once", kind: "allow_once", name: "Once" },
    { optionId: "no", kind: "reject_once", name: "No" },
  ];
  const ask = (peer: AcpPeer, toolCall: object, options: readonly object[] = ALWAYS_FIRST) => {
    peer.says({
      id: 0,
      method: "session/request_permission",
      params: { sessionId: SESSION, toolCall: { toolCallId: "t", ...toolCall }, options },
    });
    return lastReply(peer);
  };
  const chosen = (optionId: string) => ({ id: 0, result: { outcome: { outcome: "selected", optionId } } });

  test.each([
    ["full", "execute", "once"],
    ["full", "other", "once"],
    ["edits", "edit", "once"],
    ["edits", "read", "once"],
    ["edits", "execute", "no"],
    ["edits", "fetch", "no"],
    ["edits", "other", "no"],
    ["own", "edit", "no"],
  ] as const)("with the permissions %s, to %s: %s", (permissions, kind, expected) => {
    const peer = acpPeer({ permissions });
    peer.begins();
    expect(ask(peer, { kind })).toMatchObject(chosen(expected));
  });

  test.each([
    [{ kind: "other", name: "mcp__ralph__task_complete" }, "once"],
    [
      { kind: "other", toolCallId: "mcp_ralph_get_task__call_1", title: "get_task (ralph MCP Server)" },
      "once",
    ],
    [{ title: "ralph_get_task" }, "once"],
    [{ kind: "execute", name: "mcp__ralph__get_task" }, "no"],
    [{ kind: "other", name: "mcp__ralphs__get_task" }, "no"],
  ])("it may always talk to us: %o", (call, expected) => {
    const server = { name: "ralph", command: "ralph", args: ["mcp"], env: {} };
    const peer = acpPeer({ permissions: "own", mcpServers: [server] });
    peer.begins();
    expect(ask(peer, call)).toMatchObject(chosen(expected));
  });

  test("a lasting permission is not given, even if there is no other", () => {
    const peer = acpPeer();
    peer.begins();
    expect(ask(peer, { kind: "edit" }, ALWAYS_FIRST.slice(0, 1))).toMatchObject({
      result: { outcome: { outcome: "cancelled" } },
    });
  });

  test("a call that it only asks for is a call", () => {
    const peer = acpPeer();
    peer.begins();
    ask(peer, { kind: "edit", content: [{ type: "diff", path: "/w/a.ts", newText: "" }] });
    expect(peer.reader.activity()).toMatchObject({ toolCalls: 1, lastTool: "edit", currentFile: "a.ts" });
    peer.updates({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
    expect(peer.reader.activity()).toMatchObject({ toolCalls: 1, filesTouched: 1 });
  });

  test.each(["fs/read_text_file", "terminal/create", "brand/new"])("%s is not available", (method) => {
    const peer = acpPeer();
    peer.begins();
    peer.says({ id: "r1", method, params: {} });
    expect(lastReply(peer)).toMatchObject({ id: "r1", error: { code: -32_601 } });
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(peer.reader.result(EXITED).failure).toBeNull();
  });
});

describe("a message while it works", () => {
  test("is injected, where the agent can do that", async () => {
    const peer = acpPeer();
    const sent = peer.send("Use the v2 API.");
    peer.begins(STEERING);
    await Promise.resolve();
    expect(paramsOf(peer, "_session/steering")).toMatchObject({
      sessionId: SESSION,
      prompt: [{ type: "text", text: "Use the v2 API." }],
    });
    peer.answers("_session/steering", { outcome: "injected" });
    expect(await sent).toBe(true);
    expect(peer.reader.isOver()).toBe(false);
  });

  test("has not reached one that refuses it, or ends before it says so", async () => {
    const peer = acpPeer();
    peer.begins(STEERING);
    const refused = peer.send("one");
    peer.answers("_session/steering", { outcome: "promptRequired" });
    const failed = peer.send("two");
    peer.refuses("_session/steering", { code: -32_603, message: "no" });
    const late = peer.send("three");
    peer.updates(says(PROMISE));
    peer.answers("session/prompt", { stopReason: "end_turn" });
    expect(await Promise.all([refused, failed, late, peer.send("four")])).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(peer.reader.result(EXITED)).toMatchObject({ failure: null, claim: { is: "complete" } });
  });

  test("joins the turn as a prompt of those who let it, and the last answer counts", async () => {
    const peer = acpPeer();
    peer.begins(CLAUDE);
    const first = peer.heard.at(-1)?.id ?? 0;
    expect(await peer.send("Use the v2 API.")).toBe(true);
    peer.says({ id: first, result: { stopReason: "end_turn", usage: { inputTokens: 0, outputTokens: 0 } } });
    expect(peer.reader.isOver()).toBe(false);
    peer.updates(says(PROMISE));
    peer.answers("session/prompt", { stopReason: "end_turn", usage: { inputTokens: 70, outputTokens: 7 } });
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED)).toMatchObject({
      claim: { is: "complete" },
      failure: null,
      usage: { inputTokens: 70, outputTokens: 7 },
    });
  });

  test("that joined and is not answered leaves the turn without an end", () => {
    const peer = acpPeer();
    peer.begins(CLAUDE);
    const first = peer.heard.at(-1)?.id ?? 0;
    void peer.send("Use the v2 API.");
    peer.says({ id: first, result: { stopReason: "end_turn" } });
    expect(peer.reader.result(EXITED).failure).toMatchObject({ message: "no final result (exit code 0)" });
  });

  test("does not go to agents whose turn it would end", async () => {
    const peer = acpPeer();
    peer.begins({ agentInfo: { name: "gemini-cli" } });
    expect(await peer.send("Use the v2 API.")).toBe(false);
    expect(methods(peer)).toEqual(["initialize", "session/new", "session/prompt"]);
  });
});

describe("what goes wrong", () => {
  test("an agent that wants a login says which there are", () => {
    const peer = acpPeer();
    peer.answers("initialize", { authMethods: [{ id: "a", name: "Log in with Google" }, { id: "api-key" }] });
    peer.refuses("session/new", { code: -32_000, message: "Authentication required" });
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure).toEqual({
      class: "auth",
      message: "Authentication required (it offers: Log in with Google, api-key)",
    });
  });

  test("a limit ends when the error says so", () => {
    const peer = acpPeer();
    peer.begins();
    peer.refuses("session/prompt", { code: 429, message: "Too many requests. Please retry in 30s." });
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure).toMatchObject({
      class: "limit",
      resetsAt: Date.parse("2026-11-15T03:00:30Z"),
    });
  });

  test("a program that only repeats what it hears does not speak the protocol", () => {
    const peer = acpPeer();
    for (let at = 0; at < peer.heard.length && at < 10; at += 1) peer.says(peer.heard[at] ?? {});
    expect(peer.heard.length).toBeLessThan(10);
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure?.message).toMatch(/"initialize" is not available/);
  });

  test("one that cannot be written to is waited for", async () => {
    const peer = acpPeer({}, async () => false);
    expect(peer.reader.isOver()).toBe(false);
    expect(await peer.reader.cancel()).toBe(false);
  });
});

test("the turn can be cancelled while it lasts", async () => {
  const peer = acpPeer();
  expect(await peer.reader.cancel()).toBe(false);
  peer.begins();
  expect(await peer.reader.cancel()).toBe(true);
  expect(peer.heard.at(-1)).toMatchObject({ method: "session/cancel", params: { sessionId: SESSION } });
  peer.answers("session/prompt", { stopReason: "cancelled" });
  expect(peer.reader.result(EXITED).failure).toEqual({ class: "agent", message: "the turn was cancelled" });
  expect(await peer.reader.cancel()).toBe(false);
});
