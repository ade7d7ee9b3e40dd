import { splice } from "../splice.ts";
import { memberOf, readJson, type JsonObject } from "../read-json.ts";
import { fieldEdit } from "../story-fields.ts";
import type { Marked, Marking } from "../task-format.ts";
import { scanBeads, statusOf } from "./scan-beads.ts";

/**
 * The file with the wanted issues closed, or open again. Beads goes by the dates beside the status, so they are part
 * of the mark: an issue that is closed says since when.
 */
export function markBeads(
  file: Buffer,
  path: string,
  { isDone, isWanted, before }: Marking,
  now: () => string,
): Marked {
  const wanted = scanBeads(file, path).filter(
    ({ id, node }) => isWanted(id) && (statusOf(node) === "closed") !== isDone,
  );
  if (wanted.length === 0) return { file, changed: [] };
  const earlier = new Map(before === null ? [] : scanBeads(before, path).map(({ id, node }) => [id, node]));
  const marked = wanted.reduceRight((edited, { id, start, end }) => {
    const line = edited.subarray(start, end);
    const put = isDone ? closed(line, now()) : reopened(line, earlier.get(id));
    return Buffer.concat([edited.subarray(0, start), put, edited.subarray(end)]);
  }, file);
  return { file: marked, changed: wanted.map(({ id }) => id) };
}

function closed(line: Buffer, at: string): Buffer {
  const hasDate = memberOf(nodeOf(line), "updated_at") !== null;
  const dated = hasDate ? withText(line, "updated_at", at) : line;
  return withText(withText(dated, "status", "closed"), "closed_at", at);
}

function reopened(line: Buffer, earlier: JsonObject | undefined): Buffer {
  const was = earlier === undefined ? "open" : statusOf(earlier);
  return withoutMember(withText(line, "status", was === "closed" ? "open" : was), "closed_at");
}

function nodeOf(line: Buffer): JsonObject {
  const node = readJson(line);
  if (node.is !== "object") throw new Error("an issue that was there is gone");
  return node;
}

function withText(line: Buffer, key: string, value: string): Buffer {
  return splice(line, fieldEdit(line, nodeOf(line), key, JSON.stringify(value)));
}

function withoutMember(line: Buffer, key: string): Buffer {
  const { members } = nodeOf(line);
  const at = members.findLastIndex((member) => member.key === key);
  const member = members[at];
  if (member === undefined) return line;
  const last = members[at - 1];
  const start = last === undefined ? member.keyStart : last.value.end;
  const end = last === undefined ? (members[at + 1]?.keyStart ?? member.value.end) : member.value.end;
  return splice(line, { start, end, text: "" });
}
