import { closest } from "../core/text.ts";
import { acpCommand, agentNamed, agentSection, PLAIN } from "../core/agents.ts";
import { RalphError } from "../core/errors.ts";
import type { AgentSettings } from "../core/settings.ts";
import type { StageSettings } from "../core/loop/stages.ts";
import { camelCase } from "../core/wire.ts";
import type { Config } from "./schema.ts";

/** Every agent that a run may use: those we know, changed and joined by those of the configuration. */
export function resolveAgents(
  config: Config,
  builtIn: readonly AgentSettings[],
  chosen: { readonly name: string; readonly model?: string | undefined },
): readonly AgentSettings[] {
  const byName = new Map(builtIn.map((agent) => [agent.name, agent]));
  for (const [name, agent] of Object.entries(config.agents))
    byName.set(name, agentSettings(name, agent, builtIn));
  const protocol = acpCommand(chosen.name) !== null && agentNamed(chosen.name, [...byName.values()]);
  if (protocol) byName.set(chosen.name, protocol);
  const prices = Object.fromEntries(
    Object.entries(config.prices).map(([model, price]) => [model, camelKeys(price)]),
  );
  return [...byName.values()].map((agent) => ({
    ...agent,
    ...(chosen.model !== undefined && agent.name === chosen.name && withModel(agent, chosen.model)),
    prices,
  }));
}

/** The key is named where it is not plain whose agent that is. */
export function requireAgent(name: string, agents: readonly AgentSettings[], key?: string): AgentSettings {
  const agent = agentNamed(name, agents);
  if (agent !== null) return agent;
  const where = key === undefined ? "" : `"${key}": `;
  if (name.startsWith("acp:"))
    throw new RalphError("no-agent", `${where}"${name}" names no command that could be started`, {
      hint: 'after acp: comes a command line, its quotes closed, such as "acp:gemini --acp"',
    });
  const names = agents.map((known) => known.name);
  const meant = closest(name, names);
  throw new RalphError(
    "no-agent",
    `${where}there is no agent called "${name}".${meant === null ? "" : ` Did you mean "${meant}"?`}`,
    {
      hint: `known here: ${names.join(", ")}; any other program: ${agentSection(name)} command = ["…"] in .ralph/ralph.toml`,
    },
  );
}

/** A stage's agent has to be known, and to take the stage's model. */
export function requireStageAgent(
  stage: Pick<StageSettings, "agent" | "model">,
  usual: string,
  agents: readonly AgentSettings[],
): void {
  const agent = requireAgent(stage.agent ?? usual, agents);
  if (stage.model !== null) withModel(agent, stage.model);
}

type AgentConfig = Config["agents"][string];

function agentSettings(name: string, agent: AgentConfig, builtIn: readonly AgentSettings[]): AgentSettings {
  const known = knownAgent(name, agent, builtIn);
  const script = agent.script === undefined ? {} : { RALPH_DEMO_SCRIPT: agent.script };
  const settings: AgentSettings = {
    ...PLAIN,
    name,
    format: agent.format ?? known?.format ?? (acpCommand(name) === null ? "text" : "acp"),
    command: agent.command ?? known?.command ?? null,
    args: agent.args,
    session: agent.session,
    permissions: agent.permission_mode,
    env: { ...agent.env, ...script },
    envDeny: agent.env_deny,
  };
  if (agent.args.length > 0) requireKnownCommand(settings, "args");
  if (agent.session === "resume") requireKnownCommand(settings, 'session = "resume"');
  if (agent.permission_mode !== "full") requireKnownCommand(settings, "permission_mode");
  return agent.model === undefined ? settings : withModel(settings, agent.model);
}

/** What an entry without a command of its own builds on. */
function knownAgent(
  name: string,
  agent: AgentConfig,
  builtIn: readonly AgentSettings[],
): Pick<AgentSettings, "format" | "command"> | undefined {
  if (agent.command !== undefined) return undefined;
  const command = acpCommand(name);
  if (command !== null) return { format: "acp", command };
  const known = builtIn.find((one) => one.name === (agent.format ?? name));
  if (known !== undefined) return known;
  throw new RalphError("config", `${agentSection(name)} has no command`, {
    hint: `add for example: command = ["my-agent", "--yes"]`,
  });
}

function withModel(agent: AgentSettings, model: string): AgentSettings {
  if (model.trim() === "") throw new RalphError("usage", "the model has no name");
  requireKnownCommand(agent, "a model");
  return { ...agent, model };
}

/** Into a command line of the operator's own we put nothing. */
function requireKnownCommand({ name, command, format }: AgentSettings, what: string): void {
  if (command === null || format === "acp") return;
  if (format === "demo")
    throw new RalphError("config", `the agent "${name}" follows its script and has no use for ${what}`, {
      hint: "choose another agent: --agent NAME",
    });
  throw new RalphError(
    "config",
    `the agent "${name}" has a command of its own, into which we cannot put ${what}`,
    { hint: `write it into the command of ${agentSection(name)}` },
  );
}

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Key;

/** The keys of a section as settings have them. */
export function camelKeys<Section extends object>(
  section: Section,
): { readonly [Key in keyof Section & string as Camel<Key>]: Section[Key] } {
  return camelCase(section) as ReturnType<typeof camelKeys<Section>>;
}
