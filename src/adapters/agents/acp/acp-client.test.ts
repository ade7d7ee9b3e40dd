import { describe, expect, test } from "vitest";
import { acpPeer, says, SESSION, type AcpPeer } from "../../../../test/fixtures/acp-peer.ts";

const EXITED = { is: "exited", code: 0 } as const;
const PROMISE = "Done.\n<promise>COMPLETE</promise>";
const STEERING = { _meta: { steering: { supported: true } } };
const CLAUDE = { agentInfo: { name: "@agentclientprotocol/claude-agent-acp" } };

const methods = ({ heard }: AcpPeer) => heard.map(({ method }) => method ?? "reply");
const paramsOf = ({ heard }: AcpPeer, method: string) =>
  heard.findLast((message) => message.method === method)?.params;

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
    peer.says({ id: 99, error: { code: 429, message: "Too many requests" } });
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

  test("an agent of another version is not talked to", () => {
    const peer = acpPeer();
    peer.answers("initialize", { protocolVersion: 2 });
    expect(methods(peer)).toEqual(["initialize"]);
    expect(peer.reader.isOver()).toBe(true);
    expect(peer.reader.result(EXITED).failure).toEqual({
      class: "config",
      message: "it speaks version 2 of the protocol, not 1",
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

test("what it says after the answer to the prompt changes nothing", () => {
  const peer = acpPeer();
  peer.begins();
  peer.updates(says("Done.\n\n<promise>COMPLETE</promise>"));
  peer.answers("session/prompt", { stopReason: "end_turn" });
  peer.updates(says("\n<promise>BLOCKED:late</promise>\n"));
  expect(peer.reader.result(EXITED).claim).toMatchObject({ is: "complete" });
});
