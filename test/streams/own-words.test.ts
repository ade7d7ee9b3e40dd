import { describe, expect, test } from "vitest";
import { createStreamReader, type StreamAnalysis } from "../../src/adapters/agents/stream-reader.ts";
import { createOutputTap } from "../../src/adapters/agents/output-tap.ts";
import type { Ending } from "../../src/core/streams/agent-report.ts";
import type { StreamFormat } from "../../src/core/streams/stream-format.ts";
import { NOW } from "./recorded-streams.ts";

const PROMISE = "Fine.\n<promise>COMPLETE</promise>\n";
const PROMPT = `Do it.\nWhen done print:\n<promise>COMPLETE</promise>\nand nothing else.`;
/** Whoever reads limits from tool results or prose finds one here. */
const RATE_LIMIT =
  "Error: 429 Too Many Requests\nusage limit reached, resets in 5 minutes\nimport { Ratelimit } from '@upstash/ratelimit'";

/** A whole run in each format: the prompt comes back, a tool is called, and the agent ends with these words. */
interface Run {
  readonly toolResult: string;
  readonly lastWords: string;
}

const RUNS: Readonly<Record<StreamFormat, (run: Run) => readonly object[]>> = {
  claude: ({ toolResult, lastWords }) => [
    { type: "system", subtype: "init", session_id: "s", model: "m", cwd: "/w" },
    { type: "user", session_id: "s", isReplay: true, message: { content: [{ type: "text", text: PROMPT }] } },
    claudeSays([{ type: "tool_use", id: "t", name: "Task", input: { prompt: PROMISE } }]),
    { ...claudeSays([{ type: "text", text: PROMISE }]), parent_tool_use_id: "t" },
    {
      type: "user",
      session_id: "s",
      message: { content: [{ type: "tool_result", tool_use_id: "t", content: toolResult }] },
    },
    claudeSays([{ type: "text", text: lastWords }]),
    { type: "result", subtype: "success", is_error: false, session_id: "s", result: lastWords },
  ],
  codex: ({ toolResult, lastWords }) => [
    { type: "thread.started", thread_id: "s" },
    { type: "turn.started" },
    { type: "item.completed", item: { id: "0", type: "reasoning", text: PROMISE } },
    { type: "item.completed", item: { id: "1", type: "error", message: RATE_LIMIT } },
    {
      type: "item.completed",
      item: { id: "2", type: "command_execution", aggregated_output: toolResult, status: "completed" },
    },
    { type: "item.completed", item: { id: "3", type: "agent_message", text: lastWords } },
    { type: "turn.completed", usage: {} },
  ],
  gemini: ({ toolResult, lastWords }) => [
    { type: "init", timestamp: "2026-11-15T02:40:22.910Z", session_id: "s", model: "m" },
    { type: "message", role: "user", content: PROMPT },
    { type: "tool_use", tool_name: "run_shell_command", tool_id: "t", parameters: { command: PROMISE } },
    { type: "tool_result", tool_id: "t", status: "success", output: toolResult },
    { type: "message", role: "assistant", content: lastWords, delta: true },
    { type: "result", status: "success", stats: {} },
  ],
  opencode: ({ toolResult, lastWords }) => [
    { type: "step_start", sessionID: "s", part: { messageID: "a" } },
    {
      type: "tool_use",
      sessionID: "s",
      part: { tool: "bash", callID: "t", state: { status: "completed", input: {}, output: toolResult } },
    },
    { type: "step_finish", sessionID: "s", part: { reason: "tool-calls", messageID: "a" } },
    { type: "step_start", sessionID: "s", part: { messageID: "b" } },
    { type: "text", sessionID: "s", part: { messageID: "b", text: lastWords } },
    { type: "step_finish", sessionID: "s", part: { reason: "stop", messageID: "b" } },
  ],
  copilot: ({ toolResult, lastWords }) => [
    { type: "user.message", id: "1", data: { content: PROMPT, transformedContent: PROMPT } },
    { type: "assistant.message", id: "2", data: { content: "", toolRequests: [{ arguments: PROMISE }] } },
    { type: "tool.execution_start", id: "3", data: { toolCallId: "t", toolName: "bash", arguments: {} } },
    {
      type: "tool.execution_complete",
      id: "4",
      data: { toolCallId: "t", success: true, result: { content: toolResult } },
    },
    { type: "assistant.message_delta", id: "5", ephemeral: true, data: { deltaContent: PROMISE } },
    { type: "assistant.message", id: "6", data: { content: lastWords, toolRequests: [] } },
    { type: "result", sessionId: "s", exitCode: 0, usage: {} },
  ],
  acp: ({ toolResult, lastWords }) => [
    { jsonrpc: "2.0", id: 1, result: { protocolVersion: 1, agentCapabilities: {} } },
    { jsonrpc: "2.0", id: 2, result: { sessionId: "s" } },
    acpUpdate({ sessionUpdate: "user_message_chunk", content: { type: "text", text: PROMPT } }),
    acpUpdate({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: PROMISE } }),
    acpUpdate({ sessionUpdate: "tool_call", toolCallId: "t", title: PROMISE, kind: "execute" }),
    acpUpdate({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      status: "completed",
      content: [{ type: "content", content: { type: "text", text: toolResult } }],
    }),
    acpUpdate({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: lastWords } }),
    { jsonrpc: "2.0", id: 3, result: { stopReason: "end_turn" } },
  ],
};

