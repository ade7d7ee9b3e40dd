import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { RalphError } from "../../../core/ralph-error.ts";
import { createMemo, sameBytes } from "../memo.ts";

/** A list of tasks in YAML, or in JSON, which is YAML too. */
export interface TaskList {
  readonly text: string;
  readonly entries: readonly Entry[];
  /** An error about what stands at an offset of the text. */
  readonly bad: (offset: number, problem: string) => RalphError;
  readonly lineAt: (offset: number) => number;
}

/** One task as the file has it. */
export interface Entry {
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

export function offsetOf(node: unknown): number | null {
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
