import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { byType, failureOf, type FactRecorder, type StreamFailure } from "./stream-facts.ts";
import { combined, type FailureKind, UNKNOWN_USAGE, type Usage } from "./agent-report.ts";

/** What an agent of the Agent Client Protocol sends: its updates and requests, and its answers to ours. */
export function readAcpMessage(message: Fields, facts: FactRecorder): boolean {
  const method = textOf(message["method"]);
  if (method !== null) return readMethod(method, fieldsOf(message["params"]), facts);
  if (isFields(message["error"])) facts.ends(errorOf(message["error"]));
  else if ("result" in message) readResult(fieldsOf(message["result"]), facts);
  else return false;
  return true;
}

/** Whether only such an agent would send this. */
export function isAcpMessage(message: Fields): boolean {
  if (message["jsonrpc"] !== "2.0") return false;
  const result = fieldsOf(message["result"]);
  return (
    /^session\/(?:update|request_permission)$/.test(textOf(message["method"]) ?? "") ||
    "agentCapabilities" in result ||
    "stopReason" in result
  );
}

function readMethod(method: string, params: Fields, facts: FactRecorder): boolean {
  if (method === "session/update") return readUpdate(params, facts);
  if (method === "session/request_permission") startTool(fieldsOf(params["toolCall"]), facts);
  return METHODS.test(method);
}

/** A name that begins with an underscore is an extension. */
const METHODS = /^(?:_|\$\/|(?:session|fs|terminal|elicitation|mcp)\/)/;

function readUpdate(params: Fields, facts: FactRecorder): boolean {
  const update = fieldsOf(params["update"]);
  return readKind({ ...update, type: update["sessionUpdate"], sessionId: params["sessionId"] }, facts);
}

const readKind = byType(
  {
    agent_message_chunk: readChunk,
    agent_thought_chunk: (update, facts) =>
      facts.thinks(textOf(fieldsOf(update["content"])["text"]) ?? "", true),
    user_message_chunk: (_, facts) => facts.worksOn(),
    tool_call(update, facts) {
      startTool(update, facts);
      endTool(update, facts);
    },
    tool_call_update(update, facts) {
      facts.toolWrites(textOf(update["toolCallId"]) ?? "", filesOf(update));
      showTool(update, facts);
      endTool(update, facts);
    },
    usage_update(update, facts) {
      // The cost is that of the whole session so far, and told apart from the tokens.
      const { amount, currency } = fieldsOf(update["cost"]);
      const costUsd = currency === "USD" ? numberOf(amount) : null;
      const { usage } = facts.read();
      facts.model(textOf(fieldsOf(update["_meta"])["_claude/model"]));
      facts.uses(costUsd === null ? usage : { ...usage, costUsd });
    },
    session_info_update: (update, facts) =>
      readCodexStatus(fieldsOf(fieldsOf(update["_meta"])["codex"]), facts),
  },
  /^(?:plan|available_commands_update|current_mode_update|config_option_update|notice|compaction_(?:update|summary_chunk))$/,
);

/** What an agent of the agent's own says is not its word: it has a session of its own, or a call that it belongs to. */
function readChunk(update: Fields, facts: FactRecorder): void {
  const { sessionId, failure } = facts.read();
  const session = textOf(update["sessionId"]);
  const isOther = sessionId !== null && session !== sessionId;
  const text = textOf(fieldsOf(update["content"])["text"]);
  if (isOther || text === null || claudeOf(update)["parentToolUseId"] != null) return;
  facts.session(session);
  facts.saysMore(text, textOf(update["messageId"]));
  if (failure?.kind === SYSTEM_ERROR) facts.fails(failureOf(text.trim(), { kind: SYSTEM_ERROR }));
}

const SYSTEM_ERROR = "systemError";

/** Of some errors codex-acp says only that there was one, then what it was as if the agent said it, and ends well. */
function readCodexStatus(codex: Fields, facts: FactRecorder): void {
  const status = textOf(fieldsOf(codex["threadStatus"])["type"]);
  if (status === SYSTEM_ERROR) facts.fails(failureOf(null, { kind: SYSTEM_ERROR }));
  else if (status !== null) facts.recovers();
}

function claudeOf(update: Fields): Fields {
  return fieldsOf(fieldsOf(update["_meta"])["claudeCode"]);
}

