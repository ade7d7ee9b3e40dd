import type { z } from "zod";
import { acpCommand } from "../core/agents.ts";
import { RalphError } from "../core/errors.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import { lineOf } from "./config-text.ts";
import { expectation, explainIssues, remedy, setAt, valueAt } from "./explain-issues.ts";
import { findConfig, type Written } from "./find-config.ts";
import { configJsonSchema, nodeAt, scalarKeys, type SchemaNode } from "./json-schema.ts";
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
  const ofFile = file === null ? configSchema.parse({}) : await check(file, options.builtInAgents);
  const config = {
    ...(variables.set.size === 0 ? ofFile : withVariables(file?.value ?? {}, variables)),
    maxIterationsPerTask: file?.iterationsPerTask?.value ?? ITERATIONS_PER_TASK,
  };
  const originsInFile = async (): Promise<OriginInFile> => {
    const lines = await file?.text.lines();
    return (path) => (lines ? `${file?.shown}:${lineOf(lines, path)}` : "");
  };
  return {
    config,
    file: file?.shown ?? null,
    values: async () => valuesOf(config, file, variables, await originsInFile()),
    waiting: async () => {
      const originOf = await originsInFile();
      const waiting = file?.waiting ?? [];
      return waiting.map(({ path, why }) => ({ key: path.join("."), origin: originOf(path), why }));
    },
    unknownVariables: variables.unknown,
  };
}

export function defaultConfig(): Config {
  return { ...configSchema.parse({}), maxIterationsPerTask: ITERATIONS_PER_TASK };
}

type Parsed = Omit<Config, "maxIterationsPerTask">;

/** What the file alone comes to; throws at the first mistake in it. */
async function check(file: Written, builtInAgents: readonly string[]): Promise<Parsed> {
  const { value, text: source, shown, writtenAs } = file;
  const complain = async (path: readonly PropertyKey[], what: string): Promise<RalphError> => {
    const written = writtenAs.get(path.join(".")) ?? path;
    const inItsWords = what.replace(`"${path.join(".")}"`, `"${written.join(".")}"`);
    return new RalphError("config", `${shown}:${lineOf(await source.lines(), written)}: ${inItsWords}`);
  };
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const checked = { schema: configSchema, value, notation: source.notation };
    const { path, text } = explainIssues(parsed.error.issues, checked);
    throw await complain(path, text);
  }
  for (const [name, agent] of Object.entries(parsed.data.agents)) {
    const isKnown = builtInAgents.includes(agent.format ?? name) || acpCommand(name) !== null;
    if (agent.command !== undefined || isKnown) continue;
    const example = 'add for example: command = ["my-agent", "--yes"]';
    throw await complain(["agents", name], `the agent "${name}" has no command; ${example}`);
  }
  return parsed.data;
}

/** What the file and the variables come to. A wrong value is the variable's, since the file was checked alone. */
function withVariables(file: unknown, { set }: Variables): Parsed {
  const value = structuredClone(file) as Record<string, unknown>;
  for (const [key, variable] of set) setAt(value, key.split("."), variable.value);
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.join(".") ?? "";
  const variable = set.get(key);
  if (issue !== undefined && variable !== undefined) throw wrongVariable(key, variable, issue);
  // Values that are right by themselves may contradict each other.
  const { text } = explainIssues(parsed.error.issues, { schema: configSchema, value, notation: "toml" });
  const names = [...set.values()].map(({ name }) => name);
  throw new RalphError("config", text, { hint: `set in the environment: ${names.join(", ")}` });
}

function wrongVariable(key: string, { name, value }: Variable, issue: z.core.$ZodIssue): RalphError {
  const node = nodeAt(configJsonSchema(), [key]) ?? {};
  const wanted =
    issue.code === "custom"
      ? issue.message.replace(/, got [^,]*$/, "")
      : // A variable holds no list.
        `expected ${expectation(node.anyOf?.[0] ?? node, "yaml")}${remedy(node, value)}`;
  const what = SECRET.has(name) ? `${name} is no address` : `${name} is "${String(value)}"`;
  return new RalphError("config", `${what}; ${wanted}`, {
    hint: `it sets "${key}"; without the variable the file or the default counts: unset ${name}`,
  });
}

