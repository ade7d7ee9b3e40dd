import { PLAIN } from "../../core/agents.ts";
import { RalphError } from "../../core/errors.ts";
import { type FactRecorder, failureOf } from "../../core/streams/stream-facts.ts";
import type { AgentSettings, GateSettings } from "../../core/settings.ts";
import type { Advisers, TaskSource } from "../../engine/ports.ts";
import { advisersOf } from "./advisers.ts";
import { inWords, messageOf, type Part, type PartName } from "./ask-plugin.ts";
import { checkPlugin, type LoadedPlugin, loadPlugin } from "./load-plugin.ts";
import { pluginGateSettings } from "./plugin-gates.ts";
import { pluginSource } from "./plugin-source.ts";
import type { AgentFacts, Plugin, PluginAgent, PluginGate, PluginNotifier } from "./plugin.ts";

export interface Plugins {
  readonly names: readonly string[];
  /** Their files in the repository, relative to its root: an agent must not change who judges it. */
  readonly files: readonly string[];
  readonly agents: readonly AgentSettings[];
  readonly gates: readonly GateSettings[];
  readonly functions: readonly Part<PluginGate>[];
  readonly advisers: Advisers | undefined;
  readonly notifiers: readonly Part<PluginNotifier>[];
  source(name: string): TaskSource;
}

export interface OpenOptions {
  readonly root: string;
  readonly ralphDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** As the configuration has them. */
  readonly configured: readonly string[];
  /** Given by the program that runs us. */
  readonly given: readonly Plugin[];
  /** What "ralph" is for whoever imports it in a plugin. */
  readonly library: string;
  /** Names of agents that are taken. */
  readonly knownAgents: readonly string[];
  readonly warn: (text: string) => void;
  /** Called for each that is configured, with a part of the path of its files, before its code runs. */
  readonly onLoad: (shown: string, path: string) => void;
}

/** Loads all of them, or says which one is broken. */
export async function openPlugins(options: OpenOptions): Promise<Plugins> {
  const { root, env, warn } = options;
  const loaded: LoadedPlugin[] = [];
  for (const name of options.configured) loaded.push(await loadPlugin(name, options));
  for (const [at, plugin] of options.given.entries()) {
    const shown = `number ${at + 1} of those that were given`;
    loaded.push({ plugin: checkPlugin(plugin, shown), shown, file: null });
  }
  requireOwnNames(loaded);
  const plugins = loaded.map(({ plugin }) => plugin);
  const agents = partsOf(plugins, "agents", "agent");
  const sources = partsOf(plugins, "sources", "source");
  const gates = partsOf(plugins, "gates", "gate");
  for (const parts of [agents, sources, gates]) requireOneOfEach(parts);
  for (const { part } of agents) requireFree(part, options.knownAgents);
  return {
    names: plugins.map(({ name }) => name),
    files: loaded.flatMap(({ file }) => file ?? []),
    agents: agents.map(({ part, does }) => agentSettings(part, does, warn)),
    gates: gates.map(pluginGateSettings),
    functions: gates,
    advisers: advisersOf({
      ...options,
      analyzers: partsOf(plugins, "analyzers", "analyzer"),
      guards: partsOf(plugins, "guards", "guard"),
      exitRules: partsOf(plugins, "exitRules", "exit rule"),
    }),
    notifiers: partsOf(plugins, "notifiers", "notifier"),
    source(name) {
      const found = sources.find(({ part }) => part.name === name);
      if (found !== undefined) return pluginSource(found.part, found.does, { root, env, warn });
      const known = sources.map(({ part }) => part.name);
      throw new RalphError("no-tasks", `no plugin has a source "${name}"`, {
        hint: known.length === 0 ? "no plugin has any source" : `there are: ${known.join(", ")}`,
      });
    },
  };
}

type Kinds = Exclude<keyof Plugin, "apiVersion" | "name">;
type PartOf<Kind extends Kinds> = NonNullable<Plugin[Kind]>[string];

