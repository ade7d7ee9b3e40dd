import type { ProgramFormat } from "../agents.ts";
import { isAcpMessage, readAcpMessage } from "./acp-stream.ts";
import { readClaudeEvent } from "./claude-stream.ts";
import {
  isFields,
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  parsedJson,
  textOf,
  momentOf,
} from "./json-fields.ts";
import { byType, type StreamTranslator, failureOf, notPermitted, type FactRecorder } from "./stream-facts.ts";

export type StreamFormat = ProgramFormat | "acp";

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

const readCodexItem = byType(
  {
    agent_message(item, facts) {
      if (item["isCompleted"] !== true) return;
      facts.recovers();
      facts.says(textOf(item["text"]) ?? "");
    },
    command_execution: readCodexTool,
    file_change: readCodexTool,
    mcp_tool_call: readCodexTool,
    web_search: readCodexTool,
    collab_tool_call: readCodexTool,
    reasoning(item, facts) {
      if (item["isCompleted"] === true) facts.thinks(textOf(item["text"]) ?? "");
    },
  },
  /^(?:todo_list|error)$/,
);

/** The stream of `codex exec --json`. */
const readCodexEvent = byType({
  "thread.started": (event, facts) => facts.session(textOf(event["thread_id"])),
  "turn.started": (_, facts) => facts.goesOn(),
  "item.started": ({ item }, facts) => readCodexItem({ ...fieldsOf(item), isCompleted: false }, facts),
  "item.updated": ({ item }, facts) => readCodexItem({ ...fieldsOf(item), isCompleted: false }, facts),
  "item.completed": ({ item }, facts) => readCodexItem({ ...fieldsOf(item), isCompleted: true }, facts),
  error(event, facts) {
    const error = failureOf(textOf(event["message"]));
    if (error.message.startsWith("Reconnecting")) facts.retries(error);
    else facts.fails(error);
  },
  "turn.failed": (event, facts) => facts.ends(failureOf(textOf(fieldsOf(event["error"])["message"]))),
  "turn.completed"(event, facts) {
    readCodexUsage(fieldsOf(event["usage"]), facts);
    facts.ends();
  },
});

function readCodexTool({ isCompleted, ...item }: Fields, facts: FactRecorder): void {
  const { server, tool } = item;
  const type = textOf(item["type"]) ?? "tool";
  const id = textOf(item["id"]) ?? "";
  const files = type === "file_change" ? keptFiles(item["changes"]) : [];
  const name = type === "mcp_tool_call" ? `${textOf(server) ?? "mcp"}.${textOf(tool) ?? "tool"}` : type;
  const command = { command: item["command"] };
  const input = type === "mcp_tool_call" ? item["arguments"] : type === "command_execution" ? command : item;
  facts.startsTool({ id, name, files, input });
  if (isCompleted === true) facts.endsTool(id, item["status"] === "completed", item);
}

/** The paths of changes that leave a file. */
function keptFiles(changes: unknown): readonly string[] {
  const all = listOf(changes).map(fieldsOf);
  return all.flatMap(({ kind, path }) => (kind === "delete" ? [] : (textOf(path) ?? [])));
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
  if (event["ephemeral"] !== true) return readLastingEvent(event, facts);
  if (event["type"] === "model.call_failure")
    facts.retries(failureOf(textOf(data["errorMessage"]), { status: numberOf(data["statusCode"]) }));
  return true;
}

const readLastingEvent = byType(
  {
    "assistant.turn_start"(_, facts) {
      if (facts.read().isOver) facts.goesOn();
    },
    "assistant.message"(event, facts) {
      const data = fieldsOf(event["data"]);
      facts.recovers();
      facts.model(textOf(data["model"]));
      if (data["parentToolCallId"] == null) facts.says(textOf(data["content"]) ?? "");
      if (listOf(data["toolRequests"]).length > 0) facts.worksOn();
    },
    "assistant.reasoning": (event, facts) => facts.thinks(textOf(fieldsOf(event["data"])["content"]) ?? ""),
    "tool.execution_start"(event, facts) {
      const data = fieldsOf(event["data"]);
      facts.model(textOf(data["model"]));
      facts.startsTool({
        id: textOf(data["toolCallId"]) ?? "",
        name: textOf(data["toolName"]) ?? "tool",
        inBackground: fieldsOf(data["arguments"])["mode"] === "async",
        input: data["arguments"],
        isNested: data["parentToolCallId"] != null,
      });
    },
    "tool.execution_complete"(event, facts) {
      const data = fieldsOf(event["data"]);
      const id = textOf(data["toolCallId"]) ?? "";
      if (data["success"] === true) facts.writes(keptFiles(data["fileEdits"]));
      if (fieldsOf(data["error"])["code"] === "denied") facts.denies(id);
      facts.endsTool(id, data["success"] === true, {
        content: fieldsOf(data["result"])["content"],
        exit: fieldsOf(data["shellExecution"])["exitCode"],
        error: data["error"],
      });
    },
    "session.error": readCopilotError,
    result: readCopilotResult,
  },
  /^(?:abort|user\.message|system\.\w+|assistant\.(?:turn_end|idle|intent|usage)|session\.\w+)$/,
);

/** It does not end before the servers that it has left in the background: one that has reported is done before. */
function readIdle(data: Fields, facts: FactRecorder): void {
  const { message, isMidWork, lastTool, leftRunning, failure } = facts.read();
  const hasReported = message.includes("<promise>") || REPORTS.test(lastTool ?? "");
  if (leftRunning && hasReported && !isMidWork && failure === null && data["aborted"] !== true) facts.ends();
}

