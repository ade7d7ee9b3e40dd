import { DURATION, DURATION_OR_OFF } from "./duration-schema.ts";
import { configSchema } from "./schema.ts";

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
