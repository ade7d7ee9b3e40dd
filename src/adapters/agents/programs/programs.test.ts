import { KNOWN_PROGRAMS } from "../../../core/agents.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LAUNCH } from "../../../../test/fixtures/launch.ts";
import type { AgentSettings } from "../../../core/settings.ts";
import { adapterFor } from "../adapters.ts";
import type { AgentCommand, Launch } from "../agent-adapter.ts";
import { usageInRecord } from "./gemini-program.ts";

const RESUMED = { id: "earlier", isNew: false };

type More = Partial<Omit<Launch, "agent">> & Partial<Pick<AgentSettings, "model" | "args" | "permissions">>;

function commandOf(name: (typeof KNOWN_PROGRAMS)[number], more: More = {}): AgentCommand {
  const { model = null, args = [], permissions = "full", ...launch } = more;
  const agent = { ...LAUNCH.agent, name, format: name, model, args, permissions };
  return adapterFor(agent).command({ ...LAUNCH, ...launch, agent }, "/prompt.md");
}

function lineOf(...given: Parameters<typeof commandOf>): string {
  return commandOf(...given).command.join(" ");
}

const READS_ONLY = {
  claude: "--permission-mode dontAsk --disallowedTools Edit,Write,NotebookEdit --strict-mcp-config",
  codex: '-c sandbox_mode="read-only" -c project_doc_max_bytes=0',
  gemini: "--approval-mode default",
  opencode: '"edit":"deny","bash":{"*":"deny","git diff *":"allow"',
  copilot: "--deny-tool write --no-custom-instructions --allow-tool ralph",
} as const;

describe.each(KNOWN_PROGRAMS)("%s", (name) => {
  test("is called by its own name, and is not told the prompt in its arguments", () => {
    expect(commandOf(name).command[0]).toBe(name);
    expect(lineOf(name)).not.toContain(LAUNCH.prompt);
  });

  test("may do everything without asking, unless the operator says less", () => {
    const lines = (["full", "edits", "own"] as const).map((permissions) => lineOf(name, { permissions }));
    expect(new Set(lines).size).toBeGreaterThan(1);
    expect(lines[0]).toMatch(/--(?:dangerously-\S+|yolo|auto|allow-all)\b/);
    expect(lines[2]).not.toMatch(/--(?:dangerously-\S+|yolo|auto|allow-all)\b/);
  });

  test("uses the model that was asked for, and gets more arguments last", () => {
    expect(lineOf(name, { model: "big-1" })).toContain("--model big-1");
    expect(lineOf(name, { args: ["--more", "x"] })).toMatch(/--more x( -)?$/);
  });

  test("goes on with the session it is given, and with no other", () => {
    expect(lineOf(name, { session: RESUMED })).toMatch(/(?:--resume|--session|resume)[ =]earlier/);
    expect(lineOf(name)).not.toMatch(/\bresume\b|--continue/);
  });

  test("changes nothing as a second reader, and still talks to us", () => {
    const line = lineOf(name, { permissions: "read" });
    expect(line).not.toMatch(/--(?:dangerously-\S+|yolo|auto|allow-all)\b/);
    const { env } = commandOf(name, { permissions: "read" });
    expect(`${line} ${env?.["OPENCODE_PERMISSION"] ?? ""}`).toContain(READS_ONLY[name]);
  });

  test("is given our server, with the marker of the iteration, if it takes any", () => {
    const { command, env } = commandOf(name);
    const told = [...command, ...Object.values(env ?? {})].join("\n");
    const { takesMcpServers } = adapterFor({ ...LAUNCH.agent, format: name }).can;
    expect(told.includes("/opt/node")).toBe(takesMcpServers);
    expect(told.includes("RALPH_MARKER")).toBe(takesMcpServers);
  });
});

test("claude works for root only when it believes to be in a sandbox, and only root is told so", () => {
  expect(commandOf("claude", { isRoot: true }).env).toHaveProperty("IS_SANDBOX", "1");
  expect(commandOf("claude", { isRoot: false }).env).not.toHaveProperty("IS_SANDBOX");
  expect(commandOf("claude", { isRoot: true, permissions: "own" }).env).not.toHaveProperty("IS_SANDBOX");
});

