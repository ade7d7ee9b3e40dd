import type { z } from "zod";
import { acpCommand } from "../core/agents.ts";
import { RalphError } from "../core/errors.ts";
import { formatDuration, parseDuration } from "../core/time.ts";
import { lineOf, type Lines } from "./config-text.ts";
import { expectation, explainIssues, isTree, remedy, setAt, valueAt } from "./explain-issues.ts";
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
  /** The paths that people know; several files are merged. */
  readonly files: readonly string[];
  /** Every value with its origin. Slow, as only a parser that knows lines can tell. */
  readonly values: () => Promise<readonly ConfigValue[]>;
  /** What the files say and this version does not use. */
  readonly waiting: () => Promise<readonly Waiting[]>;
  readonly unknownVariables: readonly string[];
}

export interface Waiting {
  readonly key: string;
  readonly origin: string;
  readonly why: string;
}

/** The configuration of a project: variables over the files over defaults. */
export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
  const files = await findConfig(options.root, options.ralphDir);
  const variables = readVariables(options.env);
  const value = await mergeFiles(files);
  const ofFiles =
    files.length === 0 ? configSchema.parse({}) : await check(files, value, options.builtInAgents);
  const limit = await limitOf(files);
  const config = {
    ...(variables.set.size === 0 ? ofFiles : withVariables(value, variables)),
    maxIterationsPerTask: limit?.value ?? ITERATIONS_PER_TASK,
  };
  return {
    config,
    files: files.map(({ shown }) => shown),
    values: async () => {
      const lines = new Map<Written, Lines>();
      for (const file of files) lines.set(file, await file.text.lines());
      const originInFile: OriginInFile = (path) => {
        const file = files.find((one) => valueAt(one.value, path) !== undefined);
        return file && `${file.shown}:${lineOf(lines.get(file) ?? NO_LINES, writtenPath(file, path))}`;
      };
      const values = valuesOf(config, variables, originInFile);
      // Only where it was written: a key that cannot be written in other files would mislead.
      if (limit === null) return values;
      return [
        ...values,
        { key: limit.path.join("."), value: limit.value, origin: await placeOf(limit.file, limit.path) },
      ];
    },
    waiting: async () => {
      const all = files.flatMap((file) => file.waiting.map((one) => ({ file, ...one })));
      return Promise.all(
        all.map(async ({ file, path, why }) => ({
          key: path.join("."),
          origin: await placeOf(file, path),
          why,
        })),
      );
    },
    unknownVariables: variables.unknown,
  };
}

const NO_LINES: Lines = { line: 1, below: new Map() };

export function defaultConfig(): Config {
  return { ...configSchema.parse({}), maxIterationsPerTask: ITERATIONS_PER_TASK };
}

type Parsed = Omit<Config, "maxIterationsPerTask">;

/** File and line of a key as it stands there. */
async function placeOf({ shown, text }: Written, path: readonly PropertyKey[]): Promise<string> {
  return `${shown}:${lineOf(await text.lines(), path)}`;
}

function writtenPath({ writtenAs }: Written, path: readonly PropertyKey[]): readonly PropertyKey[] {
  return writtenAs.get(path.join(".")) ?? path;
}

/** All files in one tree; a key that two of them set differently is an error that names both places. */
async function mergeFiles(files: readonly Written[]): Promise<unknown> {
  const stray = files.find(({ value }) => !isTree(value));
  if (stray !== undefined) return stray.value;
  let merged: unknown = {};
  for (const [at, file] of files.entries()) {
    const clashes: (readonly string[])[] = [];
    merged = mergeTrees(merged, file.value, [], clashes);
    const [clash] = clashes;
    if (clash !== undefined) throw await contradiction(clash, holderOf(files.slice(0, at), clash), file);
  }
  return merged;
}

