/** A JSON value and where it stands, from `start` up to but not including `end`. */
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

/**
 * Reads JSON; accepts exactly what `JSON.parse` does, and a byte order mark in latin1. Of a text that has a character for each
 * byte, `decode` gives the real characters of a string.
 */
export function parseJsonTree(text: string, decode: (raw: string) => string = (raw) => raw): JsonNode {
  const reader = new Reader(text, text.startsWith("\xEF\xBB\xBF") ? 3 : 0, decode);
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

class Reader {
  readonly #text: string;
  readonly #decode: (raw: string) => string;
  #at: number;

  constructor(text: string, at: number, decode: (raw: string) => string) {
    this.#text = text;
    this.#at = at;
    this.#decode = decode;
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
    const plain = /[ !#-[\]-\uffff]*/y;
    for (this.#at += 1; ;) {
      plain.lastIndex = this.#at;
      this.#at += plain.exec(this.#text)?.[0].length ?? 0;
      if (this.#text[this.#at] === '"') break;
      const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
      escape.lastIndex = this.#at;
      const length = escape.exec(this.#text)?.[0].length;
      const isEscape = this.#text[this.#at] === "\\";
      const wanted = isEscape
        ? 'an escape such as \\n, \\" or \\u00e9'
        : "the end of the text, a double quote";
      if (length === undefined) throw new JsonError(wanted, this.#at);
      this.#at += length;
    }
    this.#at += 1;
    const value = JSON.parse(this.#decode(this.#text.slice(start, this.#at))) as string;
    return { is: "scalar", start, end: this.#at, value };
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
