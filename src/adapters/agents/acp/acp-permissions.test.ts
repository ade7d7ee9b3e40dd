import { describe, expect, test } from "vitest";
import { acpPeer, SESSION, type AcpPeer } from "../../../../test/fixtures/acp-peer.ts";

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
