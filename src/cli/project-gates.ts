import { builtInAgents, readConfig, sourceOf, type Project } from "../compose.ts";
import { pluginsOf, type Plugins } from "../compose-plugins.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { GateSettings } from "../core/settings.ts";
import type { CliContext } from "./commands.ts";
import { sourceRequest } from "./source-request.ts";
import { warnTo } from "./warn-to.ts";

export interface ProjectGates {
  readonly gates: readonly GateSettings[];
  /** Some of them may be functions of these. */
  readonly plugins: Plugins;
}

/** The gates that a run would have now, with their exact commands. Neither tasks nor an agent need be there. */
export async function projectGates(
  project: Project,
  checks: readonly string[],
  context: CliContext,
): Promise<ProjectGates> {
  const config = await readConfig(project, context.env);
  const plugins = await pluginsOf(project, { config, env: context.env, warn: warnTo(context, project) });
  const demanded = await demandedChecks(project, config, plugins, context);
  const agents = [...builtInAgents(), ...plugins.agents];
  const withoutAgents = { ...config, run: { ...config.run, fallback_agents: [] } };
  const { commands } = resolveSettings(
    withoutAgents,
    { check: [...demanded, ...checks], agent: agents[0]?.name ?? "" },
    { kind: "goal", label: "", path: null },
    agents,
    plugins,
  );
  return { gates: commands.gates, plugins };
}

async function demandedChecks(
  project: Project,
  config: Config,
  plugins: Plugins,
  { cwd, env }: CliContext,
): Promise<readonly string[]> {
  try {
    const request = sourceRequest(undefined, {}, config, { cwd, root: project.root, env });
    const source =
      request.is === "plugin" ? plugins.source(request.name) : (await sourceOf(project, request)).source;
    return (await source.demands()).checks;
  } catch (error) {
    // A project without tasks has gates all the same.
    if (error instanceof RalphError && error.code === "no-tasks") return [];
    throw error;
  }
}
