import { parse, TomlError } from "smol-toml";
import type { AST } from "toml-eslint-parser";
import { JsonError, type JsonNode, parseJsonTree } from "../core/json.ts";
import type { Notation } from "./explain-issues.ts";

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

/** `JSON.parse` tells no lines, not even of every mistake. */
export function readJson(text: string): ConfigText {
  try {
    const found = [...jsonPlaces(parseJsonTree(text), [], lineCounter(text))];
    return { notation: "json", value: JSON.parse(text), places: async () => found };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const rest = text.slice(error.offset);
    const got = rest === "" ? "the end of the file" : `\`${/^\w{1,20}/.exec(rest)?.[0] ?? rest[0]}\``;
    throw new BadSyntax(lineCounter(text)(error.offset), `not valid JSON: ${error.message}, got ${got}`);
  }
}

/** To be asked for ascending offsets. */
function lineCounter(text: string): (offset: number) => number {
  let at = 0;
  let line = 1;
  return (offset) => {
    for (; at < offset; at += 1) if (text[at] === "\n") line += 1;
    return line;
  };
}

/** No configuration is nested so deep; of hostile ones the paths would exhaust the memory. */
const DEPTH_MAX = 100;

function* jsonPlaces(
  node: JsonNode,
  path: readonly string[],
  lineAt: (offset: number) => number,
): Generator<Place> {
  if (path.length > DEPTH_MAX)
    throw new BadSyntax(lineAt(node.start), `not valid here: more than ${DEPTH_MAX} levels deep`);
  const names = new Set<string>();
  for (const [name, start, value] of partsOf(node)) {
    const line = lineAt(start);
    if (names.has(name)) throw new BadSyntax(line, `not valid JSON: ${JSON.stringify(name)} is there twice`);
    names.add(name);
    yield { path: [...path, name], line };
    yield* jsonPlaces(value, [...path, name], lineAt);
  }
}

function partsOf(node: JsonNode): readonly (readonly [name: string, start: number, value: JsonNode])[] {
  if (node.is === "scalar") return [];
  return node.is === "array"
    ? node.items.map((item, index) => [String(index), item.start, item])
    : node.members.map(({ key, keyStart, value }) => [key, keyStart, value]);
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
