import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { plainTask, type Task } from "../../../core/plan/task.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import { type ListedTask, readPriority, statementsIn, withoutSetAside } from "../listed-task.ts";
import { propertyFields, type PropertyKey } from "../roadmap-source.ts";
import { assignIds } from "../scan-checklist.ts";
import {
  checkedTasks,
  createMemo,
  type Marked,
  type Marking,
  NO_DEMANDS,
  sameBytes,
  type TaskFormat,
} from "../task-format.ts";
import type { Edit } from "../tasks-json-source.ts";

/** The file with the marks of the wanted tasks as they should be. What the edit would spoil is refused. */
function markEntries(file: Buffer, path: string, { isDone, isWanted }: Marking): Marked {
  const list = readList(file, path);
  const ids = entryIds(list);
  const wanted = list.entries.flatMap((entry, at) => {
    const id = ids[at] ?? "";
    return isWanted(id) && entryState(entry.map).isDone !== isDone ? [{ entry, id }] : [];
  });
  if (wanted.length === 0) return { file, changed: [] };
  const manner = mannerOf(list);
  const edits = wanted.flatMap(({ entry }) => markEdits(list, manner, entry, isDone));
  const text = withEdits(list.text, edits);
  const changed = wanted.map(({ id }) => id);
  const marked = Buffer.from(text);
  requireOnlyMarks(list, readAgain(marked, path, wanted[0]?.entry), new Set(changed), isDone, path);
  return { file: marked, changed };
}

/** In one go: a long list has many edits. */
function withEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: put } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), put);
    at = end;
  }
  return `${parts.join("")}${text.slice(at)}`;
}

/** How the tasks of the file say where they stand, looked up once for all marks. */
interface Manner {
  readonly doneWord: string | undefined;
  readonly openWord: string | undefined;
  /** The first key that is a mark. */
  readonly key: unknown;
}

function mannerOf({ entries }: TaskList): Manner {
  const said = entries.flatMap(({ map }) => {
    const word = statusWord(map);
    return word === "" ? [] : [{ word, ...entryState(map) }];
  });
  return {
    doneWord: said.find(({ isDone }) => isDone)?.word,
    openWord: said.find(({ isDone, setAside }) => !isDone && setAside === null)?.word,
    key: entries
      .flatMap(({ map }) => map.items)
      .map((pair) => pair.key)
      .find((one) => [...DONE_KEYS, ...STATUS_KEYS].includes(plain(one))),
  };
}

function markEdits(list: TaskList, manner: Manner, entry: Entry, isDone: boolean): readonly Edit[] {
  const word = isDone ? (manner.doneWord ?? usualDoneWord(entry.map)) : (manner.openWord ?? "pending");
  const edits = [
    ...pairsOf(entry.map, DONE_KEYS).map((pair) => valueEdit(list, pair, String(isDone))),
    ...pairsOf(entry.map, STATUS_KEYS).map((pair) => valueEdit(list, pair, word)),
  ];
  return edits.length > 0 ? edits : [newMark(list, manner, entry)];
}

/** Also those that have no value yet. */
function pairsOf(map: YAMLMap, keys: readonly string[]): readonly Pair[] {
  return map.items.filter(
    ({ key, value }) => keys.includes(plain(key)) && (value === null || isScalar(value)),
  );
}

/** Quotes stay: in JSON a word needs them. */
function valueEdit({ text }: TaskList, { key, value }: Pair, word: string): Edit {
  const [start = 0, end = 0] = (isScalar(value) ? value.range : null) ?? [];
  if (start === end) {
    const colon = text.indexOf(":", isScalar(key) ? key.range?.[1] : 0) + 1;
    return { start: colon, end: colon, text: ` ${word}` };
  }
  const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? "";
  return { start, end, text: `${quote}${word}${quote}` };
}

function usualDoneWord(map: YAMLMap): string {
  return /^open$/i.test(statusWord(map)) ? "closed" : "done";
}