/** Lists are one value each. */
function mergeTrees(
  one: unknown,
  other: unknown,
  path: readonly string[],
  clashes: (readonly string[])[],
): unknown {
  if (one === undefined || other === undefined) return one ?? other;
  if (!isTree(one) || !isTree(other)) {
    if (JSON.stringify(one) !== JSON.stringify(other)) clashes.push(path);
    return one;
  }
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      mergeTrees(valueAt(one, [key]), valueAt(other, [key]), [...path, key], clashes),
    ]),
  );
}

/** Values are not repeated: they may be secret. */
async function contradiction(path: readonly string[], first: Written, second: Written): Promise<RalphError> {
  const [one, other] = [writtenPath(first, path), writtenPath(second, path)];
  const places = `${await placeOf(first, one)} and ${await placeOf(second, other)}`;
  const names = [...new Set([one, other].map((each) => `"${each.join(".")}"`))].join(" and ");
  const what = names.includes(" and ") ? `${names} mean the same and have` : `${names} has`;
  return new RalphError("config", `${places}: ${what} different values`, { hint: "Keep only one of them." });
}

/** The file that has a key, or the nearest section around it. */
function holderOf(files: readonly Written[], path: readonly PropertyKey[]): Written {
  const holder = files.find(({ value }) => valueAt(value, path) !== undefined);
  if (holder !== undefined) return holder;
  if (path.length === 0) throw new Error("no configuration file");
  return holderOf(files, path.slice(0, -1));
}

/** The limit of trees that have one for every task; two that differ contradict each other. */
async function limitOf(files: readonly Written[]) {
  const [first, ...others] = files.flatMap((file) =>
    file.iterationsPerTask === null ? [] : [{ file, ...file.iterationsPerTask }],
  );
  const other = others.find(({ value }) => value !== first?.value);
  if (first !== undefined && other !== undefined)
    throw await contradiction(first.path, first.file, other.file);
  return first ?? null;
}

/** What the files alone come to; throws at the first mistake in them. */
async function check(
  files: readonly Written[],
  value: unknown,
  builtInAgents: readonly string[],
): Promise<Parsed> {
  const stray = files.filter((file) => !isTree(file.value));
  const holders = stray.length > 0 ? stray : files;
  const complain = async (path: readonly PropertyKey[], what: string): Promise<RalphError> => {
    const holder = holderOf(holders, path);
    const written = writtenPath(holder, path);
    const inItsWords = what.replace(`"${path.join(".")}"`, `"${written.join(".")}"`);
    return new RalphError("config", `${await placeOf(holder, written)}: ${inItsWords}`);
  };
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const { path } = explainIssues(issues, { schema: configSchema, value, notation: "toml" });
    const { notation } = holderOf(holders, path).text;
    throw await complain(path, explainIssues(issues, { schema: configSchema, value, notation }).text);
  }
  for (const [name, agent] of Object.entries(parsed.data.agents)) {
    const isKnown = builtInAgents.includes(agent.format ?? name) || acpCommand(name) !== null;
    if (agent.command !== undefined || isKnown) continue;
    const example = 'add for example: command = ["my-agent", "--yes"]';
    throw await complain(["agents", name], `the agent "${name}" has no command; ${example}`);
  }
  return parsed.data;
}

/** What the files and the variables come to. A wrong value is the variable's, since the files were checked alone. */
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

/** Undefined: no file says so. */
type OriginInFile = (path: readonly string[]) => string | undefined;

/** Every value of a configuration with its origin, in the order of the schema. */
function valuesOf(
  { maxIterationsPerTask: _ownLine, ...config }: Config,
  variables: Variables,
  originInFile: OriginInFile,
): readonly ConfigValue[] {
  const originOf = (path: readonly string[]): string => {
    const variable = variables.set.get(path.join("."));
    return variable === undefined ? (originInFile(path) ?? "default") : `env ${variable.name}`;
  };
  return [...leaves(config, [])].map(({ path, value }) => ({
    key: path.join("."),
    value: asWritten(path, value),
    origin: originOf(path),
  }));
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