/** One value that is in effect, as it could be written in the file. */
export interface ConfigValue {
  /** Dotted. */
  readonly key: string;
  readonly value: unknown;
  /** `default`, `env NAME`, or file and line. */
  readonly origin: string;
}

type OriginInFile = (path: readonly string[]) => string;

/** Every value of a configuration with its origin, in the order of the schema. */
function valuesOf(
  { maxIterationsPerTask: _ownLine, ...config }: Config,
  file: Written | null,
  variables: Variables,
  originInFile: OriginInFile,
): readonly ConfigValue[] {
  const originOf = (path: readonly string[]): string => {
    const key = path.join(".");
    const variable = variables.set.get(key);
    if (variable !== undefined) return `env ${variable.name}`;
    if (valueAt(file?.value, path) === undefined) return "default";
    return originInFile(file?.writtenAs.get(key) ?? path);
  };
  const values = [...leaves(config, [])].map(({ path, value }) => ({
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

/** Durations are milliseconds in the program. */
function asWritten(path: readonly string[], value: unknown): unknown {
  if (typeof value !== "number" || nodeAt(configJsonSchema(), path)?.expected === undefined) return value;
  const short = formatDuration(value).replaceAll(" ", "");
  return parseDuration(short) === value ? short : `${value / 1_000}s`;
}

interface Variable {
  readonly name: string;
  /** As it could stand in a file. */
  readonly value: unknown;
}

interface Variables {
  /** By the key that each sets. */
  readonly set: ReadonlyMap<string, Variable>;
  /** Variables that look like ours and say nothing to us. */
  readonly unknown: readonly string[];
}

/** Our variables that are no settings; an agent that calls ralph has some of them in its environment. */
const NO_CONFIGURATION =
  /^RALPH_(?:DIR|STATE|RUN_ID|TASK_ID|STAGE|ITERATION|ITERATION_DIR|MAX_ITERATIONS|MARKER|NOTICE_KIND|NOTICE_TEXT|DEMO_SCRIPT|WEB_TOKEN|TEST_.*)$/;
/** An empty variable is none, but this one turns the queue off. */
const QUEUE = "RALPH_QUEUE_URL";
/** Messages do not repeat their values. */
const SECRET: ReadonlySet<string> = new Set([QUEUE, "RALPH_NOTIFY_WEBHOOK"]);
const ALIASES: Readonly<Record<string, string>> = {
  RALPH_PROMISE_REQUIRE_XML_FORMAT: "RALPH_PROMISE_REQUIRE_XML",
};

/** The configuration in the environment: `RALPH_` and the key in capitals, e.g. `RALPH_RUN_MAX_STUCK`. */
export function readVariables(env: NodeJS.ProcessEnv): Variables {
  const ours = Object.entries(env).flatMap(([name, value = ""]) => {
    const isOurs = name.startsWith("RALPH_") && !NO_CONFIGURATION.test(name);
    return isOurs && (value.trim() !== "" || name === QUEUE) ? [{ name, text: value.trim() }] : [];
  });
  // The schema as data takes time to make.
  const keys = new Map(ours.length === 0 ? [] : scalarKeys().map((key) => [variableOf(key.key), key]));
  const set = new Map<string, Variable>();
  const unknown: string[] = [];
  for (const { name, text } of ours) {
    const known = keys.get(ALIASES[name] ?? name);
    if (known === undefined) unknown.push(name);
    else set.set(known.key, { name, value: inType(text, known.node) });
  }
  return { set, unknown: unknown.toSorted() };
}

export function variableOf(key: string): string {
  return `RALPH_${key.replaceAll(".", "_").toUpperCase()}`;
}

function inType(text: string, { type }: SchemaNode): unknown {
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type !== "boolean") return text;
  if (/^(true|1)$/i.test(text)) return true;
  return /^(false|0)$/i.test(text) ? false : text;
}
