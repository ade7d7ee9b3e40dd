import { parse, TomlError } from "smol-toml";
import type { AST } from "toml-eslint-parser";
import type { Notation } from "./schema-node.ts";

export interface ConfigText {
  readonly notation: Notation;
  readonly value: unknown;
  /** Of every key. Found only when somebody asks: parsers that know lines are slow to load. */
  readonly places: () => Promise<readonly Place[]>;
}

export interface Place {
  readonly path: readonly string[];
  readonly line: number;
}

/** The text is not what its ending says. */
export class BadSyntax extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** The line of a key, or of the nearest section around it. */
export function lineOfPath(places: readonly Place[], path: readonly PropertyKey[]): number {
  const wanted = path.map(String);
  let best = { depth: 0, line: 1 };
  for (const place of places) {
    const leadsThere = place.path.every((step, index) => step === wanted[index]);
    if (leadsThere && place.path.length > best.depth) best = { depth: place.path.length, line: place.line };
  }
  return best.line;
}

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

export function readToml(text: string): ConfigText {
  return { notation: "toml", value: parseToml(text), places: () => tomlPlaces(text) };
}

function parseToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = (error.message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "");
    const written = text.split("\n")[error.line - 1] ?? "";
    throw new BadSyntax(error.line, `not valid TOML: ${what}${advice(what, written)}`);
  }
}

/** Frequent mistakes, in words that say what to type. */
function advice(what: string, line: string): string {
  const bare = /^\s*([\w.-]+)\s*=\s*([^\s"'[{#][^"'#]*?)\s*(?:#.*)?$/.exec(line);
  const key = /^[^=]*/.exec(line)?.[0].trim() ?? "";
  if (bare !== null && what === "invalid value") {
    // What may be a secret is not repeated.
    const value = /KEY|TOKEN|SECRET|PASS/i.test(key) ? "…" : bare[2];
    return `; a text needs quotes: ${key} = "${value}"`;
  }
  if (/=\s*(?:#.*)?$/.test(line)) return '; a value is missing after "="';
  if (/^\s*\[[^\]]*$/.test(line)) return `; a "]" is missing: ${line.trim()}]`;
  if (/string|control char/.test(what)) return "; is a closing quote missing?";
  if (what.startsWith("trying to redefine")) return `; "${key}" was there before`;
  return "";
}

async function tomlPlaces(text: string): Promise<readonly Place[]> {
  const { parseTOML } = await import("toml-eslint-parser");
  return [...places(parseTOML(text).body[0])];
}

function* places(top: AST.TOMLTopLevelTable): Generator<Place> {
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") {
      yield* keyValue(node, []);
      continue;
    }
    const path = node.resolvedKey.map(String);
    yield { path, line: node.loc.start.line };
    for (const entry of node.body) yield* keyValue(entry, path);
  }
}

function* keyValue(node: AST.TOMLKeyValue, prefix: readonly string[]): Generator<Place> {
  const path = [...prefix, ...node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value))];
  yield { path, line: node.loc.start.line };
  yield* inside(node.value, path);
}

function* inside(node: AST.TOMLContentNode, path: readonly string[]): Generator<Place> {
  if (node.type === "TOMLInlineTable") {
    for (const entry of node.body) yield* keyValue(entry, path);
  }
  if (node.type !== "TOMLArray") return;
  for (const [index, element] of node.elements.entries()) {
    yield { path: [...path, String(index)], line: element.loc.start.line };
    yield* inside(element, [...path, String(index)]);
  }
}
