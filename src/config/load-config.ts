import { existsSync, readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";
import type { z } from "zod";
import { closest } from "../core/closest.ts";
import { RalphError } from "../core/ralph-error.ts";
import { configSchema, type Config } from "./schema.ts";
import { lineOfPath } from "./line-of-path.ts";

/** The configuration in a file, or the defaults when there is none. `shown` is the path people know. */
export async function loadConfig(path: string, shown: string): Promise<Config> {
  if (!existsSync(path)) return configSchema.parse({});
  const text = readFileSync(path, "utf8");
  const parsed = configSchema.safeParse(parseToml(text, shown));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue === undefined) throw parsed.error;
  const keys = issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""] : issue.path;
  const line = await lineOfPath(text, keys);
  throw new RalphError("config", `${shown}:${line}: ${explain(issue)}`);
}

function parseToml(text: string, shown: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split("\n")[0] ?? "not valid TOML";
    throw new RalphError("config", `${shown}:${error.line}: ${what}`, { cause: error });
  }
}

function explain(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? "" : ` in [${issue.path.join(".")}]`;
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const meant = closest(key, keysAt(issue.path));
    return `unknown key "${key}"${where}.${meant === null ? "" : ` Did you mean "${meant}"?`}`;
  }
  return `"${issue.path.join(".")}": ${issue.message}`;
}

/** The keys that would have been right at a place of the schema. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  let schema: unknown = configSchema;
  for (const step of path) schema = inner(schema, step);
  return Object.keys(shapeOf(schema) ?? {});
}

function inner(schema: unknown, step: PropertyKey): unknown {
  const shape = shapeOf(schema);
  if (shape !== null) return shape[String(step)];
  const { def } = unwrap(schema) as { def: { element?: unknown; valueType?: unknown } };
  return def.element ?? def.valueType;
}

function shapeOf(schema: unknown): Record<string, unknown> | null {
  const { shape } = unwrap(schema) as { shape?: Record<string, unknown> };
  return shape ?? null;
}

function unwrap(schema: unknown): object {
  const { def } = schema as { def?: { innerType?: unknown } };
  return def?.innerType === undefined ? (schema as object) : unwrap(def.innerType);
}
