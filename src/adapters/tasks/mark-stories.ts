import type { TaskId } from "../../core/plan/task.ts";
import { UNTOUCHED, type ReviewField } from "../../core/review/story-review.ts";
import { memberOf, type JsonObject } from "./read-json.ts";
import { findStories } from "./scan-tasks-json.ts";
import { withFields } from "./story-fields.ts";

/** The file with `passes` as wanted in the stories that `isWanted` names, and their ids; all else byte for byte. */
export function markStories(
  file: Buffer,
  path: string,
  passes: boolean,
  isWanted: (id: TaskId) => boolean,
): { readonly file: Buffer; readonly changed: readonly TaskId[] } {
  const changed = findStories(file, path)
    .filter(({ id, node }) => isWanted(id) && isPassed(node) !== passes)
    .map(({ id }) => id);
  const edits = changed.map((story) => ({ story, field: "passes", value: passes }) as const);
  return { file: withFields(file, path, edits), changed };
}

/** The file with the story to do again: neither passed nor reviewed. Fields that it has not are not added. */
export function reopenStory(file: Buffer, path: string, task: TaskId): Buffer {
  const { passes, reviewStatus, reviewCount } = UNTOUCHED;
  const edits = findStories(file, path)
    .filter(({ id }) => id === task)
    .flatMap(({ node }) =>
      Object.entries({ passes, reviewStatus, reviewCount })
        .filter(([field]) => memberOf(node, field) !== null)
        .map(([field, value]) => ({ story: task, field: field as ReviewField, value })),
    );
  return withFields(file, path, edits);
}

function isPassed(story: JsonObject): boolean {
  const value = memberOf(story, "passes")?.value;
  return value?.is === "scalar" && value.value === true;
}
