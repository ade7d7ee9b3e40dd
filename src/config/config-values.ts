import { formatDuration, parseDuration } from "../core/duration.ts";
import { lineOfPath } from "./config-text.ts";
import { valueAt } from "./explain-issue.ts";
import type { Written } from "./find-config.ts";
import type { Variables } from "./read-variables.ts";
import { schemaAt, schemaNode } from "./schema-node.ts";
import { configSchema, type Config } from "./schema.ts";

/** Where a value comes from: `default`, `env NAME`, or file and line. */
export type Origin = "default" | `env ${string}` | `${string}:${number}`;

/** One value that is in effect, as it could be written in the file. */
export interface ConfigValue {
  /** Dotted. */
  readonly key: string;
  readonly value: unknown;
  readonly origin: Origin;
}

/** Every value of a configuration with its origin, in the order of the schema. */
export async function valuesOf(
  config: Config,
  file: Written | null,
  variables: Variables,
): Promise<readonly ConfigValue[]> {
  const places = (await file?.text.places()) ?? [];
  const originInFile = (path: readonly string[]): Origin =>
    file === null ? "default" : `${file.shown}:${lineOfPath(places, path)}`;
  const originOf = (path: readonly string[]): Origin => {
    const key = path.join(".");
    const variable = variables.set.get(key);
    if (variable !== undefined) return `env ${variable.name}`;
    if (valueAt(file?.value, path) === undefined) return "default";
    return originInFile(file?.writtenAs.get(key) ?? path);
  };
  const { maxIterationsPerTask: _ownLine, ...rest } = config;
  const values = [...leaves(rest, [])].map(({ path, value }) => ({
    key: path.join("."),
    value: asWritten(path, value),
    origin: originOf(path),
  }));
  // Only where it was written: a key that cannot be written in other files would mislead.
  const limit = file?.iterationsPerTask ?? null;
  if (limit === null) return values;
  return [...values, { key: limit.path.join("."), value: limit.value, origin: originInFile(limit.path) }];
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Lists of texts are one value, and so is what is empty. */
function* leaves(value: unknown, path: readonly string[]): Generator<Leaf> {
  const isTree = typeof value === "object" && value !== null;
  const inner = isTree ? Object.entries(value).filter(([, each]) => each !== undefined) : [];
  if (inner.length === 0 || (Array.isArray(value) && typeof value[0] === "string")) yield { path, value };
  else for (const [name, each] of inner) yield* leaves(each, [...path, name]);
}

function asWritten(path: readonly string[], value: unknown): unknown {
  const schema = schemaAt(configSchema, path);
  if (schema === null || schemaNode(schema).is !== "duration") return value;
  const ms = value as number;
  const short = formatDuration(ms).replaceAll(" ", "");
  return parseDuration(short) === ms ? short : `${ms / 1_000}s`;
}
