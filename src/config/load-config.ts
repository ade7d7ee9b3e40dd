import { acpCommand } from "../core/agent-named.ts";
import { RalphError } from "../core/ralph-error.ts";
import { lineOfPath } from "./config-text.ts";
import { explainIssues } from "./explain-issue.ts";
import { findConfig, type Written } from "./find-config.ts";
import { readVariables } from "./read-variables.ts";
import { valuesOf, type ConfigValue } from "./config-values.ts";
import { configSchema, type Config } from "./schema.ts";

const ITERATIONS_PER_TASK = 30;

export interface ConfigOptions {
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

/** What holds where nobody has configured anything. */
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
