import { formatDuration, parseDuration } from "../core/time.ts";
import { acpCommand } from "../core/agents.ts";
import type { z } from "zod";
import { RalphError } from "../core/ralph-error.ts";
import { lineOfPath } from "./config-text.ts";
import {
  expectation,
  explainIssues,
  remedy,
  scalarKeys,
  schemaAt,
  schemaNode,
  type SchemaNode,
  valueAt,
} from "./schema-node.ts";
import { findConfig, type Written } from "./find-config.ts";
import { type Config, configSchema } from "./schema.ts";

const ITERATIONS_PER_TASK = 30;

interface ConfigOptions {
  readonly root: string;
  readonly ralphDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Names of agents that need no command. */
  readonly builtInAgents: readonly string[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** The path that people know; null when there is no file. */
  readonly file: string | null;
  /** Every value with its origin. Slow, as only a parser that knows lines can tell. */
  readonly values: () => Promise<readonly ConfigValue[]>;
  /** What the file says and this version does not use. */
  readonly waiting: () => Promise<readonly Waiting[]>;
  readonly unknownVariables: readonly string[];
}

export interface Waiting {
  readonly key: string;
  readonly origin: string;
  readonly why: string;
}

/** The configuration of a project: variables over the file over defaults. */
export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
  const file = await findConfig(options.root, options.ralphDir);
  const variables = readVariables(options.env);
  let merged = await check(file, options.builtInAgents);
  const tree: Record<string, unknown> = { ...(file?.value as object | undefined) };
  for (const [key, { value }] of variables.set) put(tree, key.split("."), value);
  if (variables.set.size > 0) merged = withVariables(tree, [...variables.set.values()]);
  const config = { ...merged, maxIterationsPerTask: file?.iterationsPerTask?.value ?? ITERATIONS_PER_TASK };
  return {
    config,
    file: file?.shown ?? null,
    values: () => valuesOf(config, file, variables),
    waiting: () => waitingIn(file),
    unknownVariables: variables.unknown,
  };
}

export function defaultConfig(): Config {
  return { ...configSchema.parse({}), maxIterationsPerTask: ITERATIONS_PER_TASK };
}

/** What the file alone comes to; throws at the first mistake in it. */
async function check(
  file: Written | null,
  builtInAgents: readonly string[],
): Promise<Omit<Config, "maxIterationsPerTask">> {
  const value = file?.value ?? {};
  const parsed = configSchema.safeParse(value);
  if (file === null) return defaultConfig();
  const complain = async (path: readonly PropertyKey[], what: string): Promise<RalphError> => {
    const written = file.writtenAs.get(path.join(".")) ?? path;
    const inItsWords = what.replace(`"${path.join(".")}"`, `"${written.join(".")}"`);
    const line = lineOfPath(await file.text.places(), written);
    return new RalphError("config", `${file.shown}:${line}: ${inItsWords}`);
  };
  if (!parsed.success) {
    const { notation } = file.text;
    const { path, text } = explainIssues(parsed.error.issues, { schema: configSchema, value, notation });
    throw await complain(path, text);
  }
  for (const [name, agent] of Object.entries(parsed.data.agents)) {
    if (agent.command !== undefined || builtInAgents.includes(agent.format ?? name)) continue;
    if (acpCommand(name) !== null) continue;
    const example = 'add for example: command = ["my-agent", "--yes"]';
    throw await complain(["agents", name], `the agent "${name}" has no command; ${example}`);
  }
  return parsed.data;
}

/** Values that are right by themselves may contradict each other. */
function withVariables(
  tree: unknown,
  variables: readonly { readonly name: string }[],
): Omit<Config, "maxIterationsPerTask"> {
  const parsed = configSchema.safeParse(tree);
  if (parsed.success) return parsed.data;
  const checked = { schema: configSchema, value: tree, notation: "toml" } as const;
  throw new RalphError("config", explainIssues(parsed.error.issues, checked).text, {
    hint: `set in the environment: ${variables.map(({ name }) => name).join(", ")}`,
  });
}

async function waitingIn(file: Written | null): Promise<readonly Waiting[]> {
  if (file === null || file.waiting.length === 0) return [];
  const places = await file.text.places();
  return file.waiting.map(({ path, why }) => ({
    key: path.join("."),
    origin: `${file.shown}:${lineOfPath(places, path)}`,
    why,
  }));
}

function put(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = "", ...rest] = path;
  if (rest.length === 0) {
    tree[first] = value;
    return;
  }
  const inner = { ...(tree[first] as Record<string, unknown> | undefined) };
  tree[first] = inner;
  put(inner, rest, value);
}

/** Where a value comes from: `default`, `env NAME`, or file and line. */
type Origin = "default" | `env ${string}` | `${string}:${number}`;

/** One value that is in effect, as it could be written in the file. */
export interface ConfigValue {
  /** Dotted. */
  readonly key: string;
  readonly value: unknown;
  readonly origin: Origin;
}

/** Every value of a configuration with its origin, in the order of the schema. */
async function valuesOf(
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

/** Lists of texts are one value, and so is what is empty. */
function* leaves(
  value: unknown,
  path: readonly string[],
): Generator<{ readonly path: readonly string[]; readonly value: unknown }> {
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

interface Variables {
  /** By key: the variable that sets it, and its value as it could stand in a file. */
  readonly set: ReadonlyMap<string, { readonly name: string; readonly value: unknown }>;
  /** Variables that look like ours and say nothing to us. */
  readonly unknown: readonly string[];
}

/** Our variables that are no settings; an agent that calls ralph has some of them in its environment. */
const NO_CONFIGURATION =
  /^RALPH_(?:DIR|STATE|RUN_ID|TASK_ID|STAGE|ITERATION|ITERATION_DIR|MAX_ITERATIONS|MARKER|NOTICE_KIND|NOTICE_TEXT|DEMO_SCRIPT|WEB_TOKEN|TEST_.*)$/;

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
