import { lstatSync } from "node:fs";
import { join, posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { editKept, type ListPlace } from "./operators-list.ts";
import { PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { scanRalphex } from "./ralphex/ralphex-format.ts";
import type { JsonArray, JsonObject } from "./read-json.ts";
import { type ChecklistItem, scanChecklist } from "./scan-checklist.ts";
import { scanRoadmap } from "./roadmap-source.ts";
import { findStories, parse, scanTasksJson, splice, storyList } from "./tasks-json-source.ts";
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
  const elsewhere = ELSEWHERE[kind];
  if (elsewhere !== undefined)
    throw new RalphError("usage", `${source.path ?? source.label} belongs to another program`, {
      hint: elsewhere(() => new TaskFile({ root, path: fileFor(root, source) }).peek()),
    });
  const file = new TaskFile({ root, path: fileFor(root, source) });
  const before = new Set(file.read((bytes) => idsIn(kind, bytes, file.path)));
  let added: TaskId | undefined;
  if (keepIn !== undefined)
    editKept({ root, path: file.path, keepIn }, (bytes) => withTask(kind, bytes, title, file.path));
  file.edit((bytes) => {
    const longer = withTask(kind, bytes, title, file.path);
    added = idsIn(kind, longer, file.path).find((id) => !before.has(id));
    return added === undefined ? null : longer;
  });
  if (added !== undefined) return { id: added, path: file.path };
  throw new RalphError("bad-tasks", `${file.path}: there is no place for another task`, {
    hint: "look for code or a comment that is never closed",
  });
}

/** On one line. */
function titleOf(words: string): string {
  const title = words.replaceAll(/\s+/g, " ").trim();
  if (title !== "") return title;
  throw new RalphError("usage", "the new task has no title", {
    hint: 'say what is to be done: ralph tasks add "what is to be done"',
  });
}

/** How a task is added to a list that is not ours to extend. */
const ELSEWHERE: Partial<Record<SourceIdentity["kind"], (file: () => Buffer | null) => string>> = {
  "task-list": () => "add it there by hand, or with the program that made the list",
  beads: () => 'add it there: bd create "what is to be done"',
  ralphex: (file) => {
    const { nextNumber } = scanRalphex(file() ?? Buffer.alloc(0));
    return `add it there: a heading "### Task ${nextNumber}: what is to be done", with "- [ ]" boxes below`;
  },
  github: () => 'open an issue: gh issue create --title "what is to be done" --label LABEL',
};

function fileFor(root: string, { kind, path, label }: SourceIdentity): string {
  if (path !== null) return path;
  if (kind !== "prompt") throw new RalphError("usage", `${label} has no file to which a task could be added`);
  const beside = PROMPT_CHECKLISTS.map((name) => posix.join(posix.dirname(label), name));
  const found = beside.find((one) => new TaskFile({ root, path: one }).peek() !== null);
  if (found !== undefined) return found;
  throw new RalphError("usage", `${label} has no list of tasks beside it`, {
    hint: `make one: ${beside[0]} with lines such as "- [ ] first task"`,
  });
}

function withTask(kind: SourceIdentity["kind"], file: Buffer, title: string, path: string): Buffer {
  if (kind === "tasks-json") return addStory(file, title, path);
  if (kind !== "roadmap") return addBox(file, title);
  const ids = scanRoadmap(file).flatMap((item) => (item.hasWrittenId ? [item.id] : []));
  return addBox(file, `**${nextId(ids, "task-")}**: ${title}`);
}

function idsIn(kind: SourceIdentity["kind"], file: Buffer, path: string): readonly TaskId[] {
  if (kind === "tasks-json") return findStories(file, path).map(({ id }) => id);
  if (kind === "roadmap") return scanRoadmap(file).map(({ id }) => id);
  return scanChecklist(file).map(({ task }) => task.id);
}

/** The file with one more box after the last one, in the manner of that one. */
function addBox(file: Buffer, title: string): Buffer {
  const items = scanChecklist(file);
  const last = items.findLast((item) => !item.task.optional) ?? items.at(-1);
  const text = file.toString("latin1");
  const ending = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  if (last === undefined) {
    const isClosed = text === "" || /[\r\n]$/.test(text);
    return Buffer.concat([file, Buffer.from(`${isClosed ? "" : ending}- [ ] ${title}${ending}`)]);
  }
  const gap = isLoose(text, items, last) ? ending : "";
  const line = `${ending}${gap}${bulletAfter(text, last)}[ ] ${title}`;
  return Buffer.concat([file.subarray(0, last.end), Buffer.from(line), file.subarray(last.end)]);
}

/** Whether the list has blank lines between its items. */
function isLoose(text: string, items: readonly ChecklistItem[], last: ChecklistItem): boolean {
  const before = items[items.indexOf(last) - 1];
  return (
    before !== undefined &&
    /^(\r\n|\n|\r)[ \t]*(\r\n|\n|\r)[^\r\n]*$/.test(text.slice(before.end, last.offset))
  );
}

function bulletAfter(text: string, { offset }: ChecklistItem): string {
  const lineStart = Math.max(text.lastIndexOf("\n", offset), text.lastIndexOf("\r", offset)) + 1;
  const bullet = text.slice(lineStart, offset - 1).replace(/^\xEF\xBB\xBF/, "");
  return bullet.replace(/\d+(?=[.)])/, (number) => String(Number(number) + 1));
}