/** In front of the first key, where it always has its place, whatever the task says after it. */
function newMark({ text }: TaskList, { key }: Manner, { map }: Entry): Edit {
  const isStatus = key !== undefined && STATUS_KEYS.includes(plain(key));
  const start = offsetOf(map.items[0]?.key) ?? offsetOf(map) ?? 0;
  const isJson = text[start] === '"' && map.flow === true;
  const quote = isJson ? '"' : "";
  const word = isStatus ? `${quote}done${quote}` : "true";
  const pair = `${quote}${scalarText(key) ?? "completed"}${quote}: ${word}`;
  return { start, end: start, text: `${pair}${map.flow === true ? ", " : nextLine(text, start)}` };
}

function nextLine(text: string, at: number): string {
  const ending = /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
  const lineStart = Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1;
  return `${ending}${" ".repeat(text.slice(lineStart, at).replace("\uFEFF", "").length)}`;
}

function readAgain(file: Buffer, path: string, entry: Entry | undefined): TaskList {
  try {
    return readList(file, path);
  } catch (error) {
    throw cannotMark(path, entry, error);
  }
}

/** A file can be written in ways that we did not think of; better no mark than a wrong one. */
function requireOnlyMarks(
  was: TaskList,
  is: TaskList,
  changed: ReadonlySet<string>,
  isDone: boolean,
  path: string,
): void {
  const ids = entryIds(was);
  const idsNow = entryIds(is);
  for (const [at, entry] of was.entries.entries()) {
    const now = is.entries[at];
    const id = ids[at] ?? "";
    const should = changed.has(id) ? isDone : entryState(entry.map).isDone;
    const isSame =
      now !== undefined &&
      idsNow[at] === id &&
      entryState(now.map).isDone === should &&
      withoutMarks(now.map) === withoutMarks(entry.map);
    if (!isSame) throw cannotMark(path, entry);
  }
}

function cannotMark(path: string, entry: Entry | undefined, cause?: unknown): RalphError {
  return new RalphError(
    "bad-tasks",
    `${path}:${entry?.line ?? 1}: this task is written in a way that cannot be marked without changing more`,
    { hint: 'give it a line of its own that says "completed: false"', cause },
  );
}

function withoutMarks(map: YAMLMap): string {
  const marks = [...DONE_KEYS, ...STATUS_KEYS];
  const rest = map.items.filter(({ key }) => !marks.includes(plain(key)));
  return rest.map(({ key, value }) => `${shape(key)}:${shape(value)}`).join(",");
}

function shape(node: unknown): string {
  if (isMap(node))
    return `{${node.items.map(({ key, value }) => `${shape(key)}:${shape(value)}`).join(",")}}`;
  if (isScalar(node)) return JSON.stringify(node.value) ?? "";
  const items = (node as { readonly items?: readonly unknown[] } | null)?.items;
  return items === undefined ? "" : `[${items.map(shape).join(",")}]`;
}

export const TASK_LIST_READER: Pick<TaskFormat, "read" | "mark"> = {
  read: (file, path) => {
    const tasks = listTasks(file, path);
    // What cannot be marked is better known before somebody has worked on it.
    markEntries(file, path, { isDone: true, isWanted: () => true });
    return { tasks, demands: NO_DEMANDS };
  },
  mark: markEntries,
};

/** The tasks of the file that are to be worked on, or are done. */
function listTasks(file: Buffer, path: string): readonly Task[] {
  return checkedTasks(withoutSetAside(listedTasks(readList(file, path), path)), path);
}

