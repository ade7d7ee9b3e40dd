import { fieldsOf, listOf, momentOf, numberOf, textOf, type Fields } from "./json-fields.ts";
import { failureOf, type FactRecorder } from "./stream-facts.ts";

/** The stream of `copilot --output-format json`. It tells no tokens, and its session only at the end. */
export function readCopilotEvent(event: Fields, facts: FactRecorder): boolean {
  if (event["ephemeral"] === true) return true;
  const data = fieldsOf(event["data"]);
  switch (event["type"]) {
    case "assistant.message":
      readMessage(data, facts);
      return true;
    case "tool.execution_start":
      readToolStart(data, facts);
      return true;
    case "tool.execution_complete":
      readToolEnd(data, facts);
      return true;
    case "session.error":
      readError(data, momentOf(event["timestamp"]), facts);
      return true;
    case "result":
      readResult(event, facts);
      return true;
    default:
      return KNOWN.test(textOf(event["type"]) ?? "");
  }
}

const KNOWN =
  /^(?:user\.message|system\.\w+|assistant\.(?:turn_start|turn_end|reasoning|intent|usage)|session\.\w+)$/;

function readMessage(data: Fields, facts: FactRecorder): void {
  facts.recovers();
  facts.model(textOf(data["model"]));
  if (data["parentToolCallId"] == null) facts.says(textOf(data["content"]) ?? "");
  if (listOf(data["toolRequests"]).length > 0) facts.worksOn();
}

function readToolStart(data: Fields, facts: FactRecorder): void {
  facts.model(textOf(data["model"]));
  facts.startsTool({ id: textOf(data["toolCallId"]) ?? "", name: textOf(data["toolName"]) ?? "tool" });
}

function readToolEnd(data: Fields, facts: FactRecorder): void {
  const isGood = data["success"] === true;
  const edits = listOf(data["fileEdits"]).map(fieldsOf);
  const kept = edits.filter((edit) => edit["kind"] !== "delete").map((edit) => textOf(edit["path"]));
  if (isGood) facts.writes(kept.filter((path) => path !== null));
  facts.endsTool(textOf(data["toolCallId"]) ?? "", isGood);
}

function readError(data: Fields, at: number | null, facts: FactRecorder): void {
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
function readResult(event: Fields, facts: FactRecorder): void {
  facts.session(textOf(event["sessionId"]));
  const { failure, isMidWork } = facts.read();
  const code = numberOf(event["exitCode"]) ?? 0;
  if (failure !== null) facts.ends(failure);
  else if (code !== 0) facts.ends(failureOf(`exit code ${code}`, { isOwn: true }));
  else if (isMidWork) facts.ends(failureOf("it ended in the middle of its work", { isOwn: true }));
  else facts.ends();
}