/** The file with one more story after the last one, in the manner of that one. */
function addStory(file: Buffer, title: string, path: string): Buffer {
  const { stories } = scanTasksJson(file, path);
  const list = storyList(parse(file, path));
  if (list === null) throw new Error("a list that was there is gone");
  const last = stories.at(-1)?.node;
  const id = nextId(
    stories.map(({ task }) => task.id),
    "US-",
  );
  const priority = Math.max(0, ...stories.map(({ task }) => Math.ceil(task.priority ?? 0))) + 1;
  const values = valuesFor(last, { ...UNTOUCHED, id, title, priority });
  const text = file.toString("latin1");
  return last === undefined
    ? splice(file, { start: list.start + 1, end: list.end - 1, text: firstStory(text, list, values) })
    : splice(file, { start: last.end, end: last.end, text: furtherStory(text, list, last, values) });
}

/** What a new story says under the keys that we know. */
const UNTOUCHED: Readonly<Record<string, unknown>> = {
  id: "",
  title: "",
  description: "",
  acceptanceCriteria: [],
  priority: null,
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
  dependsOn: [],
};

const USUAL_KEYS = ["id", "title", "description", "acceptanceCriteria", "priority", "passes"];

type Values = readonly (readonly [key: string, json: string])[];

function valuesFor(last: JsonObject | undefined, known: Readonly<Record<string, unknown>>): Values {
  const written =
    last?.members.map(({ key }) => key).filter((key) => Object.hasOwn(known, key)) ?? USUAL_KEYS;
  const keys = new Set([...written, "id", "title", "passes"]);
  return [...keys].map((key) => [key, JSON.stringify(known[key])]);
}

function furtherStory(text: string, list: JsonArray, last: JsonObject, values: Values): string {
  const spaceBefore = (end: number): string => /[ \t\r\n]*$/.exec(text.slice(list.start, end))?.[0] ?? "";
  const [first, second] = last.members;
  const opening = spaceBefore(first?.keyStart ?? last.end);
  const between = second === undefined ? opening : spaceBefore(second.keyStart);
  const colon = first === undefined ? ": " : text.slice(first.keyEnd, first.value.start);
  const members = values.map(([key, json]) => `${JSON.stringify(key)}${colon}${json}`);
  return `,${spaceBefore(last.start)}{${opening}${members.join(`,${between}`)}${spaceBefore(last.end - 1)}}`;
}

function firstStory(text: string, list: JsonArray, values: Values): string {
  const [, ending, indent = ""] = /(\r\n|\n|\r)([ \t]*)[^\r\n]*$/.exec(text.slice(0, list.start)) ?? [];
  if (ending === undefined)
    return `{${values.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
  const step = indent === "" ? "  " : indent;
  const outer = `${ending}${indent}${step}`;
  const members = values.map(([key, json]) => `${outer}${step}${JSON.stringify(key)}: ${json}`);
  return `${outer}{${members.join(",")}${outer}}${ending}${indent}`;
}

interface BegunList extends AddedTask {
  /** False where the file was there, without a task. */
  readonly isNew: boolean;
}

export function beginList(root: string, words: string): BegunList {
  const title = titleOf(words);
  if (lstatSync(join(root, PATH), { throwIfNoEntry: false }) !== undefined)
    return { ...addTask({ root }, { kind: "checklist", label: PATH, path: PATH }, title), isNew: false };
  const list = addBox(Buffer.from("# Tasks\n\n"), title);
  new TaskFile({ root, path: PATH }).replaceWith(list);
  return { id: scanChecklist(list)[0]?.task.id ?? "", path: PATH, isNew: true };
}

const PATH = "TODO.md";

/** The next free number in the manner of the ids that are there: `US-004`, `task-012`. */
function nextId(ids: readonly TaskId[], usual: string): TaskId {
  const numbered = ids.flatMap((id) => {
    const [, prefix, digits] = /^(.*?)(\d{1,9})$/.exec(id) ?? [];
    return prefix === undefined || digits === undefined ? [] : [{ prefix, digits }];
  });
  const prefixes = new Set(numbered.map(({ prefix }) => prefix));
  const [only] = prefixes.size === 1 ? prefixes : [];
  const prefix = only ?? usual;
  const digits = numbered.filter((one) => one.prefix === prefix).map((one) => one.digits);
  const width = digits.length === 0 ? 3 : Math.max(...digits.map((text) => text.length));
  const number = Math.max(0, ...digits.map(Number)) + 1;
  return `${prefix}${String(number).padStart(width, "0")}`;
}
