import { fieldsOf, listOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { failureOf, type FactRecorder } from "./stream-facts.ts";

/** The stream of `codex exec --json`. */
export function readCodexEvent(event: Fields, facts: FactRecorder): boolean {
  switch (event["type"]) {
    case "thread.started":
      facts.session(textOf(event["thread_id"]));
      return true;
    case "turn.started":
      facts.goesOn();
      return true;
    case "item.started":
    case "item.updated":
    case "item.completed":
      return readItem(event["type"] === "item.completed", fieldsOf(event["item"]), facts);
    case "error":
      readError(textOf(event["message"]), facts);
      return true;
    case "turn.failed":
      facts.ends(failureOf(textOf(fieldsOf(event["error"])["message"])));
      return true;
    case "turn.completed":
      readUsage(fieldsOf(event["usage"]), facts);
      facts.ends();
      return true;
    default:
      return false;
  }
}

const RETRY = /^Reconnecting\b/;

function readError(message: string | null, facts: FactRecorder): void {
  if (message === null || !RETRY.test(message)) facts.fails(failureOf(message));
}

function readItem(isCompleted: boolean, item: Fields, facts: FactRecorder): boolean {
  const type = textOf(item["type"]);
  switch (type) {
    case "agent_message":
      if (isCompleted) {
        facts.recovers();
        facts.says(textOf(item["text"]) ?? "");
      }
      return true;
    case "command_execution":
    case "file_change":
    case "mcp_tool_call":
    case "web_search":
    case "collab_tool_call":
      readTool(isCompleted, type, item, facts);
      return true;
    case "reasoning":
    case "todo_list":
    case "error":
      return true;
    default:
      return false;
  }
}

function readTool(isCompleted: boolean, type: string, item: Fields, facts: FactRecorder): void {
  const id = textOf(item["id"]) ?? "";
  const changes = type === "file_change" ? listOf(item["changes"]).map(fieldsOf) : [];
  const files = changes
    .filter((change) => change["kind"] !== "delete")
    .map((change) => textOf(change["path"]))
    .filter((path) => path !== null);
  facts.startsTool({ id, name: nameOf(type, item), files });
  if (isCompleted) facts.endsTool(id, item["status"] === "completed");
}

function nameOf(type: string, item: Fields): string {
  return type === "mcp_tool_call"
    ? `${textOf(item["server"]) ?? "mcp"}.${textOf(item["tool"]) ?? "tool"}`
    : type;
}

/** Counted from the beginning of the thread, so the last one holds them all. */
function readUsage(usage: Fields, facts: FactRecorder): void {
  const input = numberOf(usage["input_tokens"]);
  const cached = numberOf(usage["cached_input_tokens"]);
  facts.uses({
    inputTokens: input === null ? null : Math.max(0, input - (cached ?? 0)),
    outputTokens: numberOf(usage["output_tokens"]),
    cacheReadTokens: cached,
    costUsd: null,
  });
}
