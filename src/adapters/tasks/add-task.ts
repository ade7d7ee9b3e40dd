import { lstatSync } from "node:fs";
import { join, posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";
import { addBox } from "./checklist-format.ts";
import { formatOf, isFileKind } from "./open-source.ts";
import { editKept, type ListPlace } from "./operators-list.ts";
import { PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { TaskFile } from "./task-format.ts";

export interface AddedTask {
  readonly id: TaskId;
  /** The file it was written into, relative to the root. */
  readonly path: string;
}

/** Writes a new task into the source's file, in the manner of those that are there; and into what is kept of it in a folder. */
export function addTask(
  { root, keepIn }: Pick<ListPlace, "root" | "keepIn">,
  source: SourceIdentity,
  words: string,
): AddedTask {
  const title = titleOf(words);
  const { kind } = source;
  if (kind === "github")
    throw new RalphError("usage", `${source.label} belongs to another program`, {
      hint: 'open an issue: gh issue create --title "what is to be done" --label LABEL',
    });
  const { path, format } = listOf(root, source);
  const file = new TaskFile({ root, path });
  file.read();
  if (keepIn !== undefined) editKept({ root, path, keepIn }, (bytes) => format.add(bytes, path, title).file);
  let id: TaskId | undefined;
  file.edit((bytes) => {
    const added = format.add(bytes, path, title);
    ({ id } = added);
    return id === undefined ? null : added.file;
  });
  if (id !== undefined) return { id, path };
  throw new RalphError("bad-tasks", `${path}: there is no place for another task`, {
    hint: "look for code or a comment that is never closed",
  });
}

/** Writes another title for a task, and changes nothing else that the list says; answers the file. */
export function retitleTask(root: string, source: SourceIdentity, id: TaskId, words: string): string {
  const title = titleOf(words, id);
  if (source.kind === "github")
    throw new RalphError("usage", `${source.label} belongs to another program`, {
      hint: `edit the issue: gh issue edit ${id.replace(/^\D+/, "")} --title "…"`,
    });
  const { path, format } = listOf(root, source);
  const file = new TaskFile({ root, path });
  const now = file.read();
  const { tasks } = format.read(now, path);
  const task = tasks.find((one) => one.id === id);
  if (task === undefined)
    throw new RalphError("usage", `${path} has no task ${id}`, { hint: "see what it has: ralph tasks" });
  const wanted = JSON.stringify(tasks.map((one) => (one === task ? { ...one, title } : one)));
  const isWanted = (changed: Buffer): boolean => {
    try {
      return JSON.stringify(format.read(changed, path).tasks) === wanted;
    } catch {
      return false;
    }
  };
  // An id that comes from the title is written in front of it, so that it stays.
  const isJson = format.kind === "tasks-json";
  const writings = isJson ? [inJson(title)] : [title, `**${id}**: ${title}`];
  const changed = writings
    .flatMap((text) => [...replacedIn(now, isJson ? inJson(task.title) : task.title, text)])
    .find(isWanted);
  if (changed === undefined)
    throw new RalphError("usage", `the title of ${id} cannot be changed in ${path} without changing more`, {
      hint: `edit ${path} yourself`,
    });
  file.edit((there) => (there.equals(now) ? changed : null));
  return path;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The file with one of the places replaced that have these words, each in turn. */
function* replacedIn(file: Buffer, words: string, by: string): Generator<Buffer> {
  const [old, fresh] = [Buffer.from(words), Buffer.from(by)];
  for (let at = file.indexOf(old); at !== -1 && old.length > 0; at = file.indexOf(old, at + 1))
    yield Buffer.concat([file.subarray(0, at), fresh, file.subarray(at + old.length)]);
}

/** On one line. */
function titleOf(words: string, task = "the new task"): string {
  const title = words.replaceAll(/\s+/g, " ").trim();
  if (title !== "") return title;
  throw new RalphError("usage", `${task} has no title`, {
    hint: 'say what is to be done: ralph tasks add "what is to be done"',
  });
}

function listOf(root: string, { kind, path, label }: SourceIdentity) {
  if (path !== null && isFileKind(kind)) return { path, format: formatOf(kind) };
  if (kind !== "prompt") throw new RalphError("usage", `${label} has no file to which a task could be added`);
  const beside = PROMPT_CHECKLISTS.map((name) => posix.join(posix.dirname(label), name));
  const found = beside.find((one) => new TaskFile({ root, path: one }).peek() !== null);
  if (found !== undefined) return { path: found, format: formatOf("checklist") };
  throw new RalphError("usage", `${label} has no list of tasks beside it`, {
    hint: `make one: ${beside[0]} with lines such as "- [ ] first task"`,
  });
}

interface BegunList extends AddedTask {
  /** False where the file was there, without a task. */
  readonly isNew: boolean;
}

export function beginList(root: string, words: string): BegunList {
  const title = titleOf(words);
  if (lstatSync(join(root, PATH), { throwIfNoEntry: false }) !== undefined)
    return { ...addTask({ root }, { kind: "checklist", label: PATH, path: PATH }, title), isNew: false };
  const { file, id = "" } = addBox(Buffer.from("# Tasks\n\n"), title);
  writeFileAtomically(join(root, PATH), file);
  return { id, path: PATH, isNew: true };
}

const PATH = "TODO.md";
