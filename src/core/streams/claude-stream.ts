import type { FailureKind, Usage } from "./agent-report.ts";
import { fieldsOf, listOf, momentOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { byType, failureOf, type FactRecorder, type StreamFailure } from "./stream-facts.ts";

/** The stream of `claude -p --output-format stream-json --verbose`. */
export function readClaudeEvent(event: Fields, facts: FactRecorder): boolean {
  const isKnown = readByType(event, facts);
  if (isKnown) facts.session(textOf(event["session_id"]));
  return isKnown;
}

const readByType = byType(
  {
    system: readSystem,
    assistant: readAssistant,
    user: readUser,
    rate_limit_event: readRateLimit,
    result: readResult,
  },
  /^(?:stream_event|control_request|control_response|keep_alive)$/,
);

const WRITERS: readonly unknown[] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

function readSystem(event: Fields, facts: FactRecorder): void {
  if (event["subtype"] === "api_retry")
    facts.retries(
      failureOf(textOf(event["error"]), {
        status: numberOf(event["error_status"]),
        kind: textOf(event["error"]),
      }),
    );
  if (event["subtype"] !== "init") return;
  facts.goesOn();
  facts.model(textOf(event["model"]));
  facts.workspace(textOf(event["cwd"]));
}

function readAssistant(event: Fields, facts: FactRecorder): void {
  const message = fieldsOf(event["message"]);
  // What the program itself says of an error comes in the dress of a message.
  if (event["is_api_error_message"] === true || message["model"] === "<synthetic>") {
    const resetsAt = resetOf(fieldsOf(event["api_error_params"])["rate_limit_info"]);
    const kind = textOf(event["error"]);
    if (resetsAt !== null || (kind !== null && kind !== "unknown"))
      facts.fails(failureOf(wordsOf(message), { kind, resetsAt }));
    return;
  }
  facts.recovers();
  facts.usesMeanwhile(textOf(message["id"]) ?? "", usageOf(fieldsOf(message["usage"]), USAGE_FIELDS, null));
  const isOwn = event["parent_tool_use_id"] == null;
  for (const block of listOf(message["content"]).map(fieldsOf)) {
    const text = textOf(block["text"]);
    if (block["type"] === "text" && text !== null && isOwn) facts.says(text, textOf(message["id"]));
    if (block["type"] === "thinking" && isOwn) facts.thinks(textOf(block["thinking"]) ?? "");
    if (block["type"] === "tool_use") readToolUse(block, isOwn, facts);
  }
}

function wordsOf(message: Fields): string {
  const words = listOf(message["content"]).map((block) => textOf(fieldsOf(block)["text"]) ?? "");
  return words.join("\n") || "the service refuses";
}

function readToolUse(block: Fields, isOwn: boolean, facts: FactRecorder): void {
  const input = fieldsOf(block["input"]);
  const file = textOf(input["file_path"]) ?? textOf(input["notebook_path"]);
  const isWrite = WRITERS.includes(block["name"]);
  facts.startsTool({
    id: textOf(block["id"]) ?? "",
    name: textOf(block["name"]) ?? "tool",
    files: isWrite && file !== null ? [file] : [],
    input: block["input"],
    isNested: !isOwn,
  });
}

function readUser(event: Fields, facts: FactRecorder): void {
  if (event["isReplay"] === true) return facts.hears();
  for (const block of listOf(fieldsOf(event["message"])["content"]).map(fieldsOf))
    if (block["type"] === "tool_result")
      facts.endsTool(textOf(block["tool_use_id"]) ?? "", block["is_error"] !== true, block["content"]);
}

function readRateLimit(event: Fields, facts: FactRecorder): void {
  const info = fieldsOf(event["rate_limit_info"]);
  const limit = { kind: "rate_limit", resetsAt: resetOf(info) };
  if (info["status"] === "rejected")
    facts.fails(failureOf("the service refuses: usage limit reached", limit));
  else facts.recovers();
}

/** Seconds since the epoch. */
function resetOf(info: unknown): number | null {
  const seconds = numberOf(fieldsOf(info)["resetsAt"]);
  return seconds === null || seconds < 1e9 || seconds > 1e10 ? null : Math.round(seconds * 1_000);
}

function readResult(event: Fields, facts: FactRecorder): void {
  readUsage(event, facts);
  const words = textOf(event["result"]);
  const isRefusal = event["stop_reason"] === "refusal";
  if (isRefusal || event["is_error"] === true || textOf(event["subtype"])?.startsWith("error") === true)
    return facts.ends(errorOf(event, words, facts));
  if (words !== null) facts.says(words);
  for (const denial of listOf(event["permission_denials"]).map(fieldsOf))
    facts.denies(textOf(denial["tool_use_id"]) ?? "", textOf(denial["tool_name"]) ?? "a tool");
  facts.ends();
}

function errorOf(event: Fields, words: string | null, facts: FactRecorder): StreamFailure {
  const { failure } = facts.read();
  const reason = textOf(event["terminal_reason"]);
  const isOwn = reason !== null && reason !== "api_error";
  const errors = listOf(event["errors"]).filter((error) => typeof error === "string");
  const subtype = textOf(event["subtype"]) ?? "error";
  const told =
    words ?? (errors.length > 0 && !/_diagnostic\]/.test(errors.join()) ? errors.join("\n") : null);
  return failureOf(told ?? `${subtype}${reason === null ? "" : ` (${reason})`}`, {
    status: numberOf(event["api_error_status"]),
    kind: textOf(event["api_error"]) ?? textOf(event["api_error_type"]) ?? failure?.kind ?? subtype,
    what: event["stop_reason"] === "refusal" ? "refusal" : (WHATS[subtype] ?? null),
    isOwn: isOwn || subtype.startsWith("error_max"),
    resetsAt: failure?.resetsAt ?? null,
    at: momentOf(event["timestamp"]),
  });
}

const WHATS: Readonly<Record<string, FailureKind>> = {
  error_max_turns: "turns",
  error_max_budget_usd: "budget",
};

/** `total_cost_usd` and `modelUsage` count a resumed session from its beginning. */
function readUsage(event: Fields, facts: FactRecorder): void {
  const told = Object.values(fieldsOf(event["model_usage_since_last_result"])).map(fieldsOf);
  const models = told.filter((model) => numberOf(model["inputTokens"]) !== null);
  for (const model of models)
    facts.usesMore(
      usageOf(
        model,
        ["inputTokens", "cacheCreationInputTokens", "outputTokens", "cacheReadInputTokens"],
        model["costUSD"],
      ),
    );
  if (models.length > 0) return;
  const all = usageOf(fieldsOf(event["usage"]), USAGE_FIELDS, event["total_cost_usd"]);
  const before = "model_usage_since_last_result" in event ? all.costUsd : facts.read().usage.costUsd;
  facts.usesMore({ ...all, costUsd: all.costUsd === null ? null : all.costUsd - (before ?? 0) });
}

const USAGE_FIELDS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
];

function usageOf(fields: Fields, names: readonly string[], cost: unknown): Usage {
  const [input, written, output, read] = names.map((name) => numberOf(fields[name]));
  return {
    inputTokens: input == null ? null : input + (written ?? 0),
    outputTokens: output ?? null,
    cacheReadTokens: read ?? null,
    costUsd: numberOf(cost),
  };
}
