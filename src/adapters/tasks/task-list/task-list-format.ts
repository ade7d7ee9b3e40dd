import type { TaskFormat } from "../task-format.ts";

type Reader = Pick<TaskFormat, "read" | "mark">;

let reader: Reader | null = null;

/** Must be done before the first look: the parser is only loaded by those who need it, as it takes its time. */
export async function loadTaskListFormat(): Promise<void> {
  reader ??= (await import("./task-list-reader.ts")).TASK_LIST_READER;
}

/** `tasks:` with a title, a status and more for each: YAML lists of several tools, and Taskmaster's `tasks.json`. */
export const TASK_LIST: TaskFormat = {
  kind: "task-list",
  read: (file, path) => loaded().read(file, path),
  mark: (file, path, marking) => loaded().mark(file, path, marking),
};

function loaded(): Reader {
  if (reader === null) throw new Error("the reader of task lists is not loaded");
  return reader;
}

/** Whether a YAML or JSON file seems to be a list of tasks, without the effort of reading it. */
export function looksLikeList(file: Buffer): boolean {
  const text = file.toString("latin1", 0, LOOK_MAX);
  return LIST.test(text) && TITLE.test(text);
}

const LOOK_MAX = 100_000;

/** `tasks:` with a list, not with more keys: those of a Taskfile are commands. */
const LIST = /(?:^|[\s{,])["']?tasks["']?[ \t]*:[ \t]*(?:\[|(?:(?:#[^\r\n]*)?\r?\n[ \t]*)+(?:-[ \t]|\[))/;
const TITLE = /["']?(?:title|name)["']?[ \t]*:/;
