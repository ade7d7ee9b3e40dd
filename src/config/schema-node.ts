import { closest } from "../core/text.ts";
import { z } from "zod";
import { configSchema } from "./schema.ts";
import { DURATION, DURATION_OR_OFF } from "./value-schemas.ts";

/** How a configuration file is written, which decides how people are told what to type. */
export type Notation = "toml" | "json" | "yaml";

/** A place in a schema, without what says that it may be absent. */
export type SchemaNode =
  | { readonly is: "object"; readonly shape: Readonly<Record<string, unknown>> }
  | { readonly is: "record"; readonly each: unknown }
  | { readonly is: "list"; readonly each: unknown }
  | { readonly is: "number"; readonly isWhole: boolean; readonly least: number | null }
  | { readonly is: "choice"; readonly values: readonly string[]; readonly orListOf: unknown }
  | { readonly is: "duration"; readonly mayBeOff: boolean }
  | { readonly is: "text" | "boolean" };

/** What zod keeps of a schema, as far as we read it. */
interface ZodInside {
  readonly description?: string;
  readonly isInt?: boolean;
  readonly minValue?: number | null;
  readonly options?: readonly unknown[];
  readonly shape?: Readonly<Record<string, unknown>>;
  safeParse(value: unknown): { readonly success: boolean };
  readonly def: {
    readonly type: string;
    readonly innerType?: unknown;
    readonly defaultValue?: unknown;
    readonly element?: unknown;
    readonly valueType?: unknown;
  };
}

export function schemaNode(schema: unknown): SchemaNode {
  const inside = schema as ZodInside;
  const { def } = inside;
  switch (def.type) {
    case "default":
    case "prefault":
    case "optional":
      return schemaNode(def.innerType);
    case "object":
      return { is: "object", shape: inside.shape ?? {} };
    case "record":
      return { is: "record", each: def.valueType };
    case "array":
      return { is: "list", each: def.element };
    case "number":
      return { is: "number", isWhole: inside.isInt ?? false, least: inside.minValue ?? null };
    case "enum":
      return { is: "choice", values: (inside.options ?? []) as readonly string[], orListOf: null };
    case "union":
      return choiceOrList((inside.options ?? []).map(schemaNode));
    case "string":
      return { is: "text" };
    case "boolean":
      return { is: "boolean" };
    case "pipe":
      return { is: "duration", mayBeOff: inside.safeParse(0).success };
    default:
      throw new Error(`the schema has a ${def.type}, which nobody can explain yet`);
  }
}

function choiceOrList(options: readonly SchemaNode[]): SchemaNode {
  const [choice, list, ...others] = options;
  if (choice?.is === "choice" && list?.is === "list" && others.length === 0)
    return { ...choice, orListOf: list.each };
  throw new Error("the schema has a union other than of words and a list, which nobody can explain yet");
}

/**
 * The place in a schema that a path leads to; null when it leads out of it. A dotted step goes down several sections,
 * since no key of ours has a dot; the names in a record may have them.
 */
export function schemaAt(schema: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = schema;
  for (const step of path) {
    const node = schemaNode(at);
    if (node.is === "object") at = node.shape[String(step)] ?? inSections(at, String(step));
    else if (node.is === "record" || node.is === "list") at = node.each;
    else if (node.is === "choice") at = node.orListOf;
    else return null;
    if (at === undefined || at === null) return null;
  }
  return at;
}

function inSections(schema: unknown, dotted: string): unknown {
  return dotted.includes(".") ? schemaAt(schema, dotted.split(".")) : null;
}

const A_LIST = 'a list of texts, such as ["one", "two"]';

/** What may be written at a place, in words. */
export function expectation(node: SchemaNode, notation: Notation): string {
  switch (node.is) {
    case "text":
      return notation === "yaml" ? "a text" : "a text in quotes";
    case "boolean":
      return "true or false";
    case "duration":
      return node.mayBeOff ? DURATION_OR_OFF : DURATION;
    case "number": {
      const kind = node.isWhole ? "a whole number" : "a number";
      return node.least === null ? kind : `${kind}, ${node.least} or more`;
    }
    case "choice":
      return anyOf([
        ...node.values.map((value) => `"${value}"`),
        ...(node.orListOf === null ? [] : [A_LIST]),
      ]);
    case "list": {
      const each = schemaNode(node.each);
      if (each.is === "choice") return `a list of any of ${each.values.map((one) => `"${one}"`).join(", ")}`;
      return each.is === "text" ? A_LIST : "a list of tables";
    }
    case "object":
    case "record":
      return notation === "json" ? "an object in braces" : "a section";
  }
}

export interface SchemaKey {
  /** Dotted; `*` stands for any name or number. */
  readonly key: string;
  readonly node: SchemaNode;
  readonly description: string;
  /** As in the file; undefined when there is none. */
  readonly default: unknown;
}

/** Every section and key of the configuration, in the order of the schema. */
export function schemaKeys(schema: unknown = configSchema, key = ""): readonly SchemaKey[] {
  const node = schemaNode(schema);
  const { description = "", def } = schema as ZodInside;
  const own = key === "" ? [] : [{ key, node, description, default: def.defaultValue }];
  const below = key === "" ? "" : `${key}.`;
  if (node.is === "object") {
    const inner = Object.entries(node.shape);
    return [...own, ...inner.flatMap(([name, value]) => schemaKeys(value, `${below}${name}`))];
  }
  if (node.is !== "list" && node.is !== "record") return own;
  return schemaNode(node.each).is === "object"
    ? [...own, ...schemaKeys(node.each, `${below}*`).slice(1)]
    : own;
}

/** Keys with a single value, at a place of their own: those that a variable can set. */
export function scalarKeys(): readonly SchemaKey[] {
  return schemaKeys().filter(
    ({ key, node }) => !key.includes("*") && !["object", "record", "list"].includes(node.is),
  );
}

function anyOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

/** What was checked, against what. */
interface Checked {
  readonly schema: unknown;
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

export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configSchema, { io: "input", override: ({ jsonSchema }) => dropNoise(jsonSchema) }),
    title: "Configuration of ralph",
  };
}

/** The largest number that JavaScript can count to is no limit of ours. */
function dropNoise(schema: { maximum?: number }): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
