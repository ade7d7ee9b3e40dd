import { parse, TomlError } from "smol-toml";
import type { AST } from "toml-eslint-parser";
import { BadSyntax, type ConfigText, type Place } from "./config-text.ts";

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
