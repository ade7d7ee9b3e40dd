import type { z } from "zod";
import { closest } from "../core/closest.ts";
import {
  expectation,
  schemaAt,
  schemaKeys,
  schemaNode,
  type Notation,
  type SchemaNode,
} from "./schema-node.ts";
import { configSchema } from "./schema.ts";

/** What was checked, against what. */
export interface Checked {
  readonly schema: unknown;
  readonly value: unknown;
  readonly notation: Notation;
}

export interface Explanation {
  /** Where to look. */
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** The first thing to mend, in a sentence that says what to type. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], checked: Checked): Explanation {
  // A misspelt key often leaves another one missing: the spelling is the cause.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) throw new Error("nothing is wrong");
  if (issue.code === "unrecognized_keys") return unknownKey([...issue.path, issue.keys[0] ?? ""], checked);
  const { path } = issue;
  const key = path.length === 0 ? "the whole file" : `"${path.join(".")}"`;
  if (issue.code === "custom") return { path, text: `${key}: ${issue.message}` };
  const node = schemaNode(schemaAt(checked.schema, path));
  const value = valueAt(checked.value, path);
  const isSection = checked.notation === "toml" && node.is === "object";
  const wanted = isSection ? sectionAt(path, node.shape) : expectation(node, checked.notation);
  if (value === undefined) return { path, text: `${key} is missing; expected ${wanted}` };
  if (isTableList(node) && isTable(value) && checked.notation === "toml") {
    return {
      path,
      text: `${key}: expected a list; write [[${path.join(".")}]] instead of [${path.join(".")}]`,
    };
  }
  return { path, text: `${key}: ${misfit(node, value, wanted, path)}` };
}

/** Inside of a list of tables a section has no header that could be named. */
function sectionAt(path: readonly PropertyKey[], shape: Readonly<Record<string, unknown>>): string {
  if (typeof path.at(-2) !== "number") return `a section, [${path.join(".")}]`;
  return `a table with any of ${Object.keys(shape).join(", ")}`;
}

/** What a value is instead of what it should be, and how to mend it. */
function misfit(node: SchemaNode, value: unknown, wanted: string, path: readonly PropertyKey[]): string {
  // The values of variables may be secret.
  if (path.includes("env") || path.at(-1) === "secret") return `expected ${wanted}, got a ${typeof value}`;
  if (value === "") return `expected ${wanted}, which is not empty`;
  return `expected ${wanted}, got ${shown(value)}${remedy(node, value)}`;
}

export function remedy(node: SchemaNode, value: unknown): string {
  if (node.is === "choice" && typeof value === "string") {
    const meant = closest(value, node.values);
    return meant === null ? "" : `. Did you mean "${meant}"?`;
  }
  if (node.is === "list" && typeof value === "string" && /^[^"'\\]+$/.test(value)) {
    return `; write it as a list: [${value
      .split(/\s+/)
      .map((word) => `"${word}"`)
      .join(", ")}]`;
  }
  if (node.is === "text" && (typeof value === "number" || typeof value === "boolean")) {
    return `; put it in quotes: "${value}"`;
  }
  const isQuoted =
    typeof value === "string" &&
    ((node.is === "number" && /^\d+$/.test(value)) ||
      (node.is === "boolean" && /^(true|false)$/.test(value)));
  return isQuoted ? `; write it without quotes: ${value}` : "";
}

function unknownKey(path: readonly PropertyKey[], checked: Checked): Explanation {
  const value = valueAt(checked.value, path);
  const around = path.slice(0, -1);
  const key = String(path.at(-1));
  const { notation } = checked;
  const home = checked.schema === configSchema ? homeOf(key) : null;
  if (home !== null) {
    return {
      path,
      text: `unknown key "${key}"${within(around, notation)}; it belongs ${into(home, notation)}`,
    };
  }
  const node = schemaNode(schemaAt(checked.schema, around));
  const known = node.is === "object" ? Object.keys(node.shape) : [];
  const isHeaded = isTable(value) || (Array.isArray(value) && value.some(isTable));
  if (notation === "toml" && around.length === 0 && isHeaded) {
    const sections = known.filter((name) => section(name).startsWith("["));
    const written = Array.isArray(value) ? `[[${key}]]` : `[${key}]`;
    return { path, text: `unknown section ${written}. ${advice(key, sections, section)}` };
  }
  const quoted = (name: string): string => `"${name}"`;
  return { path, text: `unknown key "${key}"${within(around, notation)}. ${advice(key, known, quoted)}` };
}

function advice(key: string, known: readonly string[], written: (name: string) => string): string {
  const meant = closest(key, known);
  return meant === null ? `Known here: ${known.map(written).join(", ")}` : `Did you mean ${written(meant)}?`;
}

/** As it stands in a TOML file: `[run]`, `[[gates]]`, or a key at the top. */
function section(key: string): string {
  const node = schemaNode(schemaAt(configSchema, [key]));
  if (isTableList(node)) return `[[${key}]]`;
  if (node.is === "record") return `[${key}.NAME]`;
  return node.is === "object" ? `[${key}]` : `"${key}"`;
}

function isTableList(node: SchemaNode): boolean {
  return node.is === "list" && schemaNode(node.each).is === "object";
}

/** The section in which a key would have been right, when there is just one; null otherwise. */
function homeOf(key: string): string | null {
  const homes = schemaKeys()
    .map((known) => known.key.split("."))
    .filter((steps) => steps.at(-1) === key);
  // Of several, the one that does not stand under a name of the operator's choice.
  const fixed = homes.filter((steps) => !steps.includes("*"));
  const only = homes.length === 1 ? homes : fixed;
  return only.length === 1 ? (only[0]?.slice(0, -1).join(".") ?? null) : null;
}

function into(home: string, notation: Notation): string {
  if (home === "") return notation === "toml" ? "at the top, before the first [section]" : "at the top";
  const [outer = "", inner = ""] = home.split(/\.\*\.?/);
  const place = notation === "toml" ? section(outer) : `"${outer}"`;
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
  if (isTable(value)) return "a section";
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

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
