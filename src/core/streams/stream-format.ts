import type { ProgramFormat } from "../agents.ts";
import { isAcpMessage, readAcpMessage } from "./acp-stream.ts";
import { readClaudeEvent } from "./claude-stream.ts";
import { isFields, type Fields, fieldsOf, listOf, numberOf, textOf, momentOf } from "./json-fields.ts";
import { type StreamTranslator, failureOf, notPermitted, type FactRecorder } from "./stream-facts.ts";

export type StreamFormat = ProgramFormat | "acp";

export const STREAMS: Readonly<Record<StreamFormat, StreamTranslator>> = {
  claude: readClaudeEvent,
  codex: readCodexEvent,
  gemini: readGeminiEvent,
  opencode: readOpencodeEvent,
  copilot: readCopilotEvent,
  acp: readAcpMessage,
};

/** What a program tells on stderr alone. */
export const STDERR: Readonly<Partial<Record<StreamFormat, (line: string, facts: FactRecorder) => void>>> = {
  gemini(line, facts) {
    const said = /^Attempt \d{1,3} failed(?: with status (\d{3}))?[^:]{0,80}: (?:_ApiError: )?(.+)/.exec(
      line,
    );
    if (said === null) return;
    const [, status, words = ""] = said;
    const message = /"message":\s?"((?:[^"\\]|\\.){1,500})"/.exec(words)?.[1] ?? words;
    facts.retries(failureOf(message, { status: status === undefined ? null : Number(status) }));
  },
  opencode(line, facts) {
    const said = /\blevel=ERROR\b.{0,400}?\berror(?:\.error)?="((?:[^"\\]|\\.){1,500})"/.exec(line)?.[1];
    // It asks small models for titles beside its work.
    if (said !== undefined && !/\bsmall=true\b/.test(line)) facts.retries(failureOf(said));
  },
};

export function isStreamFormat(name: string): name is StreamFormat {
  return Object.hasOwn(STREAMS, name);
}

/** Whose event it is, judged by what only that format has; null when nobody's. */
export function formatOf(json: unknown): StreamFormat | null {
  if (!isFields(json)) return null;
  if (isAcpMessage(json)) return "acp";
  if (typeof json["type"] !== "string") return null;
  return MARKS.find(([, isMark]) => isMark(json, String(json["type"])))?.[0] ?? null;
}

const has = (event: Fields, ...names: readonly string[]): boolean =>
  names.every((name) => Object.hasOwn(event, name));

const MARKS: readonly (readonly [StreamFormat, (event: Fields, type: string) => boolean])[] = [
  [
    "claude",
    (event, type) =>
      has(event, "session_id") &&
      ((type === "system" && has(event, "subtype")) ||
        (/^(?:assistant|user)$/.test(type) && isFields(event["message"])) ||
        (type === "result" && has(event, "is_error")) ||
        type === "rate_limit_event"),
  ],
  [
    "codex",
    (_, type) =>
      /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/.test(
        type,
      ),
  ],
  [
    "gemini",
    (event, type) =>
      has(event, "timestamp") &&
      ((type === "init" && has(event, "session_id", "model")) ||
        (type === "message" && has(event, "role", "content")) ||
        (type === "tool_use" && has(event, "tool_name", "tool_id")) ||
        (type === "result" && has(event, "status", "stats"))),
  ],
  [
    "opencode",
    (event, type) =>
      has(event, "sessionID") && /^(?:step_start|step_finish|text|tool_use|reasoning|error)$/.test(type),
  ],
  [
    "copilot",
    (event, type) =>
      (/^(?:session|assistant|user|tool|model)\.\w+$/.test(type) &&
        isFields(event["data"]) &&
        has(event, "id")) ||
      (type === "result" && has(event, "sessionId", "exitCode")),
  ],
];

/** The stream of `codex exec --json`. */
function readCodexEvent(event: Fields, facts: FactRecorder): boolean {
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
      return readCodexItem(event["type"] === "item.completed", fieldsOf(event["item"]), facts);
    case "error": {
      const error = failureOf(textOf(event["message"]));
      if (error.message.startsWith("Reconnecting")) facts.retries(error);
      else facts.fails(error);
      return true;
    }
    case "turn.failed":
      facts.ends(failureOf(textOf(fieldsOf(event["error"])["message"])));
      return true;
    case "turn.completed":
      readCodexUsage(fieldsOf(event["usage"]), facts);
      facts.ends();
      return true;
    default:
      return false;
  }
}

