import { builtInAgents, readConfig, sourceOf, type Project } from "../compose.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { GateSettings } from "../core/settings.ts";
import type { CliContext } from "./commands.ts";
import { sourceRequest } from "./source-request.ts";

/** The gates that a run would have now, with their exact commands. Neither tasks nor an agent need be there. */
export async function projectGates(
  project: Project,
  checks: readonly string[],
  context: CliContext,
): Promise<readonly GateSettings[]> {
  const config = await readConfig(project, context.env);
  const demanded = await demandedChecks(project, config, context);
  const agents = builtInAgents();
  const withoutAgents = { ...config, run: { ...config.run, fallback_agents: [] } };
  const { commands } = resolveSettings(
    withoutAgents,
    { check: [...demanded, ...checks], agent: agents[0]?.name ?? "" },
    { kind: "goal", label: "", path: null },
    agents,
  );
  return commands.gates;
}

async function demandedChecks(
  project: Project,
  config: Config,
  { cwd, env }: CliContext,
): Promise<readonly string[]> {
  try {
    const request = sourceRequest(undefined, {}, config, { cwd, root: project.root, env });
    const { source } = await sourceOf(project, request);
    return (await source.demands()).checks;
  } catch (error) {
    // A project without tasks has gates all the same.
    if (error instanceof RalphError && error.code === "no-tasks") return [];
    throw error;
  }
}
