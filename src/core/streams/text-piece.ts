import { type Fields, fieldsOf, parsedJson, textOf } from "./json-fields.ts";
import type { StreamFormat } from "./stream-format.ts";

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