function readCodexItem(isCompleted: boolean, item: Fields, facts: FactRecorder): boolean {
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
      readCodexTool(isCompleted, type, item, facts);
      return true;
    case "reasoning":
      if (isCompleted) facts.thinks(textOf(item["text"]) ?? "");
      return true;
    case "todo_list":
    case "error":
      return true;
    default:
      return false;
  }
}

function readCodexTool(isCompleted: boolean, type: string, item: Fields, facts: FactRecorder): void {
  const id = textOf(item["id"]) ?? "";
  const changes = type === "file_change" ? listOf(item["changes"]).map(fieldsOf) : [];
  const files = changes.flatMap(({ kind, path }) => (kind === "delete" ? [] : (textOf(path) ?? [])));
  const { server, tool } = item;
  const name = type === "mcp_tool_call" ? `${textOf(server) ?? "mcp"}.${textOf(tool) ?? "tool"}` : type;
  const input = type === "mcp_tool_call" ? item["arguments"] : item;
  facts.startsTool({
    id,
    name,
    files,
    input: type === "command_execution" ? { command: item["command"] } : input,
  });
  if (isCompleted) facts.endsTool(id, item["status"] === "completed", item);
}

/** Counted from the beginning of the thread, so the last one holds them all. */
function readCodexUsage(usage: Fields, facts: FactRecorder): void {
  const input = numberOf(usage["input_tokens"]);
  const cached = numberOf(usage["cached_input_tokens"]);
  facts.uses({
    inputTokens: input === null ? null : Math.max(0, input - (cached ?? 0)),
    outputTokens: numberOf(usage["output_tokens"]),
    cacheReadTokens: cached,
    costUsd: null,
  });
}

/** The stream of `copilot --output-format json`. It tells no tokens, and its session only at the end. */
function readCopilotEvent(event: Fields, facts: FactRecorder): boolean {
  const data = fieldsOf(event["data"]);
  if (event["type"] === "assistant.idle") readIdle(data, facts);
  if (event["ephemeral"] === true) {
    if (event["type"] === "model.call_failure")
      facts.retries(failureOf(textOf(data["errorMessage"]), { status: numberOf(data["statusCode"]) }));
    return true;
  }
  switch (event["type"]) {
    case "assistant.turn_start":
      if (facts.read().isOver) facts.goesOn();
      return true;
    case "assistant.message":
      readCopilotMessage(data, facts);
      return true;
    case "assistant.reasoning":
      facts.thinks(textOf(data["content"]) ?? "");
      return true;
    case "tool.execution_start":
      readToolStart(data, facts);
      return true;
    case "tool.execution_complete":
      readToolEnd(data, facts);
      return true;
    case "session.error":
      readCopilotError(data, momentOf(event["timestamp"]), facts);
      return true;
    case "result":
      readCopilotResult(event, facts);
      return true;
    default:
      return COPILOT_KNOWN.test(textOf(event["type"]) ?? "");
  }
}

const COPILOT_KNOWN =
  /^(?:abort|user\.message|system\.\w+|assistant\.(?:turn_end|idle|intent|usage)|session\.\w+)$/;

/** It does not end before the servers that it has left in the background: one that has reported is done before. */
function readIdle(data: Fields, facts: FactRecorder): void {
  const { message, isMidWork, lastTool, leftRunning, failure } = facts.read();
  const hasReported = message.includes("<promise>") || REPORTS.test(lastTool ?? "");
  if (leftRunning && hasReported && !isMidWork && failure === null && data["aborted"] !== true) facts.ends();
}

const REPORTS = /\b(?:task_complete|task_blocked|ask_decision)$/;

function readCopilotMessage(data: Fields, facts: FactRecorder): void {
  facts.recovers();
  facts.model(textOf(data["model"]));
  if (data["parentToolCallId"] == null) facts.says(textOf(data["content"]) ?? "");
  if (listOf(data["toolRequests"]).length > 0) facts.worksOn();
}

function readToolStart(data: Fields, facts: FactRecorder): void {
  facts.model(textOf(data["model"]));
  facts.startsTool({
    id: textOf(data["toolCallId"]) ?? "",
    name: textOf(data["toolName"]) ?? "tool",
    inBackground: fieldsOf(data["arguments"])["mode"] === "async",
    input: data["arguments"],
    isNested: data["parentToolCallId"] != null,
  });
}

