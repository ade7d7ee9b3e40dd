import { posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import { readStories } from "../../core/review/read-stories.ts";
import { hasReviewFields } from "../../core/review/story-review.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { checkedTasks } from "./checked-tasks.ts";
import { markStories, reopenStory } from "./mark-stories.ts";
import { isJson, scanTasksJson, type Story } from "./scan-tasks-json.ts";
import { createMemo, sameBytes } from "./memo.ts";
import { keptCopy } from "./kept-copy.ts";
import { withFields, withStories } from "./story-fields.ts";
import { TaskFile } from "./task-file.ts";

/** Tasks in a `tasks.json` or `prd.json`. Only `passes` and the fields of the review cycle are ever written. */
export function createTasksJsonSource(place: {
  readonly root: string;
  readonly path: string;
  /** A folder of ours, out of the agent's way; without one, what is kept is gone with the process. */
  readonly keepIn?: string | undefined;
}): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: "tasks-json", label: posix.basename(path), path };
  const file = new TaskFile(place);
  const kept = keptCopy(place.keepIn, path);
  const tasksIn = createMemo(
    (bytes: Buffer) => checkedTasks(withNotes(scanTasksJson(bytes, path).stories, bytes), path),
    sameBytes,
  );
  return {
    identity,
    files: [{ path: place.path, isAgents: false }],
    observe: async () => ({
      source: identity,
      tasks: file.read(tasksIn),
    }),
    demands: async () => {
      const { checks, branch } = file.read((bytes) => scanTasksJson(bytes, path));
      return { checks, branch };
    },
    mark: async (task) => {
      setPasses(file, true, (id) => id === task);
    },
    markedIn: (bytes, task, isDone) =>
      isDone ? markStories(bytes, path, true, (id) => id === task).file : reopenStory(bytes, path, task),
    takeBackMarks: async (done) => {
      // In what is no JSON no mark can be found, taken back or made.
      file.putBack((bytes) => !isJson(bytes));
      return setPasses(file, false, (id) => !done.has(id));
    },
    stories: {
      read: async () => {
        const bytes = file.peek();
        return bytes === null || !isJson(bytes) ? undefined : parsed(bytes);
      },
      edit: async (edits, putBack) => {
        file.edit((bytes) => {
          const before = putBack.length === 0 ? null : kept.read();
          const whole = before === null ? bytes : withStories(bytes, path, before, putBack);
          const edited = withFields(whole, path, edits);
          return edited.equals(bytes) ? null : edited;
        });
      },
      keep: async () => {
        const bytes = file.peek();
        if (bytes !== null) kept.write(bytes);
      },
      restore: async () => {
        const bytes = kept.read();
        if (bytes !== null) file.replaceWith(bytes);
      },
    },
  };
}

/** Notes belong to the review state. Where no story has one, they are part of what the story says. */
function withNotes(stories: readonly Story[], bytes: Buffer): readonly Story[] {
  const read = readStories(parsed(bytes)).stories;
  const reviews = new Map(hasReviewFields(read) ? read.map((story) => [story.id, story]) : []);
  return stories.map(({ task, notes, ...rest }) => {
    const review = reviews.get(task.id);
    const description =
      notes === "" ? task.description : `${task.description}\n\nNotes: ${notes}`.trimStart();
    return { ...rest, notes, task: review === undefined ? { ...task, description } : { ...task, review } };
  });
}

function parsed(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
}

function setPasses(file: TaskFile, passes: boolean, isWanted: (id: TaskId) => boolean): readonly TaskId[] {
  let changed: readonly TaskId[] = [];
  file.edit((bytes) => {
    const marked = markStories(bytes, file.path, passes, isWanted);
    changed = marked.changed;
    return changed.length === 0 ? null : marked.file;
  });
  return changed;
}
