import { fieldsOf, isFields, numberOf } from "../../core/report/streams/json-fields.ts";
import { parsedJson, readEnd } from "./read-file.ts";

/** A single answer of a tool can be long, so more is read when the end does not tell. */
const READ_BYTES = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];
const CHARACTERS_PER_TOKEN = 4;

/** How many tokens of the context window a conversation takes; null when there is no transcript. */
export function transcriptTokens(path: string): number | null {
  let length = 0;
  for (const bytesMax of READ_BYTES) {
    const end = readEnd(path, bytesMax);
    if (end === null) return null;
    const reported = reportedTokens(end.text);
    if (reported !== null) return reported;
    length = end.isWhole ? end.text.length : end.bytes;
    if (end.isWhole) break;
  }
  return Math.ceil(length / CHARACTERS_PER_TOKEN);
}

/** What the model itself last reported; what subagents use is not in this window. */
function reportedTokens(text: string): number | null {
  for (const line of text.split("\n").toReversed()) {
    if (!line.includes('"usage"')) continue;
    const { message, isSidechain } = fieldsOf(parsedJson(line));
    const { usage } = fieldsOf(message);
    if (isSidechain === true || !isFields(usage)) continue;
    const counts = PARTS.map((part) => numberOf(usage[part]) ?? 0);
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    // A message that the program made up itself has used nothing.
    if (tokens > 0) return tokens;
  }
  return null;
}

const PARTS = [
  "input_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens",
] as const;
