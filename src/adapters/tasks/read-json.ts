import { type JsonNode, type JsonObject, memberOf, parseJsonTree } from "../../core/json.ts";
import type { RalphError } from "../../core/ralph-error.ts";

export { type JsonArray, JsonError, type JsonNode, type JsonObject, memberOf } from "../../core/json.ts";

/** Reads JSON from bytes. The tree says which bytes a value has. */
export function readJson(file: Buffer): JsonNode {
  return parseJsonTree(file.toString("latin1"), (raw) => Buffer.from(raw, "latin1").toString("utf8"));
}

/** Makes an error of what is wrong at a byte of the file. */
export type Complain = (at: number, problem: string) => RalphError;

/** Reads members by key; null counts as not being there. */
export class MemberFields {
  readonly #node: JsonObject;
  readonly #where: string;
  readonly #bad: Complain;

  constructor(node: JsonObject, where: string, bad: Complain) {
    this.#node = node;
    this.#where = where;
    this.#bad = bad;
  }

  text(key: string): string {
    return this.#scalar(key, "string", "a text") ?? "";
  }

  number(key: string): number | null {
    return this.#scalar(key, "number", "a number");
  }

  yes(key: string): boolean {
    return this.#scalar(key, "boolean", "true or false") ?? false;
  }

  oneOf(key: string, texts: readonly string[]): void {
    const node = this.#get(key);
    const isOne = node === null || (node.is === "scalar" && texts.some((text) => text === node.value));
    if (!isOne)
      throw this.#wrong(key, node, `null or ${texts.length > 1 ? "one of " : ""}${texts.join(", ")}`);
  }

  count(key: string): void {
    const node = this.#get(key);
    const isCount =
      node === null || (node.is === "scalar" && Number.isSafeInteger(node.value) && Number(node.value) >= 0);
    if (!isCount) throw this.#wrong(key, node, "a whole number from 0");
  }

  texts(key: string): readonly string[] {
    const node = this.#get(key);
    if (node === null) return [];
    if (node.is !== "array") throw this.#wrong(key, node, "a list of texts");
    return node.items.map((item) => {
      if (item.is === "scalar" && typeof item.value === "string") return item.value;
      throw this.#wrong(key, item, "a list of texts");
    });
  }

  #scalar(key: string, type: "string", wants: string): string | null;
  #scalar(key: string, type: "number", wants: string): number | null;
  #scalar(key: string, type: "boolean", wants: string): boolean | null;
  #scalar(key: string, type: string, wants: string): string | number | boolean | null {
    const node = this.#get(key);
    if (node === null) return null;
    if (node.is === "scalar" && typeof node.value === type) return node.value;
    throw this.#wrong(key, node, wants);
  }

  #get(key: string): JsonNode | null {
    const value = memberOf(this.#node, key)?.value ?? null;
    return value?.is === "scalar" && value.value === null ? null : value;
  }

  #wrong(key: string, node: JsonNode, wants: string): RalphError {
    return this.#bad(node.start, `${this.#where}"${key}" must be ${wants}`);
  }
}

/** Says line and column of a byte in the file, from one, as editors count them. */
export function createPositions(
  file: Buffer,
): (offset: number) => { readonly line: number; readonly column: number } {
  const starts = lineStarts(file);
  return (offset) => {
    const line = countUpTo(starts, offset);
    const before = file.subarray(starts[line - 1], offset).toString("utf8");
    return { line, column: Array.from(before).length + 1 };
  };
}

function lineStarts(file: Buffer): readonly number[] {
  const text = file.toString("latin1");
  const starts = [text.startsWith("\xEF\xBB\xBF") ? 3 : 0];
  for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + ending.length);
  return starts;
}

/** How many of the ascending numbers are at most so large. */
function countUpTo(numbers: readonly number[], largest: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) <= largest) low = middle + 1;
    else high = middle;
  }
  return low;
}