test("claude's own retries are few, unless the operator has said how many", () => {
  expect(commandOf("claude").env).toHaveProperty("CLAUDE_CODE_MAX_RETRIES", "3");
  const env = { CLAUDE_CODE_MAX_RETRIES: "7" };
  expect(commandOf("claude", { env }).env).toHaveProperty("CLAUDE_CODE_MAX_RETRIES", "7");
});

test("codex may write to .git when its sandbox is on, since it could not commit otherwise", () => {
  expect(lineOf("codex", { permissions: "edits" })).toContain(
    '--sandbox workspace-write -c sandbox_workspace_write.writable_roots=["/repo/.git"]',
  );
});

test("codex says only in its log that a patch was not permitted", () => {
  const adapter = adapterFor({ ...LAUNCH.agent, format: "codex" });
  const promise = { completion: "COMPLETE", requireXml: true };
  const reader = adapter.createReader({ prompt: "", promise }, LAUNCH);
  reader.stderrLine(
    "ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
  );
  expect(reader.result({ is: "exited", code: 0 })).toMatchObject({ denied: ["apply_patch"] });
});

test.each([
  ["of this turn", 300, { inputTokens: 200, outputTokens: 25, cacheReadTokens: 100 }],
  [
    "of a resumed session, without what came before",
    200,
    { inputTokens: 150, outputTokens: 15, cacheReadTokens: 50 },
  ],
  ["that are others than it told", 250, { inputTokens: 250, outputTokens: 9, cacheReadTokens: null }],
])("gemini's tokens by the protocol, %s", (_, inputTokens, expected) => {
  const home = mkdtempSync(join(tmpdir(), "ralph-gemini-"));
  const chats = join(home, ".gemini", "tmp", "project", "chats");
  mkdirSync(chats, { recursive: true });
  const tokens = (input: number) => ({
    input,
    output: 10,
    cached: 50,
    thoughts: input === 100 ? 0 : 5,
    tool: 0,
  });
  const lines = [{ id: "a", tokens: tokens(100) }, { $set: {} }, { id: "b", tokens: tokens(200) }];
  writeFileSync(
    join(chats, "session-2026-01234567.jsonl"),
    lines.map((line) => JSON.stringify(line)).join("\n"),
  );
  const told = { inputTokens, outputTokens: 9, cacheReadTokens: null, costUsd: null };
  expect(usageInRecord(told, "01234567-89ab", { HOME: home })).toEqual({ ...expected, costUsd: null });
  rmSync(home, { recursive: true });
});

test("gemini always gets a model", () => {
  expect(lineOf("gemini")).toContain("--model gemini-2.5-pro");
});

test("opencode keeps what the operator has configured in the environment", () => {
  const env = { OPENCODE_CONFIG_CONTENT: '{"model":"a/b","mcp":{"theirs":{"type":"local"}}}' };
  const config = JSON.parse(commandOf("opencode", { env }).env?.["OPENCODE_CONFIG_CONTENT"] ?? "") as object;
  expect(config).toMatchObject({
    model: "a/b",
    mcp: { theirs: { type: "local" }, ralph: { enabled: true } },
  });
  const damaged = commandOf("opencode", { env: { OPENCODE_CONFIG_CONTENT: "{ // mine" } });
  expect(damaged.env).not.toHaveProperty("OPENCODE_CONFIG_CONTENT");
});

test.each([
  ["Use @types/node, @./a.md and (@app.route)", "Use \\@types/node, \\@./a.md and (\\@app.route)"],
  ["me@example.com, \\@done, alone @ here", "me\\@example.com, \\@done, alone @ here"],
])("gemini includes no file that the prompt %j merely names", (prompt, input) => {
  expect(commandOf("gemini", { prompt }).input).toBe(input);
  expect(commandOf("codex", { prompt }).input).toBe(prompt);
});

test("copilot's tokens are read from the file that it writes", () => {
  const copilot = adapterFor({ ...LAUNCH.agent, format: "copilot" });
  const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 3, reasoningTokens: 1 };
  expect(copilot.readUsage?.(JSON.stringify({ modelMetrics: { a: { usage }, b: { usage } } }))).toEqual({
    inputTokens: 14,
    outputTokens: 4,
    cacheReadTokens: 6,
    costUsd: null,
  });
  expect(copilot.readUsage?.("{}")).toBeNull();
});