function readToolEnd(data: Fields, facts: FactRecorder): void {
  const isGood = data["success"] === true;
  const edits = listOf(data["fileEdits"]).map(fieldsOf);
  const kept = edits.flatMap(({ kind, path }) => (kind === "delete" ? [] : (textOf(path) ?? [])));
  const id = textOf(data["toolCallId"]) ?? "";
  if (isGood) facts.writes(kept);
  if (fieldsOf(data["error"])["code"] === "denied") facts.denies(id);
  facts.endsTool(id, isGood, {
    content: fieldsOf(data["result"])["content"],
    exit: fieldsOf(data["shellExecution"])["exitCode"],
    error: data["error"],
  });
}

function readCopilotError(data: Fields, at: number | null, facts: FactRecorder): void {
  const message = textOf(data["message"]);
  // Before that it tells how long it has waited already.
  const last = message?.split("Last error: ").at(-1);
  facts.fails(
    failureOf(message, {
      status: numberOf(data["statusCode"]),
      kind: textOf(data["errorType"]),
      resetTexts: last === undefined ? [] : [last],
      at,
    }),
  );
}

/** Ended by a signal it may still print a result with exit code 0. */
function readCopilotResult(event: Fields, facts: FactRecorder): void {
  facts.session(textOf(event["sessionId"]));
  const { failure, isMidWork } = facts.read();
  const code = numberOf(event["exitCode"]) ?? 0;
  if (failure !== null) facts.ends(failure);
  else if (code !== 0) facts.ends(failureOf(`exit code ${code}`, { isOwn: true }));
  else if (isMidWork) facts.ends(failureOf("it ended in the middle of its work", { isOwn: true }));
  else facts.ends();
}

/** The stream of `gemini --output-format stream-json`. */
function readGeminiEvent(event: Fields, facts: FactRecorder): boolean {
  switch (event["type"]) {
    case "init":
      facts.session(textOf(event["session_id"]));
      facts.model(textOf(event["model"]));
      return true;
    case "message":
      readGeminiMessage(event, facts);
      return true;
    case "tool_use":
      readToolUse(event, facts);
      return true;
    case "tool_result":
      facts.endsTool(textOf(event["tool_id"]) ?? "", event["status"] === "success", event);
      return true;
    case "result":
      readGeminiResult(event, facts);
      return true;
    case "error":
      // A warning is a hook that objects, or a loop that was noticed.
      if (event["severity"] === "error") facts.fails(failureOf(textOf(event["message"])));
      return true;
    default:
      return false;
  }
}

const GEMINI_WRITERS: readonly unknown[] = ["write_file", "replace", "edit"];

/** Messages come in pieces; only tools, and the user's words, stand between two of them. */
function readGeminiMessage(event: Fields, facts: FactRecorder): void {
  const content = textOf(event["content"]);
  if (event["role"] === "user") facts.worksOn();
  else if (content !== null && event["delta"] === true) facts.saysMore(content);
  else if (content !== null) facts.says(content);
}

function readToolUse(event: Fields, facts: FactRecorder): void {
  const file = textOf(fieldsOf(event["parameters"])["file_path"]);
  const isWrite = GEMINI_WRITERS.includes(event["tool_name"]);
  facts.startsTool({
    id: textOf(event["tool_id"]) ?? "",
    name: textOf(event["tool_name"]) ?? "tool",
    files: isWrite && file !== null ? [file] : [],
    input: event["parameters"],
  });
}

function readGeminiResult(event: Fields, facts: FactRecorder): void {
  readGeminiUsage(fieldsOf(event["stats"]), facts);
  if (event["status"] === "success") return facts.ends();
  const error = fieldsOf(event["error"]);
  const message = textOf(error["message"]) ?? facts.read().failure?.message ?? null;
  const kind = textOf(error["type"]);
  facts.ends(failureOf(message, { kind, status: statusIn(message), at: momentOf(event["timestamp"]) }));
}

/** The service's answer is often the whole message: `[API Error: {"error":{"code":401,…`. */
function statusIn(message: string | null): number | null {
  const code = /\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*(\d{3})\b/.exec(message ?? "")?.[1];
  return code === undefined ? null : Number(code);
}

