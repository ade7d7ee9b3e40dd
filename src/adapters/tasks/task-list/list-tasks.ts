import { plainTask, type Task } from "../../../core/plan/task.ts";
import { checkedTasks } from "../checked-tasks.ts";
import { readPriority } from "../priority-words.ts";
import { propertyFields } from "../roadmap-task.ts";
import type { PropertyKey } from "../scan-roadmap.ts";
import { withoutSetAside, type ListedTask } from "../set-aside.ts";
import { assignIds } from "../task-ids.ts";
import { EntryFields } from "./entry-fields.ts";
import { entryState } from "./entry-mark.ts";
import { readList, type Entry, type TaskList } from "./read-list.ts";

/** The tasks of the file that are to be worked on, or are done. */
export function listTasks(file: Buffer, path: string): readonly Task[] {
  return checkedTasks(withoutSetAside(listedTasks(readList(file, path), path)), path);
}

/** All tasks in the order of the file; those without an id get one from their title. */
export function listedTasks(list: TaskList, path: string): readonly ListedTask[] {
  const ids = entryIds(list);
  return list.entries.map((entry, at) => {
    const { isDone, setAside } = entryState(entry.map);
    const fields = new EntryFields(entry, list);
    const task = {
      ...taskOf(fields, ids[at] ?? "", entry, list),
      ...ownSettings(fields, path),
      done: isDone,
    };
    return { task, line: entry.line, setAside };
  });
}

/** Ids are taken as they are written, so that one used twice is seen. */
export function entryIds(list: TaskList): readonly string[] {
  const names = list.entries.map((entry) => {
    const fields = new EntryFields(entry, list);
    return { id: fields.text("id", "key") || null, title: fields.text("title", "name") };
  });
  const given = assignIds(names);
  return names.map(({ id }, at) => id ?? given[at] ?? "");
}

function taskOf(fields: EntryFields, id: string, entry: Entry, list: TaskList): Task {
  const title = fields.text("title", "name");
  if (title === "") throw list.bad(entry.map.range?.[0] ?? 0, `the task "${id}" has no "title"`);
  const description = [fields.text("description"), fields.text("details"), fields.text("notes")];
  return plainTask({
    id,
    title,
    description: description.filter((text) => text !== "").join("\n\n"),
    criteria: [
      ...fields.texts("acceptancecriteria", "acceptance", "criteria"),
      ...fields.texts("subtasks", "steps"),
    ],
    success: fields.text("success", "teststrategy") || null,
    dependsOn: fields.ids("dependson", "dependencies", "depends", "blockedby"),
    priority: priorityOf(fields),
    agent: fields.text("agent", "cli", "engine") || null,
  });
}

/** Where tasks have no priority of their own, their group says what comes first. */
function priorityOf(fields: EntryFields): number | null {
  const pair = fields.pair("priority", "parallelgroup");
  if (pair === null) return null;
  const priority = readPriority(fields.text("priority", "parallelgroup"));
  if (priority === null) throw fields.wrong(pair, "a number, or one of critical, high, medium and low");
  return priority;
}

/** Keys that mean what they mean in a roadmap. */
const OWN: readonly PropertyKey[] = ["ralph", "max_iterations", "completion_promise", "timeout"];

function ownSettings(fields: EntryFields, path: string): Partial<Task> {
  let settings: Partial<Task> = {};
  for (const key of OWN) {
    const name = key.replace("_", "");
    const pair = fields.pair(name);
    if (pair === null) continue;
    const property = { key, value: fields.text(name), line: fields.lineOf(pair) };
    settings = { ...settings, ...propertyFields(property, path) };
  }
  return settings;
}
