import { BadSyntax, type ConfigText, type Place } from "./config-text.ts";

/** Walks through the text itself, for the lines: `JSON.parse` does not tell them, not even of every mistake. */
export function readJson(text: string): ConfigText {
  const scanner = new Scanner(text);
  scanner.value([]);
  scanner.end();
  return { notation: "json", value: JSON.parse(text), places: async () => scanner.places };
}

const STRING = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
const SPACE = /[ \t\r\n]*/y;

/** No configuration is nested so deep; hostile ones would exhaust the stack. */
const DEPTH_MAX = 100;

class Scanner {
  readonly places: Place[] = [];
  readonly #text: string;
  #at = 0;
  /** Up to where lines are counted: asked for every key, and never for an earlier one. */
  #counted = { at: 0, line: 1 };

  constructor(text: string) {
    this.#text = text;
  }

  value(path: readonly string[]): void {
    this.#take(SPACE);
    if (path.length > DEPTH_MAX)
      throw new BadSyntax(this.#line(), `not valid here: more than ${DEPTH_MAX} levels deep`);
    if (this.#skip("{")) this.#object(path);
    else if (this.#skip("[")) this.#list(path);
    else if (this.#take(STRING) === null && this.#take(SCALAR) === null) throw this.#unexpected("a value");
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the file");
  }

  #object(path: readonly string[]): void {
    this.#take(SPACE);
    if (this.#skip("}")) return;
    const names = new Set<string>();
    do {
      this.#take(SPACE);
      const line = this.#line();
      const quoted = this.#take(STRING);
      if (quoted === null) throw this.#unexpected('a key in quotes, such as "agent"');
      const name = JSON.parse(quoted) as string;
      if (names.has(name)) throw new BadSyntax(line, `not valid JSON: ${quoted} is there twice`);
      names.add(name);
      this.places.push({ path: [...path, name], line });
      this.#take(SPACE);
      if (!this.#skip(":")) throw this.#unexpected(`":" after ${quoted}`);
      this.value([...path, name]);
      this.#take(SPACE);
    } while (this.#skip(","));
    if (!this.#skip("}")) throw this.#unexpected('"," or "}"');
  }

  #list(path: readonly string[]): void {
    this.#take(SPACE);
    if (this.#skip("]")) return;
    let index = 0;
    do {
      this.#take(SPACE);
      this.places.push({ path: [...path, String(index)], line: this.#line() });
      this.value([...path, String(index)]);
      this.#take(SPACE);
      index += 1;
    } while (this.#skip(","));
    if (!this.#skip("]")) throw this.#unexpected('"," or "]"');
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  #skip(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #line(): number {
    let { at, line } = this.#counted;
    for (; at < this.#at; at += 1) if (this.#text[at] === "\n") line += 1;
    this.#counted = { at, line };
    return line;
  }

  #unexpected(wanted: string): BadSyntax {
    const rest = this.#text.slice(this.#at);
    const got = rest === "" ? "the end of the file" : `\`${/^\w{1,20}/.exec(rest)?.[0] ?? rest[0]}\``;
    return new BadSyntax(this.#line(), `not valid JSON: expected ${wanted}, got ${got}`);
  }
}
