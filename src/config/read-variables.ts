import type { z } from "zod";
import { RalphError } from "../core/ralph-error.ts";
import { remedy } from "./explain-issue.ts";
import { expectation, scalarKeys, schemaAt, type SchemaNode } from "./schema-node.ts";
import { configSchema } from "./schema.ts";

export interface Variables {
  /** By key: the variable that sets it, and its value as it could stand in a file. */
  readonly set: ReadonlyMap<string, { readonly name: string; readonly value: unknown }>;
  /** Variables that look like ours and say nothing to us. */
  readonly unknown: readonly string[];
}

/**
 * Ours, and no configuration: places, what an agent is told about itself, and what tests use. An agent that calls
 * ralph has some of them in its environment.
 */
const NO_CONFIGURATION =
  /^RALPH_(?:DIR|STATE|RUN_ID|TASK_ID|STAGE|ITERATION|ITERATION_DIR|MAX_ITERATIONS|MARKER|NOTICE_KIND|NOTICE_TEXT|DEMO_SCRIPT|TEST_.*)$/;

/** The configuration in the environment: `RALPH_` and the key in capitals, e.g. `RALPH_RUN_MAX_STUCK`. */
export function readVariables(env: NodeJS.ProcessEnv): Variables {
  const keys = new Map(scalarKeys().map((key) => [variableOf(key.key), key]));
  const set = new Map<string, { name: string; value: unknown }>();
  const unknown: string[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith("RALPH_") || NO_CONFIGURATION.test(name)) continue;
    if (text === undefined || (text.trim() === "" && !TURNED_OFF.has(name))) continue;
    const known = keys.get(ALIASES[name] ?? name);
    if (known === undefined) unknown.push(name);
    else set.set(known.key, { name, value: valueOf(name, text.trim(), known.key, known.node) });
  }
  return { set, unknown: unknown.toSorted() };
}

/** Elsewhere an empty variable is none. */
const TURNED_OFF: ReadonlySet<string> = new Set(["RALPH_QUEUE_URL"]);

/** Nobody is shown what they say. */
const SECRET: ReadonlySet<string> = new Set(["RALPH_QUEUE_URL", "RALPH_NOTIFY_WEBHOOK"]);

const ALIASES: Readonly<Record<string, string>> = {
  RALPH_PROMISE_REQUIRE_XML_FORMAT: "RALPH_PROMISE_REQUIRE_XML",
};

export function variableOf(key: string): string {
  return `RALPH_${key.replaceAll(".", "_").toUpperCase()}`;
}

function valueOf(name: string, text: string, key: string, node: SchemaNode): unknown {
  const value = inType(text, node);
  const schema = schemaAt(configSchema, key.split(".")) as z.ZodType;
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return value;
  const wanted =
    issue.code === "custom"
      ? issue.message.replace(/, got [^,]*$/, "")
      : `expected ${expectation(alone(node), "yaml")}${remedy(node, value)}`;
  const what = SECRET.has(name) ? `${name} is no address` : `${name} is "${text}"`;
  throw new RalphError("config", `${what}; ${wanted}`, {
    hint: `it sets "${key}"; without the variable the file or the default counts: unset ${name}`,
  });
}

/** A variable holds no list. */
function alone(node: SchemaNode): SchemaNode {
  return node.is === "choice" ? { ...node, orListOf: null } : node;
}

function inType(text: string, node: SchemaNode): unknown {
  if (node.is === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (node.is !== "boolean") return text;
  if (/^(true|1)$/i.test(text)) return true;
  return /^(false|0)$/i.test(text) ? false : text;
}
