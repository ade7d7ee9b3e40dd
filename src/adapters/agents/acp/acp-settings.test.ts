import { describe, expect, test } from "vitest";
import { acpPeer, says, SESSION, type AcpPeer } from "../../../../test/fixtures/acp-peer.ts";

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

  test("one that is not offered is a matter of configuration", () => {
    const peer = acpPeer({ model: "opus" });
    peer.begins({}, option("haiku"));
    expect(methods(peer)).toEqual(["initialize", "session/new"]);
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure).toEqual({
      class: "config",
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
