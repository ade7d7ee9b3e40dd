import { fieldsOf, momentOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { failureOf, type FactRecorder } from "./stream-facts.ts";

/** The stream of `opencode run --format json`. It has no final result: the last step stops. */
export function readOpencodeEvent(event: Fields, facts: FactRecorder): boolean {
  const part = fieldsOf(event["part"]);
  switch (event["type"]) {
    case "step_start":
      facts.goesOn();
      break;
    case "text":
      facts.says(textOf(part["text"]) ?? "", textOf(part["messageID"]));
      break;
    case "tool_use":
      readTool(part, facts);
      break;
    case "step_finish":
      readFinish(part, facts);
      break;
    case "error":
      readError(event, facts);
      break;
    case "reasoning":
      break;
    default:
      return false;
  }
  facts.session(textOf(event["sessionID"]));
  return true;
}

const WRITERS: readonly unknown[] = ["write", "edit", "multiedit"];
const PATCHERS: readonly unknown[] = ["patch", "apply_patch"];

/** Only told when it is done. */
function readTool(part: Fields, facts: FactRecorder): void {
  const id = textOf(part["callID"]) ?? "";
  const state = fieldsOf(part["state"]);
  const files = filesOf(part["tool"], state, facts);
  facts.startsTool({ id, name: textOf(part["tool"]) ?? "tool", files });
  facts.endsTool(id, state["status"] === "completed");
}

function filesOf(tool: unknown, state: Fields, facts: FactRecorder): readonly string[] {
  const input = fieldsOf(state["input"]);
  if (PATCHERS.includes(tool)) return filesInPatch(textOf(input["patchText"]) ?? "");
  if (!WRITERS.includes(tool)) return [];
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
    facts.ends(failureOf(`the answer was cut off (${reason})`, { kind: reason, isOwn: true }));
  else facts.ends();
}

function readError(event: Fields, facts: FactRecorder): void {
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
