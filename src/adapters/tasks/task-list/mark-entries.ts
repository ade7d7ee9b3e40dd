import { isMap, isScalar, type Pair, type YAMLMap } from "yaml";
import { RalphError } from "../../../core/ralph-error.ts";
import type { Marked, Marking } from "../task-format.ts";
import { plain, scalarText } from "./entry-fields.ts";
import { DONE_KEYS, entryState, STATUS_KEYS, statusWord } from "./entry-mark.ts";
import { entryIds } from "./list-tasks.ts";
import { offsetOf, readList, type Entry, type TaskList } from "./read-list.ts";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The file with the marks of the wanted tasks as they should be. What the edit would spoil is refused. */
export function markEntries(file: Buffer, path: string, { isDone, isWanted, before }: Marking): Marked {
  const list = readList(file, path);
  const ids = entryIds(list);
  const wanted = list.entries.flatMap((entry, at) => {
    const id = ids[at] ?? "";
    return isWanted(id) && entryState(entry.map).isDone !== isDone ? [{ entry, id }] : [];
  });
  if (wanted.length === 0) return { file, changed: [] };
  const words = openWords(before, path);
  const manner = mannerOf(list);
  const edits = wanted.flatMap(({ entry, id }) => markEdits(list, manner, entry, isDone, words.get(id)));
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

function markEdits(
  list: TaskList,
  manner: Manner,
  entry: Entry,
  isDone: boolean,
  earlier: string | undefined,
): readonly Edit[] {
  const word = isDone
    ? (manner.doneWord ?? usualDoneWord(entry.map))
    : (earlier ?? manner.openWord ?? "pending");
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

/** What the tasks had as their status before somebody marked them. */
function openWords(before: Buffer | null, path: string): ReadonlyMap<string, string> {
  if (before === null) return new Map();
  const list = readList(before, path);
  const ids = entryIds(list);
  const open = list.entries.flatMap(({ map }, at) =>
    entryState(map).isDone || statusWord(map) === "" ? [] : [[ids[at] ?? "", statusWord(map)] as const],
  );
  return new Map(open);
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
