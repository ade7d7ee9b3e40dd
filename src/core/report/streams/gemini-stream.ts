import { fieldsOf, momentOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { failureOf, type FactRecorder } from "./stream-facts.ts";

/** The stream of `gemini --output-format stream-json`. */
export function readGeminiEvent(event: Fields, facts: FactRecorder): boolean {
  switch (event["type"]) {
    case "init":
      facts.session(textOf(event["session_id"]));
      facts.model(textOf(event["model"]));
      return true;
    case "message":
      readMessage(event, facts);
      return true;
    case "tool_use":
      readToolUse(event, facts);
      return true;
    case "tool_result":
      facts.endsTool(textOf(event["tool_id"]) ?? "", event["status"] === "success");
      return true;
    case "result":
      readResult(event, facts);
      return true;
    // Warnings: a hook that objects, a loop that was noticed.
    case "error":
      return true;
    default:
      return false;
  }
}

const WRITERS: readonly unknown[] = ["write_file", "replace", "edit"];

/** Messages come in pieces; only tools, and the user's words, stand between two of them. */
function readMessage(event: Fields, facts: FactRecorder): void {
  const content = textOf(event["content"]);
  if (event["role"] === "user") facts.worksOn();
  else if (content !== null && event["delta"] === true) facts.saysMore(content);
  else if (content !== null) facts.says(content);
}

function readToolUse(event: Fields, facts: FactRecorder): void {
  const file = textOf(fieldsOf(event["parameters"])["file_path"]);
  const isWrite = WRITERS.includes(event["tool_name"]);
  facts.startsTool({
    id: textOf(event["tool_id"]) ?? "",
    name: textOf(event["tool_name"]) ?? "tool",
    files: isWrite && file !== null ? [file] : [],
  });
}

function readResult(event: Fields, facts: FactRecorder): void {
  readUsage(fieldsOf(event["stats"]), facts);
  if (event["status"] === "success") return facts.ends();
  const error = fieldsOf(event["error"]);
  const message = textOf(error["message"]);
  const kind = textOf(error["type"]);
  facts.ends(failureOf(message, { kind, status: statusIn(message), at: momentOf(event["timestamp"]) }));
}

/** The service's answer is often the whole message: `[API Error: {"error":{"code":401,…`. */
function statusIn(message: string | null): number | null {
  const code = /\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*(\d{3})\b/.exec(message ?? "")?.[1];
  return code === undefined ? null : Number(code);
}

/** The thoughts are only in the total. */
function readUsage(stats: Fields, facts: FactRecorder): void {
  const input = numberOf(stats["input_tokens"]);
  const cached = numberOf(stats["cached"]);
  const output = numberOf(stats["output_tokens"]);
  const total = numberOf(stats["total_tokens"]);
  const rest = input === null || total === null ? null : total - input;
  facts.uses({
    inputTokens: numberOf(stats["input"]) ?? (input === null ? null : Math.max(0, input - (cached ?? 0))),
    outputTokens: output === null ? rest : Math.max(output, rest ?? 0),
    cacheReadTokens: cached,
    costUsd: null,
  });
}
