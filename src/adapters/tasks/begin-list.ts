import { lstatSync } from "node:fs";
import { join } from "node:path";
import { addBox } from "./add-box.ts";
import { addTask, titleOf, type AddedTask } from "./add-task.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { TaskFile } from "./task-file.ts";

export interface BegunList extends AddedTask {
  /** False where the file was there, without a task. */
  readonly isNew: boolean;
}

/** A list with its first task, for a repository that has none. */
export function beginList(root: string, words: string): BegunList {
  const title = titleOf(words);
  if (lstatSync(join(root, PATH), { throwIfNoEntry: false }) !== undefined)
    return { ...addTask(root, { kind: "checklist", label: PATH, path: PATH }, title), isNew: false };
  const list = addBox(Buffer.from("# Tasks\n\n"), title);
  new TaskFile({ root, path: PATH }).replaceWith(list);
  return { id: scanChecklist(list)[0]?.task.id ?? "", path: PATH, isNew: true };
}

const PATH = "TODO.md";
