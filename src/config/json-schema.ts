import { z } from "zod";
import { configSchema } from "./schema.ts";

/** A place in a schema, as far as JSON Schema tells about it and we read it. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | false;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  /** What may be written there, for types that JSON Schema does not know: durations. */
  readonly expected?: string;
}

/** What may be written in a file with this schema. */
export function schemaNode(schema: z.ZodType): SchemaNode {
  // The largest number that JavaScript can count to is no limit of ours.
  return z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  }) as SchemaNode;
}

let known: SchemaNode | undefined;

/** Made only when somebody asks, since it takes longer than to read a file. */
export function configJsonSchema(): SchemaNode {
  known ??= { ...schemaNode(configSchema), title: "Configuration of ralph" } as SchemaNode;
  return known;
}

/**
 * The place that a path leads to; undefined when it leads out of the schema. A dotted step goes down several sections,
 * since no key of ours has a dot; the names in a record may have them.
 */
export function nodeAt(root: SchemaNode, path: readonly PropertyKey[]): SchemaNode | undefined {
  let at: SchemaNode | undefined = root;
  for (const step of path.map(String)) at = at && (below(at, step) ?? inSections(at, step));
  return at;
}

function below({ properties, items, additionalProperties, anyOf = [] }: SchemaNode, step: string) {
  const each = items ?? anyOf.find((one) => one.items !== undefined)?.items ?? additionalProperties;
  return properties?.[step] ?? (each || undefined);
}

function inSections(node: SchemaNode, dotted: string): SchemaNode | undefined {
  return dotted.includes(".") ? nodeAt(node, dotted.split(".")) : undefined;
}

export const isTable = (node: SchemaNode): boolean => node.type === "object";
export const isTableList = ({ items }: SchemaNode): boolean => items !== undefined && isTable(items);

export interface SchemaKey {
  /** Dotted; `*` stands for any name or number. */
  readonly key: string;
  readonly node: SchemaNode;
}

/** Every section and key of the configuration, in the order of the schema. */
export function schemaKeys(node = configJsonSchema(), key = ""): readonly SchemaKey[] {
  const each = node.items ?? (node.additionalProperties || undefined);
  // A table of texts has names of the operator's own, and no keys.
  const below = node.properties ?? (each?.properties === undefined ? {} : { "*": each });
  return Object.entries(below).flatMap(([name, inner]) => {
    const path = key === "" ? name : `${key}.${name}`;
    return [...(name === "*" ? [] : [{ key: path, node: inner }]), ...schemaKeys(inner, path)];
  });
}

/** Keys with a single value, at a place of their own: those that a variable can set. */
export function scalarKeys(): readonly SchemaKey[] {
  return schemaKeys().filter(
    ({ key, node }) => !key.includes("*") && !isTable(node) && node.type !== "array",
  );
}
