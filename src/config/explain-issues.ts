import type { z } from "zod";
import { closest } from "../core/text.ts";
import {
  configJsonSchema,
  isTable,
  isTableList,
  nodeAt,
  schemaKeys,
  schemaNode,
  type SchemaNode,
} from "./json-schema.ts";
import { configSchema } from "./schema.ts";

/** How a configuration file is written, which decides how people are told what to type. */
export type Notation = "toml" | "json" | "yaml";

/** What was checked, against what. */
interface Checked {
  readonly schema: z.ZodType;
  readonly value: unknown;
  readonly notation: Notation;
}

interface Explanation {
  /** Where to look. */
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** The first thing to mend, in a sentence that says what to type. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], checked: Checked): Explanation {
  // A misspelt key often leaves another one missing: the spelling is the cause.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) throw new Error("nothing is wrong");
  if (issue.code === "unrecognized_keys") {
    const path = [...issue.path, issue.keys[0] ?? ""];
    return { path, text: unknownKey(path, checked) };
  }
  const { path } = issue;
  const key = path.length === 0 ? "the whole file" : `"${path.join(".")}"`;
  return {
    path,
    text: issue.code === "custom" ? `${key}: ${issue.message}` : `${key}${misfit(path, checked)}`,
  };
}

function misfit(path: readonly PropertyKey[], { schema, value: file, notation }: Checked): string {
  const node = nodeAt(schemaNode(schema), path) ?? {};
  const value = valueAt(file, path);
  const isToml = notation === "toml";
  const wanted = isToml && node.properties ? sectionAt(path, node) : expectation(node, notation);
  if (value === undefined) return ` is missing; expected ${wanted}`;
  if (isToml && isTableList(node) && isTree(value))
    return `: expected a list; write [[${path.join(".")}]] instead of [${path.join(".")}]`;
  // The values of variables may be secret.
  if (path.includes("env") || path.at(-1) === "secret") return `: expected ${wanted}, got a ${typeof value}`;
  if (value === "") return `: expected ${wanted}, which is not empty`;
  return `: expected ${wanted}, got ${shown(value)}${remedy(node, value)}`;
}

/** Inside of a list of tables a section has no header that could be named. */
function sectionAt(path: readonly PropertyKey[], { properties = {} }: SchemaNode): string {
  if (typeof path.at(-2) !== "number") return `a section, [${path.join(".")}]`;
  return `a table with any of ${Object.keys(properties).join(", ")}`;
}

const A_LIST = 'a list of texts, such as ["one", "two"]';

