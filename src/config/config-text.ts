import { parse, TomlError } from "smol-toml";
import type { AST } from "toml-eslint-parser";
import { JsonError, type JsonNode, parseJsonTree } from "../core/json.ts";
import type { Notation } from "./explain-issues.ts";

export interface ConfigText {
  readonly notation: Notation;
  readonly value: unknown;
  /** Of every key. Found only when somebody asks: a parser that knows lines is slow to load. */
  readonly lines: () => Promise<Lines>;
}

/** The line of a key, and of those below it. */
export interface Lines {
  line: number;
  readonly below: Map<string, Lines>;
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
export function lineOf(lines: Lines, path: readonly PropertyKey[]): number {
  const [step, ...rest] = path;
  const next = step === undefined ? undefined : lines.below.get(String(step));
  return next === undefined ? lines.line : lineOf(next, rest);
}

/** `JSON.parse` tells no lines, not even of every mistake. */
export function readJson(text: string): ConfigText {
  try {
    const lines = jsonLines(parseJsonTree(text), 1, lineCounter(text));
    return { notation: "json", value: JSON.parse(text), lines: async () => lines };
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

function jsonLines(node: JsonNode, line: number, lineAt: (offset: number) => number): Lines {
  const below = new Map<string, Lines>();
  if (node.is === "array")
    for (const [index, item] of node.items.entries())
      below.set(String(index), jsonLines(item, lineAt(item.start), lineAt));
  if (node.is === "object")
    for (const { key, keyStart, value } of node.members) {
      const own = lineAt(keyStart);
      if (below.has(key)) throw new BadSyntax(own, `not valid JSON: ${JSON.stringify(key)} is there twice`);
      below.set(key, jsonLines(value, own, lineAt));
    }
  return { line, below };
}

export function readToml(text: string): ConfigText {
  return { notation: "toml", value: parseToml(text), lines: () => tomlLines(text) };
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

async function tomlLines(text: string): Promise<Lines> {
  const { parseTOML } = await import("toml-eslint-parser");
  const lines: Lines = { line: 1, below: new Map() };
  for (const node of parseTOML(text).body[0].body) {
    if (node.type === "TOMLKeyValue") addKey(lines, node);
    else {
      const table = addLine(lines, node.resolvedKey, node);
      for (const entry of node.body) addKey(table, entry);
    }
  }
  return lines;
}

function addKey(lines: Lines, node: AST.TOMLKeyValue): void {
  const keys = node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
  addBelow(addLine(lines, keys, node), node.value);
}

function addBelow(lines: Lines, node: AST.TOMLContentNode): void {
  if (node.type === "TOMLInlineTable") for (const entry of node.body) addKey(lines, entry);
  if (node.type === "TOMLArray")
    for (const [index, element] of node.elements.entries())
      addBelow(addLine(lines, [index], element), element);
}

/** A section that only its parts name has the line of the section around it. */
function addLine(lines: Lines, path: readonly PropertyKey[], { loc }: AST.TOMLNode): Lines {
  let at = lines;
  for (const step of path.map(String)) {
    const next = at.below.get(step) ?? { line: at.line, below: new Map<string, Lines>() };
    at.below.set(step, next);
    at = next;
  }
  at.line = loc.start.line;
  return at;
}
