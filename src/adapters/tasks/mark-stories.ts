import type { TaskId } from "../../core/plan/task.ts";
import { memberOf, type JsonObject } from "./read-json.ts";
import { findStories } from "./scan-tasks-json.ts";

/** The file with `passes` as wanted in the stories that `isWanted` names, and their ids; all else byte for byte. */
export function markStories(
  file: Buffer,
  path: string,
  passes: boolean,
  isWanted: (id: TaskId) => boolean,
): { readonly file: Buffer; readonly changed: readonly TaskId[] } {
  const stories = findStories(file, path).filter(({ id, node }) => isWanted(id) && isPassed(node) !== passes);
  let marked = file;
  // From the end, so that the places before it stay where they are.
  for (const { node } of stories.toReversed()) marked = splice(marked, passesEdit(marked, node, passes));
  return { file: marked, changed: stories.map(({ id }) => id) };
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function splice(file: Buffer, { start, end, text }: Edit): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(text), file.subarray(end)]);
}

function isPassed(story: JsonObject): boolean {
  const value = memberOf(story, "passes")?.value;
  return value?.is === "scalar" && value.value === true;
}

function passesEdit(file: Buffer, story: JsonObject, passes: boolean): Edit {
  const member = memberOf(story, "passes");
  if (member !== null) return { start: member.value.start, end: member.value.end, text: String(passes) };
  // A story has an id, so there is a last member to go by.
  const last = story.members.at(-1);
  if (last === undefined) throw new Error("a story without members");
  const before = story.members.at(-2)?.value.end;
  const space = file.toString("latin1", before === undefined ? story.start + 1 : before, last.keyStart);
  const colon = file.toString("latin1", last.keyEnd, last.value.start);
  const text = `,${space.replace(/^\s*,/, "")}"passes"${colon}${passes}`;
  return { start: last.value.end, end: last.value.end, text };
}