/** All tasks in the order of the file; those without an id get one from their title. */
function listedTasks(list: TaskList, path: string): readonly ListedTask[] {
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
function entryIds(list: TaskList): readonly string[] {
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
const OWN: readonly PropertyKey[] = ["ralph", "max_iterations", "completion_promise", "timeout", "changes"];

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

/** Reads the keys of one task, however their words are joined: `depends_on`, `dependsOn`, `depends-on`. */
class EntryFields {
  readonly #entry: Entry;
  readonly #list: TaskList;

  constructor(entry: Entry, list: TaskList) {
    this.#entry = entry;
    this.#list = list;
  }

  /** The first of these keys that has a value. */
  pair(...names: readonly string[]): Pair | null {
    return pairOf(this.#entry.map, names);
  }

  /** A text, or a number as text; empty when there is none. */
  text(...names: readonly string[]): string {
    const pair = this.pair(...names);
    if (pair === null) return "";
    const value = scalarText(pair.value);
    if (value === null) throw this.wrong(pair, "a text");
    return value.trim();
  }

  /** Texts in a list, or in one text a line each. */
  texts(...names: readonly string[]): readonly string[] {
    const pair = this.pair(...names);
    if (pair === null) return [];
    const one = scalarText(pair.value);
    if (one !== null) return statementsIn(one);
    const items = isSeq(pair.value) ? pair.value.items.map(itemText) : [null];
    if (items.includes(null)) throw this.wrong(pair, "a list of texts");
    return items.filter((text): text is string => text !== null && text !== "");
  }

  /** Ids in a list, or in one text with commas. */
  ids(...names: readonly string[]): readonly string[] {
    const pair = this.pair(...names);
    if (pair === null) return [];
    const items = isSeq(pair.value)
      ? pair.value.items.map(scalarText)
      : (scalarText(pair.value)?.split(",") ?? [null]);
    if (items.includes(null)) throw this.wrong(pair, "a list of ids");
    const ids = items.map((id) => id?.trim() ?? "").filter((id) => id !== "");
    return [...new Set(ids)];
  }

  wrong(pair: Pair, wanted: string): Error {
    const key = scalarText(pair.key) ?? "";
    const at = offsetOf(pair.value) ?? offsetOf(pair.key) ?? 0;
    return this.#list.bad(at, `"${key}" must be ${wanted}`);
  }

  lineOf(pair: Pair): number {
    return this.#list.lineAt(offsetOf(pair.key) ?? 0);
  }
}

/** The last pair with one of these keys, the first name first; one without a value does not count. */
function pairOf(map: YAMLMap, names: readonly string[]): Pair | null {
  for (const name of names) {
    const pair = map.items.findLast(({ key, value }) => plain(key) === name && !isNothing(value));
    if (pair !== undefined) return pair;
  }
  return null;
}

/** A key in lower case, without what joins its words. */
function plain(key: unknown): string {
  return (scalarText(key) ?? "").toLowerCase().replaceAll(/[_\s-]/g, "");
}

function scalarText(node: unknown): string | null {
  if (!isScalar(node)) return null;
  const { value } = node;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : null;
}

function isNothing(value: unknown): boolean {
  return value === null || isAlias(value) || (isScalar(value) && value.value === null);
}

/** An item may be a text, or have one under the usual names. */
function itemText(node: unknown): string | null {
  const named = isMap(node) ? pairOf(node, ["title", "text", "description", "criterion"])?.value : node;
  return scalarText(named)?.trim() ?? null;
}

/** Keys whose value says in a word how far a task is, and keys that say whether it is done. */
const STATUS_KEYS = ["status", "state"];
const DONE_KEYS = ["completed", "done", "passes", "complete"];

const DONE_WORDS = ["done", "completed", "complete", "closed", "finished", "passed"];
const GONE_WORDS = ["cancelled", "canceled", "skipped", "wontfix", "obsolete"];
const LATER_WORDS = ["deferred", "postponed", "onhold"];

function entryState(map: YAMLMap): {
  readonly isDone: boolean;
  readonly setAside: "gone" | "later" | null;
} {
  const word = statusWord(map)
    .toLowerCase()
    .replaceAll(/[\s_-]/g, "");
  const isTicked = DONE_KEYS.some((key) =>
    /^(true|yes|on)$/i.test(scalarText(pairOf(map, [key])?.value) ?? ""),
  );
  const setAside = GONE_WORDS.includes(word) ? "gone" : LATER_WORDS.includes(word) ? "later" : null;
  return { isDone: isTicked || DONE_WORDS.includes(word), setAside };
}

/** As it is written; empty without one. */
function statusWord(map: YAMLMap): string {
  return scalarText(pairOf(map, STATUS_KEYS)?.value)?.trim() ?? "";
}

/** A list of tasks in YAML, or in JSON, which is YAML too. */
interface TaskList {
  readonly text: string;
  readonly entries: readonly Entry[];
  /** An error about what stands at an offset of the text. */
  readonly bad: (offset: number, problem: string) => RalphError;
  readonly lineAt: (offset: number) => number;
}

interface Entry {
  readonly map: YAMLMap;
  readonly line: number;
}

/** Reads `tasks:`, at the top or below a name as Taskmaster has it. */
export function readList(file: Buffer, path: string): TaskList {
  return lastList({ file, path });
}

/** An iteration asks for the same file many times, and the parser takes its time. */
const lastList = createMemo(
  ({ file, path }: { readonly file: Buffer; readonly path: string }) => parsedList(file, path),
  (a, b) => a.path === b.path && sameBytes(a.file, b.file),
);

function parsedList(file: Buffer, path: string): TaskList {
  const text = file.toString("utf8");
  if (!Buffer.from(text).equals(file))
    throw new RalphError("bad-tasks", `${path}: this is not UTF-8, so it cannot be marked without damage`, {
      hint: "save it as UTF-8",
    });
  const counter = new LineCounter();
  const bad = (offset: number, problem: string): RalphError => {
    const { line, col } = counter.linePos(offset);
    return new RalphError("bad-tasks", `${path}:${line}:${col}: ${problem}`);
  };
  const list = listIn(parsed(text, counter, bad), bad);
  const entries = list.items.map((map, at) => {
    const offset = offsetOf(map) ?? offsetOf(list) ?? 0;
    if (!isMap(map)) throw bad(offset, `tasks[${at}] must have keys, at least "title"`);
    return { map, line: counter.linePos(offset).line };
  });
  return { text, entries, bad, lineAt: (offset) => counter.linePos(offset).line };
}

function offsetOf(node: unknown): number | null {
  const range = (node as { readonly range?: readonly number[] | null } | null)?.range;
  return range?.[0] ?? null;
}

function parsed(text: string, lineCounter: LineCounter, bad: TaskList["bad"]): unknown {
  try {
    const document = parseDocument(text, { uniqueKeys: false, lineCounter, prettyErrors: false });
    const problem = document.errors[0];
    if (problem !== undefined) throw bad(problem.pos[0], `this is not YAML; ${problem.message}`);
    return document.contents;
  } catch (error) {
    if (error instanceof RangeError) throw bad(0, "this is nested too deep to be a list of tasks");
    throw error;
  }
}

function listIn(top: unknown, bad: TaskList["bad"]): YAMLSeq {
  const own = tasksOf(top);
  if (own !== null) return own;
  const named = (isMap(top) ? top.items : []).flatMap(({ key, value }) => {
    const list = tasksOf(value);
    return list === null || !isScalar(key) ? [] : [{ name: String(key.value), list }];
  });
  const chosen = named.find(({ name }) => name === "master") ?? (named.length === 1 ? named[0] : undefined);
  if (chosen !== undefined) return chosen.list;
  const names = named.map(({ name }) => name).join(", ");
  throw bad(
    offsetOf(top) ?? 0,
    names === ""
      ? 'expected a list of tasks below "tasks"'
      : `there are several lists (${names}), none of them "master"`,
  );
}

function tasksOf(node: unknown): YAMLSeq | null {
  const list: unknown = isMap(node) ? node.get("tasks", true) : undefined;
  return isSeq(list) ? list : null;
}