/** An agent that asks for permission may tell of the call in no other way. */
function startTool(call: Fields, facts: FactRecorder): void {
  const id = textOf(call["toolCallId"]) ?? "";
  facts.startsTool({ id, name: nameOf(call), isNested: claudeOf(call)["parentToolUseId"] != null });
  facts.toolWrites(id, filesOf(call));
  showTool(call, facts);
}

function showTool(call: Fields, facts: FactRecorder): void {
  const content = listOf(call["content"]).map(fieldsOf);
  const edits = content.filter(({ type }) => type === "diff");
  const input = edits.length > 0 ? { edits } : call["rawInput"];
  const isGiven = edits.length > 0 || Object.keys(fieldsOf(input)).length > 0;
  const terminal = fieldsOf(call["_meta"]);
  const printed = textOf(fieldsOf(terminal["terminal_output_delta"])["data"]);
  const told = content.flatMap((part) => (part["type"] === "content" ? [part["content"]] : []));
  const result =
    printed ?? call["rawOutput"] ?? (call["status"] === "completed" && told.length > 0 ? told : null);
  const exit = fieldsOf(terminal["terminal_exit"])["exit_code"];
  facts.showsTool(textOf(call["toolCallId"]) ?? "", {
    // Until it is known what they do, some call them "Preparing…".
    title:
      call["status"] === "pending" || (call["kind"] === "edit" && !isGiven) ? null : textOf(call["title"]),
    ...(isGiven && { input }),
    ...(result !== null && { result: { output: result, exit } }),
  });
}

const NAME_LENGTH_MAX = 100;

function nameOf(call: Fields): string {
  const kind = textOf(call["kind"]);
  const name = textOf(call["name"]) ?? textOf(claudeOf(call)["toolName"]);
  const said = name ?? (kind === "other" ? null : kind) ?? textOf(call["title"]) ?? "tool";
  return said.slice(0, NAME_LENGTH_MAX).toWellFormed();
}

/** Differences are of files; locations only where the call is an edit: those of a command are folders. */
function filesOf(call: Fields): readonly string[] {
  const diffs = listOf(call["content"])
    .map(fieldsOf)
    .filter(({ type, _meta }) => type === "diff" && fieldsOf(_meta)["kind"] !== "delete");
  const places = call["kind"] === "edit" ? listOf(call["locations"]).map(fieldsOf) : [];
  return [...diffs, ...places].map(({ path }) => textOf(path)).filter((path) => path !== null);
}

function endTool(call: Fields, facts: FactRecorder): void {
  const { status } = call;
  if (status !== "completed" && status !== "failed") return;
  facts.endsTool(textOf(call["toolCallId"]) ?? "", status === "completed");
  // Some give their messages no ids: what comes after a call is another one.
  facts.worksOn();
}

function readResult(result: Fields, facts: FactRecorder): void {
  facts.session(textOf(result["sessionId"]));
  facts.model(modelOf(result));
  const reason = textOf(result["stopReason"]);
  // What is said before such an answer belongs to what was asked, not to the work.
  if (reason === null) return facts.worksOn();
  const quota = fieldsOf(fieldsOf(result["_meta"])["quota"]);
  const told = tokensOf(fieldsOf(result["usage"])) ?? countsOf(fieldsOf(quota["token_count"]));
  const { usage } = facts.read();
  facts.uses(told === null ? usage : greaterOf(usage, told));
  facts.model(mainModel(quota));
  facts.ends(reason === "end_turn" ? (facts.read().failure ?? errorInWords(facts)) : stopped(reason));
}

/** Copilot tells an error of its service as if the agent said it, and ends well: then it has used and done nothing. */
function errorInWords(facts: FactRecorder): StreamFailure | null {
  const { message, toolCalls, usage } = facts.read();
  const said = /^(?:Info: .{0,200}?\.{3})*Error: ([^]{1,500})/.exec(message)?.[1];
  return said === undefined || toolCalls > 0 || usage.outputTokens !== null ? null : failureOf(said);
}

/** The model of a session; some say only that they decide themselves. */
function modelOf(result: Fields): string | null {
  const said = textOf(modelOption(result)?.["currentValue"]);
  const model = said ?? textOf(fieldsOf(result["models"])["currentModelId"]);
  return model === "default" || model === "auto" ? null : model;
}

/** Where a session has its models among its other options. */
export function modelOption(session: Fields): Fields | undefined {
  const options = listOf(session["configOptions"]).map(fieldsOf);
  return options.find(({ category, id }) => category === "model" || id === "model");
}

