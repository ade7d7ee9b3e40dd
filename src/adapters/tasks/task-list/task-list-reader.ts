import { NO_DEMANDS } from "../no-demands.ts";
import type { TaskFormat } from "../task-format.ts";
import { listTasks } from "./list-tasks.ts";
import { markEntries } from "./mark-entries.ts";

export const TASK_LIST_READER: Pick<TaskFormat, "read" | "mark"> = {
  read: (file, path) => {
    const tasks = listTasks(file, path);
    // What cannot be marked is better known before somebody has worked on it.
    markEntries(file, path, { isDone: true, isWanted: () => true, before: null });
    return { tasks, demands: NO_DEMANDS };
  },
  mark: markEntries,
};