function partsOf<Kind extends Kinds>(
  plugins: readonly Plugin[],
  key: Kind,
  kind: PartName["kind"],
): readonly Part<PartOf<Kind>>[] {
  return plugins.flatMap((plugin) =>
    Object.entries(plugin[key] ?? {}).map(([name, does]) => ({
      part: { plugin: plugin.name, kind, name },
      does: does as PartOf<Kind>,
    })),
  );
}

function requireOwnNames(loaded: readonly LoadedPlugin[]): void {
  for (const [name, [first, second]] of Map.groupBy(loaded, ({ plugin }) => plugin.name))
    if (second !== undefined)
      throw new RalphError(
        "config",
        `the plugins ${first?.shown} and ${second.shown} are both called "${name}"`,
        {
          hint: "give each its own name, and list each only once",
        },
      );
}

/** Agents, sources and gates are called by their names alone. */
function requireOneOfEach(parts: readonly Part<unknown>[]): void {
  for (const [first, second] of Map.groupBy(parts, ({ part }) => part.name).values())
    if (first !== undefined && second !== undefined)
      throw new RalphError("config", `${inWords(second.part)} has the name of ${inWords(first.part)}`, {
        hint: "rename one of them, or use only one of the plugins",
      });
}

function requireFree(part: PartName, taken: readonly string[]): void {
  if (!taken.includes(part.name)) return;
  throw new RalphError("config", `${inWords(part)} has the name of an agent that is built in`, {
    hint: `call it otherwise: "my-${part.name}"`,
  });
}

function agentSettings(part: PartName, agent: PluginAgent, warn: (text: string) => void): AgentSettings {
  const { command, format = "text", env = {}, envDeny = [], createReader, tells = "nothing" } = agent;
  return {
    ...PLAIN,
    name: part.name,
    format,
    command,
    env,
    envDeny,
    ...(createReader && {
      lines: { tells, createReader: () => carefulReader(part, () => createReader(), warn) },
    }),
  };
}

/** What it cannot read is a line that nobody understands; that is said once for each process. */
function carefulReader(
  part: PartName,
  create: () => ReturnType<NonNullable<PluginAgent["createReader"]>>,
  warn: (text: string) => void,
): (line: string, recorder: FactRecorder) => boolean {
  let hasWarned = false;
  let read: ReturnType<typeof create> | null = null;
  return (line, recorder) => {
    try {
      read ??= create();
      read(line, agentFacts(recorder));
      return true;
    } catch (error) {
      if (!hasWarned) warn(`${inWords(part)} cannot read a line of its output: ${messageOf(error)}`);
      hasWarned = true;
      return false;
    }
  };
}

/** What JavaScript tells may be anything: a wrong type is the plugin's mistake, said when it is made. */
function agentFacts(recorder: FactRecorder): AgentFacts {
  return {
    says: (message) => recorder.says(text(message)),
    saysMore: (piece) => recorder.saysMore(text(piece)),
    startsTool: (id, name, files) =>
      recorder.startsTool({ id: text(id), name: text(name), ...(files && { files: files.map(text) }) }),
    endsTool: (id, isGood) => recorder.endsTool(text(id), isGood),
    writes: (paths) => recorder.writes(paths.map(text)),
    session: (id) => recorder.session(text(id)),
    model: (name) => recorder.model(text(name)),
    uses: ({ inputTokens, outputTokens, cacheReadTokens, costUsd }) =>
      recorder.uses({
        inputTokens: count(inputTokens),
        outputTokens: count(outputTokens),
        cacheReadTokens: count(cacheReadTokens),
        costUsd: count(costUsd),
      }),
    ends: (failure) =>
      recorder.ends(
        failure == null ? null : failureOf(text(failure.message), { status: count(failure.status) }),
      ),
  };
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`a text was expected, and ${JSON.stringify(value) ?? typeof value} was given`);
}

function count(value: unknown): number | null {
  if (value == null) return null;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`a number was expected, and ${JSON.stringify(value) ?? typeof value} was given`);
}