/** The thoughts are only in the total. */
function readGeminiUsage(stats: Fields, facts: FactRecorder): void {
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

/** The stream of `opencode run --format json`. It has no final result: the last step stops. */
function readOpencodeEvent(event: Fields, facts: FactRecorder): boolean {
  const part = fieldsOf(event["part"]);
  switch (event["type"]) {
    case "step_start":
      facts.goesOn();
      facts.steps(true);
      break;
    case "text":
      facts.says(textOf(part["text"]) ?? "", textOf(part["messageID"]));
      break;
    case "tool_use":
      readOpencodeTool(part, facts);
      break;
    case "step_finish":
      facts.steps(false);
      readFinish(part, facts);
      break;
    case "error":
      readOpencodeError(event, facts);
      break;
    case "reasoning":
      facts.thinks(textOf(part["text"]) ?? "");
      break;
    default:
      return false;
  }
  facts.session(textOf(event["sessionID"]));
  return true;
}

const OPENCODE_WRITERS: readonly unknown[] = ["write", "edit", "multiedit"];
const PATCHERS: readonly unknown[] = ["patch", "apply_patch"];

/** Only told when it is done. */
function readOpencodeTool(part: Fields, facts: FactRecorder): void {
  const id = textOf(part["callID"]) ?? "";
  const state = fieldsOf(part["state"]);
  const files = filesOf(part["tool"], state, facts);
  facts.startsTool({ id, name: textOf(part["tool"]) ?? "tool", files, input: state["input"] });
  const isDenied = REJECTED.test(textOf(state["error"]) ?? "");
  if (isDenied) facts.denies(id);
  const exit = fieldsOf(state["metadata"])["exit"];
  facts.endsTool(id, state["status"] === "completed", {
    output: state["output"],
    error: state["error"],
    exit,
  });
  if (!isDenied) return;
  // It ends its turn then, without another word.
  const failure = notPermitted(facts.read().denied);
  if (failure !== null) facts.fails(failure);
}

const REJECTED = /^The user rejected permission to use this specific tool call/;

function filesOf(tool: unknown, state: Fields, facts: FactRecorder): readonly string[] {
  const input = fieldsOf(state["input"]);
  if (PATCHERS.includes(tool)) return filesInPatch(textOf(input["patchText"]) ?? "");
  if (!OPENCODE_WRITERS.includes(tool)) return [];
  const file = textOf(fieldsOf(state["metadata"])["filepath"]) ?? textOf(input["filePath"]);
  if (file === null) return [];
  // The title is the same file seen from the workspace.
  const title = textOf(state["title"]);
  if (title !== null && file.endsWith(`/${title}`)) facts.workspace(file.slice(0, -title.length - 1));
  return [file];
}

function filesInPatch(patch: string): readonly string[] {
  const found = patch.matchAll(/^\*\*\* (?:Add File|Update File|Move to): (\S.*)$/gm);
  return [...found].map((match) => (match[1] ?? "").trim());
}

const UNFINISHED: readonly unknown[] = ["length", "content-filter", "error"];

function readFinish(part: Fields, facts: FactRecorder): void {
  const tokens = fieldsOf(part["tokens"]);
  const cache = fieldsOf(tokens["cache"]);
  const sum = (...counts: readonly unknown[]): number | null =>
    numberOf(counts[0]) === null
      ? null
      : counts.reduce<number>((all, count) => all + (numberOf(count) ?? 0), 0);
  facts.usesMore({
    inputTokens: sum(tokens["input"], cache["write"]),
    outputTokens: sum(tokens["output"], tokens["reasoning"]),
    cacheReadTokens: numberOf(cache["read"]),
    costUsd: numberOf(part["cost"]),
  });
  const reason = textOf(part["reason"]);
  if (reason === "tool-calls") facts.worksOn();
  else if (UNFINISHED.includes(reason))
    facts.ends(
      failureOf(`the answer was cut off (${reason})`, {
        kind: reason,
        what: reason === "content-filter" ? "refusal" : reason === "length" ? "length" : null,
        isOwn: true,
      }),
    );
  else facts.ends();
}

function readOpencodeError(event: Fields, facts: FactRecorder): void {
  const error = fieldsOf(event["error"]);
  const data = fieldsOf(error["data"]);
  const message = textOf(data["message"]) ?? textOf(error["message"]) ?? textOf(error["name"]);
  const name = textOf(error["name"]);
  const headers = fieldsOf(data["responseHeaders"]);
  const body = textOf(data["responseBody"]);
  const retryAfter = textOf(headers["retry-after-ms"]) === null ? "retry-after" : "retry-after-ms";
  const wait = textOf(headers[retryAfter]);
  const texts = [body, wait === null ? null : `${retryAfter}: ${wait}`, message];
  facts.fails(
    failureOf(message, {
      status: numberOf(data["statusCode"]),
      kind: name,
      isOwn: name === "MessageAbortedError",
      resetTexts: texts.filter((text) => text !== null),
      at: momentOf(event["timestamp"]),
    }),
  );
}
