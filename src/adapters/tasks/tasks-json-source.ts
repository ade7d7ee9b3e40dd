import { posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { checkedTasks } from "./checked-tasks.ts";
import { markStories } from "./mark-stories.ts";
import { isJson, scanTasksJson } from "./scan-tasks-json.ts";
import { createMemo, sameBytes } from "./memo.ts";
import { TaskFile } from "./task-file.ts";

/** Tasks in a `tasks.json` or `prd.json`. Only the value of `passes` is ever written. */
export function createTasksJsonSource(place: { root: string; path: string }): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: "tasks-json", label: posix.basename(path), path };
  const file = new TaskFile(place);
  const tasksIn = createMemo(
    (bytes: Buffer) => checkedTasks(scanTasksJson(bytes, path).stories, path),
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
    takeBackMarks: async (done) => {
      // In what is no JSON no mark can be found, taken back or made.
      file.putBack((bytes) => !isJson(bytes));
      return setPasses(file, false, (id) => !done.has(id));
    },
  };
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
