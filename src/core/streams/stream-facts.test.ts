import { expect, test } from "vitest";
import { UNKNOWN_USAGE } from "./agent-report.ts";
import { createFactRecorder } from "./stream-facts.ts";
import { type StreamFormat, STREAMS } from "./stream-format.ts";

test.each([
  [-5, null],
  [-1e-12, 0],
  [0.5, 0.5],
])("a cost of %s is one of %s", (told, known) => {
  const facts = createFactRecorder(null);
  facts.usesMore({ ...UNKNOWN_USAGE, costUsd: told });
  expect(facts.read().usage.costUsd).toBe(known);
});

function factsOf(format: StreamFormat, events: readonly object[]) {
  const facts = createFactRecorder(null);
  for (const event of events) expect(STREAMS[format]({ ...event }, facts)).toBe(true);
  return facts.read();
}

const copilot = (type: string, data: object = {}) => ({ type, data });
const COPILOT_STARTS = copilot("tool.execution_start", { toolCallId: "1", toolName: "create" });
const COPILOT_DENIED = copilot("tool.execution_complete", { toolCallId: "1", error: { code: "denied" } });
const COPILOT_SAYS = copilot("assistant.message", {
  content: "<promise>COMPLETE</promise>",
  toolRequests: [],
});
const OPENCODE_DENIED = {
  type: "tool_use",
  part: {
    callID: "1",
    tool: "write",
    state: { status: "error", error: "The user rejected permission to use this specific tool call." },
  },
};
const CLAUDE_STARTS = {
  type: "assistant",
  message: { content: [{ type: "tool_use", id: "1", name: "Write", input: {} }] },
};
const claudeResult = (denied: string) => ({
  type: "result",
  subtype: "success",
  result: "Done.",
  permission_denials: [{ tool_name: denied, tool_use_id: "1" }],
});

test.each([
  ["copilot", [COPILOT_STARTS, COPILOT_DENIED, COPILOT_SAYS, { type: "result" }], "create"],
  ["opencode", [OPENCODE_DENIED], "write"],
  ["claude", [CLAUDE_STARTS, claudeResult("Write")], "Write"],
] as const)("%s fails when all that it tried was denied", (format, events, tool) => {
  const { denied, failure } = factsOf(format, events);
  expect(denied).toEqual([tool]);
  expect(failure).toMatchObject({ message: `not permitted: ${tool}`, isOwn: true });
});

test("an agent that wrote a file does not fail because another tool was denied", () => {
  const wrote = {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: "2" }] },
  };
  const writes = {
    type: "assistant",
    message: { content: [{ type: "tool_use", id: "2", name: "Write", input: { file_path: "/a" } }] },
  };
  const facts = factsOf("claude", [CLAUDE_STARTS, writes, wrote, claudeResult("Bash")]);
  expect(facts).toMatchObject({ denied: ["Bash"], failure: null });
});

const IDLE = copilot("assistant.idle");
const SERVES = copilot("tool.execution_start", { toolCallId: "9", arguments: { mode: "async" } });

test.each([
  ["has reported", [COPILOT_SAYS, IDLE], true],
  [
    "waits for a command in the background",
    [copilot("assistant.message", { content: "I wait." }), IDLE],
    false,
  ],
  ["was ended", [COPILOT_SAYS, copilot("assistant.idle", { aborted: true }), copilot("abort")], false],
  ["goes on", [COPILOT_SAYS, IDLE, copilot("assistant.turn_start")], false],
] as const)("copilot that is idle and %s", (_, events, isOver) => {
  expect(factsOf("copilot", [SERVES, ...events]).isOver).toBe(isOver);
});