const REPORTS = /\b(?:task_complete|task_blocked|ask_decision)$/;

function readCopilotError(event: Fields, facts: FactRecorder): void {
  const data = fieldsOf(event["data"]);
  const message = textOf(data["message"]);
  // Before that it tells how long it has waited already.
  const last = message?.split("Last error: ").at(-1);
  facts.fails(
    failureOf(message, {
      status: numberOf(data["statusCode"]),
      kind: textOf(data["errorType"]),
      resetTexts: last === undefined ? [] : [last],
      at: momentOf(event["timestamp"]),
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

const GEMINI_WRITERS: readonly unknown[] = ["write_file", "replace", "edit"];

/** The stream of `gemini --output-format stream-json`. */
const readGeminiEvent = byType({
  init(event, facts) {
    facts.session(textOf(event["session_id"]));
    facts.model(textOf(event["model"]));
  },
  /** Messages come in pieces; only tools, and the user's words, stand between two of them. */
  message(event, facts) {
    const content = textOf(event["content"]);
    if (event["role"] === "user") facts.worksOn();
    else if (content !== null && event["delta"] === true) facts.saysMore(content);
    else if (content !== null) facts.says(content);
  },
  tool_use(event, facts) {
    const file = textOf(fieldsOf(event["parameters"])["file_path"]);
    const isWrite = GEMINI_WRITERS.includes(event["tool_name"]);
    facts.startsTool({
      id: textOf(event["tool_id"]) ?? "",
      name: textOf(event["tool_name"]) ?? "tool",
      files: isWrite && file !== null ? [file] : [],
      input: event["parameters"],
    });
  },
  tool_result: (event, facts) =>
    facts.endsTool(textOf(event["tool_id"]) ?? "", event["status"] === "success", event),
  result: readGeminiResult,
  error(event, facts) {
    // A warning is a hook that objects, or a loop that was noticed.
    if (event["severity"] === "error") facts.fails(failureOf(textOf(event["message"])));
  },
});

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

const readOpencodePart = byType({
  step_start(_, facts) {
    facts.goesOn();
    facts.steps(true);
  },
  text({ part }, facts) {
    const { text, messageID } = fieldsOf(part);
    facts.says(textOf(text) ?? "", textOf(messageID));
  },
  tool_use: ({ part }, facts) => readOpencodeTool(fieldsOf(part), facts),
  step_finish({ part }, facts) {
    facts.steps(false);
    readFinish(fieldsOf(part), facts);
  },
  error: readOpencodeError,
  reasoning: ({ part }, facts) => facts.thinks(textOf(fieldsOf(part)["text"]) ?? ""),
});

/** The stream of `opencode run --format json`. It has no final result: the last step stops. */
function readOpencodeEvent(event: Fields, facts: FactRecorder): boolean {
  const isKnown = readOpencodePart(event, facts);
  if (isKnown) facts.session(textOf(event["sessionID"]));
  return isKnown;
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
  const { output, error } = state;
  facts.endsTool(id, state["status"] === "completed", { output, error, exit });
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

export const STREAMS: Readonly<Record<StreamFormat, StreamTranslator>> = {
  claude: readClaudeEvent,
  codex: readCodexEvent,
  gemini: readGeminiEvent,
  opencode: readOpencodeEvent,
  copilot: readCopilotEvent,
  acp: readAcpMessage,
};

/** One of several pieces in which a stream tells a text. */
export interface TextPiece {
  /** The same for all of one text. */
  readonly of: string;
  readonly text: string;
  /** The line with another text in its place. */
  readonly lineWith: (text: string) => string;
}

const PIECES: Readonly<Partial<Record<StreamFormat, (event: Fields) => readonly string[] | null>>> = {
  gemini: (event) => (event["type"] === "message" && event["delta"] === true ? ["content"] : null),
  copilot({ type }) {
    if (type === "assistant.tool_call_delta") return ["data", "inputDelta"];
    return /^assistant\.\w+_delta$/.test(textOf(type) ?? "") ? ["data", "deltaContent"] : null;
  },
  acp(event) {
    const update = fieldsOf(fieldsOf(event["params"])["update"]);
    const isPiece = textOf(update["sessionUpdate"])?.endsWith("_chunk") === true;
    return isPiece ? ["params", "update", "content", "text"] : null;
  },
};

const LIKE_A_PIECE = /"delta":\s?true|_delta"|_chunk"/;

/** Null: the line has no piece of a text. */
export function pieceIn(format: StreamFormat, line: string): TextPiece | null {
  if (!LIKE_A_PIECE.test(line.slice(0, PIECE_SEEN_LENGTH))) return null;
  const event = fieldsOf(parsedJson(line));
  const path = PIECES[format]?.(event);
  if (path == null) return null;
  const text = textOf(path.reduce<unknown>((inner, name) => fieldsOf(inner)[name], event));
  if (text === null) return null;
  const { messageId, toolCallId } = {
    ...fieldsOf(event["data"]),
    ...fieldsOf(fieldsOf(event["params"])["update"]),
  };
  return {
    of: [event["type"], messageId, toolCallId, fieldsOf(event["params"])["sessionId"]].join(" "),
    text,
    lineWith: (other) => JSON.stringify(withText(event, path, other)),
  };
}

const PIECE_SEEN_LENGTH = 2_000;

function withText(event: Fields, [name = "", ...path]: readonly string[], text: string): Fields {
  return { ...event, [name]: path.length === 0 ? text : withText(fieldsOf(event[name]), path, text) };
}