const STOPS: Readonly<Record<string, readonly [words: string, what: FailureKind | null]>> = {
  cancelled: ["the turn was cancelled", null],
  max_tokens: ["the answer was cut off (max_tokens)", "length"],
  max_turn_requests: ["it reached its own limit of requests", "turns"],
  refusal: ["the model refused to go on", "refusal"],
};

function stopped(reason: string): StreamFailure {
  const [words, what] = STOPS[reason] ?? [`it stopped: ${reason}`, null];
  return failureOf(words, { kind: reason, what, isOwn: true });
}

const AUTH_REQUIRED = -32_000;
const NOT_FOUND = -32_002;
const CANCELLED = -32_800;

function errorOf(error: Fields): StreamFailure {
  const code = numberOf(error["code"]);
  const data = fieldsOf(error["data"]);
  const message = messageOf(error, data);
  const details = Object.keys(data).length === 0 ? [] : [JSON.stringify(data)];
  return failureOf(message, {
    status: statusOf(code, data),
    kind:
      kindOf(data) ?? (code === AUTH_REQUIRED ? "auth_required" : code === NOT_FOUND ? "not_found" : null),
    isOwn: code === CANCELLED,
    resetTexts: [...details, message],
  });
}

/** The details say what happened where the message says only that something did. */
function messageOf(error: Fields, data: Fields): string {
  const message = textOf(error["message"]) ?? "an error without a message";
  const detail = textOf(data["message"]) ?? textOf(data["details"]) ?? textOf(error["data"]);
  return detail === null || message.includes(detail) ? message : `${message}: ${detail}`;
}

function statusOf(code: number | null, data: Fields): number | null {
  if (code === NOT_FOUND) return 404;
  if (code !== null && code >= 400 && code < 600) return code;
  const codex = Object.values(fieldsOf(data["codexErrorInfo"])).map(fieldsOf);
  const told = [data["statusCode"], data["status"], ...codex.map((info) => info["httpStatusCode"])];
  return told.map(numberOf).find((status) => status !== null) ?? null;
}

function kindOf(data: Fields): string | null {
  const info = data["codexErrorInfo"];
  const codex = textOf(info) ?? Object.keys(fieldsOf(info))[0] ?? null;
  return textOf(data["errorKind"]) ?? codex ?? textOf(data["errorName"]);
}

/**
 * Agents count differently: some have the tokens of the cache within the input, some the thoughts within the output.
 * Their total says which.
 */
function tokensOf(told: Fields): Usage | null {
  const count = (name: string): number => numberOf(told[name]) ?? 0;
  if (numberOf(told["inputTokens"]) === null) return null;
  const [input, output, thoughts] = [count("inputTokens"), count("outputTokens"), count("thoughtTokens")];
  const [read, written] = [count("cachedReadTokens"), count("cachedWriteTokens")];
  const total = numberOf(told["totalTokens"]) ?? input + read + written + output + thoughts;
  const holdsCache = total === input + output || total === input + output + thoughts;
  const holdsThoughts = total === input + output || total === input + read + written + output;
  return {
    inputTokens: holdsCache ? Math.max(0, input - read) : input + written,
    outputTokens: holdsThoughts ? output : output + thoughts,
    cacheReadTokens: numberOf(told["cachedReadTokens"]),
    costUsd: null,
  };
}

/** Here what came from the cache is within the input, and not told apart. */
function countsOf(told: Fields): Usage | null {
  const inputTokens = numberOf(told["input_tokens"]);
  const outputTokens = numberOf(told["output_tokens"]);
  return inputTokens === null ? null : { ...UNKNOWN_USAGE, inputTokens, outputTokens };
}

/** When messages join a running turn, each is answered: with the same numbers, or all but the last with zeros. */
function greaterOf(known: Usage, told: Usage): Usage {
  return combined(known, told, (a, b) => (a === null || b === null ? (a ?? b) : Math.max(a, b)));
}

/** Small models do side jobs. */
function mainModel(quota: Fields): string | null {
  const models = listOf(quota["model_usage"]).map(fieldsOf);
  const sizeOf = (model: Fields): number =>
    Math.max(0, ...Object.values(fieldsOf(model["token_count"])).map((count) => numberOf(count) ?? 0));
  const [first] = models.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return textOf(first?.["model"]);
}
