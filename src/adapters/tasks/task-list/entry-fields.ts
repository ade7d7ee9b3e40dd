import { isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";
import { statementsIn } from "../statements.ts";
import { offsetOf, type Entry, type TaskList } from "./read-list.ts";

/** Reads the keys of one task, however their words are joined: `depends_on`, `dependsOn`, `depends-on`. */
export class EntryFields {
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
export function pairOf(map: YAMLMap, names: readonly string[]): Pair | null {
  for (const name of names) {
    const pair = map.items.findLast(({ key, value }) => plain(key) === name && !isNothing(value));
    if (pair !== undefined) return pair;
  }
  return null;
}

/** A key in lower case, without what joins its words. */
export function plain(key: unknown): string {
  return (scalarText(key) ?? "").toLowerCase().replaceAll(/[_\s-]/g, "");
}

export function scalarText(node: unknown): string | null {
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