/** What may be written at a place, in words. */
export function expectation(node: SchemaNode, notation: Notation): string {
  const { expected, anyOf, minimum } = node;
  if (expected !== undefined) return expected;
  const words = (anyOf?.[0] ?? node).enum?.map((word) => `"${word}"`);
  if (words !== undefined) return oneOf(anyOf === undefined ? words : [...words, A_LIST]);
  switch (node.type) {
    case "string":
      return notation === "yaml" ? "a text" : "a text in quotes";
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number${minimum === undefined ? "" : `, ${minimum} or more`}`;
    case "number":
      return `a number${minimum === undefined ? "" : `, ${minimum} or more`}`;
    case "array":
      return listed(node.items ?? {});
    default:
      return notation === "json" ? "an object in braces" : "a section";
  }
}

function listed(each: SchemaNode): string {
  if (each.enum !== undefined) return `a list of any of ${each.enum.map((word) => `"${word}"`).join(", ")}`;
  return isTable(each) ? "a list of tables" : A_LIST;
}

function oneOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

/** How to mend a value of a wrong type; empty when only the person knows. */
export function remedy(node: SchemaNode, value: unknown): string {
  const { enum: words = node.anyOf?.[0]?.enum, type } = node;
  if (typeof value !== "string")
    return type === "string" && words === undefined && /^(?:number|boolean)$/.test(typeof value)
      ? `; put it in quotes: "${String(value)}"`
      : "";
  if (words !== undefined) {
    const meant = closest(value, words);
    return meant === null ? "" : `. Did you mean "${meant}"?`;
  }
  if (type === "array" && /^[^"'\\]+$/.test(value))
    return `; write it as a list: [${value
      .split(/\s+/)
      .map((word) => `"${word}"`)
      .join(", ")}]`;
  const isQuoted =
    ((type === "integer" || type === "number") && /^\d+$/.test(value)) ||
    (type === "boolean" && /^(?:true|false)$/.test(value));
  return isQuoted ? `; write it without quotes: ${value}` : "";
}

function unknownKey(path: readonly PropertyKey[], { schema, value: file, notation }: Checked): string {
  const around = path.slice(0, -1);
  const key = String(path.at(-1));
  const isToml = notation === "toml";
  const unknown = `unknown key "${key}"${within(around, notation)}`;
  const home = schema === configSchema ? homeOf(key) : null;
  if (home !== null) return `${unknown}; it belongs ${into(home, isToml)}`;
  const known = Object.keys(nodeAt(schemaNode(schema), around)?.properties ?? {});
  const value = valueAt(file, path);
  const isList = Array.isArray(value) && value.some(isTree);
  if (isToml && around.length === 0 && (isList || isTree(value))) {
    const sections = known.filter((name) => header(name).startsWith("["));
    return `unknown section ${isList ? `[[${key}]]` : `[${key}]`}. ${advice(key, sections, header)}`;
  }
  return `${unknown}. ${advice(key, known, (name) => `"${name}"`)}`;
}

function advice(key: string, known: readonly string[], written: (name: string) => string): string {
  const meant = closest(key, known);
  return meant === null ? `Known here: ${known.map(written).join(", ")}` : `Did you mean ${written(meant)}?`;
}

/** As it stands in a TOML file: `[run]`, `[[gates]]`, or a key at the top. */
function header(key: string): string {
  const node = nodeAt(configJsonSchema(), [key]) ?? {};
  if (isTableList(node)) return `[[${key}]]`;
  if (!isTable(node)) return `"${key}"`;
  return node.properties === undefined ? `[${key}.NAME]` : `[${key}]`;
}

/** The section in which a key would have been right, when there is just one; null otherwise. */
function homeOf(name: string): string | null {
  const key = name === "require_xml_format" ? "require_xml" : name;
  const homes = schemaKeys().flatMap(({ key: one }) => (one.split(".").at(-1) === key ? one : []));
  // Of several, the one that does not stand under a name of the operator's choice.
  const [home, ...others] = homes.length === 1 ? homes : homes.filter((one) => !one.includes("*"));
  return home === undefined || others.length > 0 ? null : home.split(".").slice(0, -1).join(".");
}

function into(home: string, isToml: boolean): string {
  if (home === "") return isToml ? "at the top, before the first [section]" : "at the top";
  const [outer = "", inner = ""] = home.split(/\.\*\.?/);
  const place = isToml ? header(outer) : `"${outer}"`;
  return inner === "" ? `in ${place}` : `in "${inner}" of ${place}`;
}

function within(around: readonly PropertyKey[], notation: Notation): string {
  if (around.length === 0) return "";
  if (notation !== "toml" || typeof around.at(-2) === "number") return ` in "${around.join(".")}"`;
  const isElement = /^\d+$/.test(String(around.at(-1)));
  return isElement ? ` in [[${around.slice(0, -1).join(".")}]]` : ` in [${around.join(".")}]`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value instanceof Date) return "a date";
  if (isTree(value)) return "a section";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let at = tree;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}

/** Sets a value in a tree of our own, with the sections that lead to it. */
export function setAt(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const section = path.slice(0, -1).reduce((at, step) => {
    at[step] ??= {};
    return at[step] as Record<string, unknown>;
  }, tree);
  section[path.at(-1) ?? ""] = value;
}

export function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
