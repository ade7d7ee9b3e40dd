import {
  accountOf,
  askProgram,
  builtInAgents,
  capabilitiesOf,
  findProgram,
  PROGRAM_FACTS,
  type Project,
} from "../../compose.ts";
import { requireAgent, resolveAgents } from "../../config/resolve-agents.ts";
import { resolveStages } from "../../config/resolve-stages.ts";
import type { Config } from "../../config/schema.ts";
import { agentNamed } from "../../core/agent-named.ts";
import { onlyPretends } from "../../core/demo/only-pretends.ts";
import { isProgramFormat } from "../../core/known-programs.ts";
import type { AgentSettings } from "../../core/settings.ts";
import { agentsOfStages } from "../../core/stages/stages.ts";
import type { CliContext } from "../commands.ts";
import { programOf } from "../project-state.ts";
import { problem, type Finding } from "./finding.ts";

/** Every agent that could work here. Only those that a run would use have to be well. */
export async function agentFindings(
  config: Config,
  { root }: Project,
  { env }: CliContext,
): Promise<readonly Finding[]> {
  const staged = agentsOfStages({ agent: config.agent, stages: resolveStages(config) ?? [] });
  const used = [...new Set([...staged, ...config.run.fallback_agents])];
  try {
    const agents = resolveAgents(config, builtInAgents(), { name: config.agent });
    // Those that are named by their command are in no list.
    const isPlugins = (name: string): boolean =>
      config.plugins.length > 0 && agentNamed(name, agents) === null;
    const others = used
      .filter((name) => !isPlugins(name))
      .map((name) => requireAgent(name, agents))
      .filter((agent) => !agents.includes(agent));
    const known = await Promise.all(
      [...agents, ...others].map((agent) => agentFinding(agent, used.includes(agent.name), root, env)),
    );
    return [...known, ...used.filter(isPlugins).map(pluginsAgent)];
  } catch (error) {
    return [problem(`agent ${config.agent}`, error)];
  }
}

/** Which agents plugins have is known only when they are loaded. */
function pluginsAgent(name: string): Finding {
  return {
    name: `agent ${name}`,
    well: true,
    found: "not built in: a plugin has to bring it along",
    advice: null,
  };
}

async function agentFinding(
  agent: AgentSettings,
  isUsed: boolean,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  const name = `agent ${agent.name}`;
  const program = programOf(agent);
  const path = findProgram(program, root, env);
  const facts = agent.command === null && isProgramFormat(agent.format) ? PROGRAM_FACTS[agent.format] : null;
  if (path === null) {
    const advice = facts?.install ?? `install ${program}, or take ${agent.name} out of .ralph/ralph.toml`;
    const others = isUsed || facts === null;
    return {
      name,
      well: !others,
      found: others ? `${program} is not installed` : `not installed (${advice})`,
      advice,
    };
  }
  if (facts === null) {
    const found = onlyPretends(agent) ? "built in; it only pretends to work" : path;
    return { name, well: true, found, advice: null };
  }
  const account = accountOf(agent, env);
  const version = (await askProgram(path, ["--version"], { cwd: root, env }))?.split("\n")[0];
  const tried = version?.includes(facts.triedVersion) === true ? "" : ` (tried with ${facts.triedVersion})`;
  const parts = [
    version === undefined ? "does not tell its version" : `${version}${tried}`,
    path,
    account === null ? "account not known" : account.isThere ? `uses ${account.says}` : account.says,
    abilitiesOf(agent),
  ];
  const well = version !== undefined && (account?.isThere ?? true);
  return {
    name,
    well: well || !isUsed,
    found: parts.join(" · "),
    advice: version === undefined ? facts.install : facts.login,
  };
}

function abilitiesOf(agent: AgentSettings): string {
  const { resumes, takesMessages, takesMcpServers, tells } = capabilitiesOf(agent);
  const abilities = [
    resumes && "resumes sessions",
    takesMcpServers && "gets our tools",
    takesMessages && "takes messages while it runs",
    tells !== "nothing" && `tells its ${tells}`,
  ];
  return abilities.filter((ability) => ability !== false).join(", ");
}
