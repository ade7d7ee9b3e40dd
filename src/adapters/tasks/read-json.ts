import type { RalphError } from "../../core/ralph-error.ts";

/** A JSON value and where its bytes are, from `start` up to but not including `end`. */
export type JsonNode = JsonObject | JsonArray | JsonScalar;

export interface JsonObject {
  readonly is: "object";
  readonly start: number;
  readonly end: number;
  readonly members: readonly JsonMember[];
}

interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
}

export interface JsonArray {
  readonly is: "array";
  readonly start: number;
  readonly end: number;
  readonly items: readonly JsonNode[];
}

interface JsonScalar {
  readonly is: "scalar";
  readonly start: number;
  readonly end: number;
  readonly value: string | number | boolean | null;
}

/** What keeps a text from being JSON. */
export class JsonError extends Error {
  readonly offset: number;

  constructor(expected: string, offset: number) {
    super(`expected ${expected}`);
    this.name = "JsonError";
    this.offset = offset;
  }
}

/** Reads JSON from bytes, a byte order mark allowed. Accepts exactly what `JSON.parse` does. */
export function readJson(file: Buffer): JsonNode {
  const text = file.toString("latin1");
  const reader = new Reader(text, text.startsWith("\xEF\xBB\xBF") ? 3 : 0);
  const node = reader.value(0);
  reader.expectEnd();
  return node;
}

/** The member that counts: of several with the same key, the last. */
export function memberOf(node: JsonObject, key: string): JsonMember | null {
  return node.members.findLast((member) => member.key === key) ?? null;
}

/** So deep a file is damaged, or meant to do damage. */
const DEPTH_MAX = 1_000;

/** One pass over bytes taken as characters, one each. */
class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  value(depth: number): JsonNode {
    this.#skipSpace();
    if (depth > DEPTH_MAX) throw new JsonError(`at most ${DEPTH_MAX} levels`, this.#at);
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new JsonError("the end of the file", this.#at);
  }

  #object(depth: number): JsonObject {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#at += 1;
    if (this.#take("}")) return { is: "object", start, end: this.#at, members };
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') {
        throw new JsonError(
          members.length === 0 ? 'a key in double quotes or "}"' : "a key in double quotes",
          this.#at,
        );
      }
      const key = this.#string();
      if (!this.#take(":")) throw new JsonError('":"', this.#at);
      const value = this.value(depth + 1);
      members.push({ key: String(key.value), keyStart: key.start, keyEnd: key.end, value });
    } while (this.#take(","));
    if (!this.#take("}")) throw new JsonError('"," or "}"', this.#at);
    return { is: "object", start, end: this.#at, members };
  }

  #array(depth: number): JsonArray {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#at += 1;
    if (this.#take("]")) return { is: "array", start, end: this.#at, items };
    do items.push(this.value(depth + 1));
    while (this.#take(","));
    if (!this.#take("]")) throw new JsonError('"," or "]"', this.#at);
    return { is: "array", start, end: this.#at, items };
  }

  #string(): JsonScalar {
    const start = this.#at;
    // Everything but the quote, the backslash and control characters.
    const plain = /[ !#-[\]-\xff]*/y;
    for (this.#at += 1; ;) {
      plain.lastIndex = this.#at;
      this.#at += plain.exec(this.#text)?.[0].length ?? 0;
      if (this.#text[this.#at] === '"') break;
      const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
      escape.lastIndex = this.#at;
      const length = escape.exec(this.#text)?.[0].length;
      if (length === undefined) throw new JsonError(this.#wantedInString(), this.#at);
      this.#at += length;
    }
    this.#at += 1;
    const bytes = Buffer.from(this.#text.slice(start, this.#at), "latin1");
    return { is: "scalar", start, end: this.#at, value: JSON.parse(bytes.toString("utf8")) as string };
  }

  #wantedInString(): string {
    if (this.#text[this.#at] === "\\") return 'an escape such as \\n, \\" or \\u00e9';
    return "the end of the text, a double quote";
  }

  #word(): JsonScalar {
    const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0];
    if (found === undefined) throw new JsonError("a value", this.#at);
    const start = this.#at;
    this.#at += found.length;
    return { is: "scalar", start, end: this.#at, value: JSON.parse(found) as number | boolean | null };
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    const space = /[ \t\r\n]*/y;
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#text)?.[0].length ?? 0;
  }
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
