import type { FieldEdit } from "../../core/review/story-review.ts";
import { splice, type Edit } from "./splice.ts";
import { memberOf, type JsonObject } from "./read-json.ts";
import { findStories, parse, storyList } from "./scan-tasks-json.ts";

/** The file with these fields as wanted; all else byte for byte. A story that is not there is left alone. */
export function withFields(file: Buffer, path: string, edits: readonly FieldEdit[]): Buffer {
  return edits.reduce((before, { story, field, value }) => {
    const text = JSON.stringify(value);
    const nodes = findStories(before, path).filter(
      ({ id, node }) => id === story && !isSame(before, node, field, text),
    );
    // From the end, so that the places before it stay where they are.
    return nodes.reduceRight(
      (edited, { node }) => splice(edited, fieldEdit(edited, node, field, text)),
      before,
    );
  }, file);
}

/** The file with stories that another version of it still has, each behind the one that it stood behind there. */
export function withStories(file: Buffer, path: string, from: Buffer, ids: readonly string[]): Buffer {
  const known = findStories(from, path);
  return known.reduce((edited, { id, node }, at) => {
    const stories = findStories(edited, path);
    const list = storyList(parse(edited, path));
    if (list === null || !ids.includes(id) || stories.some((story) => story.id === id)) return edited;
    const text = from.toString("utf8", node.start, node.end);
    const space = /\s*$/.exec(from.toString("latin1", 0, node.start))?.[0] ?? "";
    const before = stories.find((story) => story.id === known[at - 1]?.id)?.node;
    const first = list.items[0];
    if (before !== undefined) return splice(edited, insertion(before.end, `,${space}${text}`));
    if (first !== undefined) return splice(edited, insertion(first.start, `${text},${space}`));
    return splice(edited, insertion(list.start + 1, `${space}${text}`));
  }, file);
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

function isSame(file: Buffer, story: JsonObject, field: string, text: string): boolean {
  const value = memberOf(story, field)?.value;
  return value !== undefined && file.toString("utf8", value.start, value.end) === text;
}

/** The edit that sets one field of an object; a field that is not there comes after the last one. */
export function fieldEdit(file: Buffer, story: JsonObject, field: string, text: string): Edit {
  const member = memberOf(story, field);
  if (member !== null) return { start: member.value.start, end: member.value.end, text };
  // A story has an id, so there is a last member to go by.
  const last = story.members.at(-1);
  if (last === undefined) throw new Error("a story without members");
  const before = story.members.at(-2)?.value.end;
  const space = file.toString("latin1", before === undefined ? story.start + 1 : before, last.keyStart);
  const colon = file.toString("latin1", last.keyEnd, last.value.start);
  return insertion(last.value.end, `,${space.replace(/^\s*,/, "")}${JSON.stringify(field)}${colon}${text}`);
}
