import { describe, expect, test } from "vitest";
import { acpPeer, type AcpPeer, says, SESSION } from "../../../../test/fixtures/acp-peer.ts";

const EXITED = { is: "exited", code: 0 } as const;

const lastReply = ({ heard }: AcpPeer) => heard.findLast(({ method }) => method === undefined);

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
    ["read", "read", "once"],
    ["read", "edit", "no"],
    ["read", "execute", "no"],
  ] as const)("with the permissions %s, to %s: %s", (permissions, kind, expected) => {
    const peer = acpPeer({ permissions });
    peer.begins();
    expect(ask(peer, { kind })).toMatchObject(chosen(expected));
    peer.answers("session/prompt", { stopReason: "end_turn" });
    const { denied, failure } = peer.reader.result(EXITED);
    expect(denied).toEqual(expected === "no" ? [kind === "other" ? "tool" : kind] : undefined);
    expect(failure === null).toBe(expected !== "no");
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
    expect(peer.reader.result(EXITED).failure).toMatchObject({ kind: "empty" });
  });
});

describe("acp settings", () => {
  const EXITED = { is: "exited", code: 0 } as const;
  const PROMISE = "Done.\n<promise>COMPLETE</promise>";

  const methods = ({ heard }: AcpPeer) => heard.map(({ method }) => method ?? "reply");
  const paramsOf = ({ heard }: AcpPeer, method: string) =>
    heard.findLast((message) => message.method === method)?.params;

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

    test.each([
      [["agent", "read-only"], "read-only"],
      [["bypassPermissions", "default"], null],
    ])("a second reader of %o is in the mode that asks for everything but reading", (offered, mode) => {
      const peer = acpPeer({ permissions: "read" });
      peer.begins({}, modes(...offered));
      expect(paramsOf(peer, "session/set_mode")?.["modeId"] ?? null).toBe(mode);
      expect(paramsOf(peer, "session/new")).toMatchObject({
        _meta: { claudeCode: { options: { settings: { disableAllHooks: true } } } },
      });
    });

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
      expect(peer.reader.result(EXITED).failure).toMatchObject({ kind: "empty" });
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

    test("one that is not offered is a matter of configuration", () => {
      const peer = acpPeer({ model: "opus" });
      peer.begins({}, option("haiku"));
      expect(methods(peer)).toEqual(["initialize", "session/new"]);
      expect(peer.reader.isOver()).toBe(true);
      expect(peer.reader.result(EXITED).failure).toEqual({
        class: "config",
        kind: "model",
        message: 'it does not offer the model "opus", but: default, haiku',
      });
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

    test("that is not there any more is given up for a fresh one", () => {
      const peer = opened({ loadSession: true });
      peer.refuses("session/load", { code: -32_603, message: "No previous sessions found" });
      peer.answers("session/new", { sessionId: SESSION });
      expect(methods(peer)).toEqual(["initialize", "session/load", "session/new", "session/prompt"]);
      peer.updates(says(PROMISE));
      peer.answers("session/prompt", { stopReason: "end_turn" });
      expect(peer.reader.result(EXITED)).toMatchObject({
        sessionId: SESSION,
        failure: null,
        claim: { is: "complete" },
      });
    });
  });
});