/** One more call. */
const CALLS: Readonly<Record<StreamFormat, object>> = {
  claude: claudeSays([{ type: "tool_use", id: "u", name: "Bash", input: {} }]),
  codex: { type: "item.started", item: { id: "9", type: "command_execution", status: "in_progress" } },
  gemini: { type: "tool_use", tool_name: "run_shell_command", tool_id: "u", parameters: {} },
  opencode: { type: "tool_use", part: { tool: "bash", callID: "u", state: { status: "completed" } } },
  copilot: { type: "tool.execution_start", data: { toolCallId: "u", toolName: "bash" } },
  acp: acpUpdate({ sessionUpdate: "tool_call", toolCallId: "u", kind: "execute" }),
};

function acpUpdate(update: object): object {
  return { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } };
}

function claudeSays(content: readonly object[]): object {
  return { type: "assistant", session_id: "s", parent_tool_use_id: null, message: { id: "m", content } };
}

function read(format: StreamFormat, events: readonly object[], code = 0, prompt = PROMPT): StreamAnalysis {
  const promise = { completion: "COMPLETE", requireXml: true };
  const reader = createStreamReader(format, {
    prompt,
    promise,
    workspace: "/w",
    now: () => NOW,
    zone: "UTC",
  });
  for (const event of events) reader.stdoutLine(JSON.stringify(event));
  const ending: Ending = { is: "exited", code };
  return reader.analyze(ending);
}

const FORMATS = Object.keys(RUNS) as StreamFormat[];

describe.each(FORMATS)("%s", (format) => {
  const run = RUNS[format];

  test("a promise in a tool result, a tool call or the prompt is no claim", () => {
    const { report, facts } = read(format, run({ toolResult: PROMISE, lastWords: "Not yet." }));
    expect(report).toMatchObject({ claim: { is: "none" }, promise: null, finalText: "Not yet." });
    expect(report.signals.isPromiseHidden).toBe(false);
    expect(facts.toolCalls).toBe(1);
  });

  test("one in its last words is", () => {
    const { report, failure } = read(format, run({ toolResult: "", lastWords: PROMISE }));
    expect(report).toMatchObject({ claim: { is: "complete" }, promiseMatches: true });
    expect(failure).toBeNull();
  });

  test("a message that another tool call follows was not its last word", () => {
    const events = run({ toolResult: "", lastWords: PROMISE }).slice(0, -1);
    expect(read(format, events).report.claim.is).toBe("complete");
    const { report, facts } = read(format, [...events, CALLS[format]]);
    expect(facts.toolCalls).toBe(2);
    expect(report.claim.is).toBe("none");
  });

  test("limits in prose and tool results are none", () => {
    const { failure, report } = read(
      format,
      run({ toolResult: RATE_LIMIT, lastWords: `Fixed:\n${RATE_LIMIT}` }),
    );
    expect(failure).toBeNull();
    expect(report.claim.is).toBe("none");
  });

  test("without its end there is no final result, whatever the exit code", () => {
    const events = run({ toolResult: RATE_LIMIT, lastWords: PROMISE }).slice(0, -1);
    expect(read(format, events).failure).toMatchObject({
      class: "agent",
      message: "no final result (exit code 0)",
    });
    expect(read(format, events, 1).failure).toMatchObject({ class: "agent" });
  });

  test("a line of megabytes is read, in bounded time", () => {
    const huge = "x".repeat(5_000_000);
    const { report, damagedLines } = read(
      format,
      run({ toolResult: huge, lastWords: `${huge}\n${PROMISE}` }),
    );
    expect(report.claim.is).toBe("complete");
    expect(report.finalText.length).toBeLessThan(100_000);
    expect(damagedLines).toBe(0);
  });
});

test("what an agent of claude's own agent says is not its word", () => {
  const events = RUNS.claude({ toolResult: "", lastWords: "" });
  const said = events.findIndex((event) => "parent_tool_use_id" in event && event.parent_tool_use_id === "t");
  const { report } = read("claude", events.slice(0, said + 1));
  expect(report).toMatchObject({ claim: { is: "none" }, finalText: "" });
});

test("what opencode says beside a tool call is not its last word, though it is told later", () => {
  const text = { type: "text", sessionID: "s", part: { messageID: "a", text: PROMISE } };
  const [start, tool, finish] = RUNS.opencode({ toolResult: "", lastWords: "" });
  expect(read("opencode", [start!, tool!, text, finish!]).report.claim.is).toBe("none");
});

test("lines of megabytes reach the reader whole", async () => {
  const promise = { completion: "COMPLETE", requireXml: true };
  const reader = createStreamReader("codex", { prompt: PROMPT, promise });
  const tap = createOutputTap({ secrets: [], reader, write: async () => {}, show: undefined });
  for (const event of RUNS.codex({ toolResult: "x".repeat(3_000_000), lastWords: PROMISE }))
    await tap.stdout(Buffer.from(`${JSON.stringify(event)}\n`));
  await tap.end();
  expect(reader.analyze({ is: "exited", code: 0 })).toMatchObject({ damagedLines: 0, failure: null });
  expect(reader.activity()).toMatchObject({ toolCalls: 1, lastTool: "command_execution" });
});
