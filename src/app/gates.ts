import { randomUUID } from "node:crypto";
import { missingProgram, type GatePlace } from "../adapters/gates/missing-program.ts";
import { createGates, sideBySide } from "../adapters/gates/shell-gates.ts";
import { withPluginGates } from "../adapters/plugins/plugin-gates.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import { RalphError } from "../core/errors.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { GateSettings } from "../core/settings.ts";
import type { GateResult } from "../core/verdict/checked-gate.ts";
import type { GatePlace as WorkPlace, Gates } from "../engine/ports.ts";
import { builtInAgents, type Plugins, pluginsOf } from "./plugins.ts";
import {
  driverOf,
  OWN_ROOT,
  type Project,
  readConfig,
  redactorOf,
  secretsOf,
  hearSignals,
} from "./project.ts";
import { sourceOf, sourceRequest } from "./task-lists.ts";

export interface ProjectGates {
  readonly gates: readonly GateSettings[];
  /** Some of them may be functions of these. */
  readonly plugins: Plugins;
}

export function allGatesOf(
  project: Project,
  redact: (text: string) => string,
  plugins: Plugins | undefined,
  atATime = 1,
): Gates {
  const place = gatePlace(project);
  const isBeside = atATime > 1;
  const shell = createGates({ ...place, redact, isBeside });
  const functions = plugins?.functions ?? [];
  const all = withPluginGates(shell, { functions, cwd: place.cwd, env: place.baseEnv, redact });
  return isBeside ? sideBySide(all, atATime) : all;
}

/** The program that a gate needs and this machine lacks; null when there is none. */
export async function missingProgramOf(project: Project, gate: GateSettings): Promise<string | null> {
  return gate.plugin === undefined ? missingProgram(gate, gatePlace(project)) : null;
}

function gatePlace({ root, env }: Project): GatePlace {
  return { cwd: root, baseEnv: withoutOwnSecrets(env), ownRoot: OWN_ROOT };
}

/** Removes every known secret from the output of gates that run outside of a run. */
export async function gateRedactor(
  project: Project,
  gates: readonly GateSettings[],
): Promise<(text: string) => string> {
  const own = createRedactor(secretsOf(project, { agents: [], gates }));
  const configured = await redactorOf(project);
  return (text) => configured(own(text));
}

/**
 * Runs gates one after another in the work tree as it is, and calls back after each. Ctrl-C ends the one that runs,
 * with everything it started; the answer is null then.
 */
export async function checkNow(
  project: Project,
  { gates, plugins }: ProjectGates,
  onResult: (result: GateResult, gate: GateSettings) => void = () => {},
  place?: WorkPlace,
): Promise<readonly GateResult[] | null> {
  const driver = driverOf(project);
  if (driver !== null)
    project.say(
      `a run is active (pid ${driver.pid ?? "unknown"}): what is checked here may change meanwhile`,
    );
  const runner = allGatesOf(project, await gateRedactor(project, gates), plugins);
  const marker = randomUUID();
  const interruption = hearSignals();
  try {
    const results: GateResult[] = [];
    for (const gate of gates) {
      const [result] = await runner.check([gate], marker, interruption.signal, place?.root, place?.prefix);
      if (interruption.signal.aborted || result === undefined) return null;
      results.push(result);
      onResult(result, gate);
    }
    return results;
  } finally {
    interruption.release();
  }
}

/** The gates that a run would have now, with their exact commands. Neither tasks nor an agent need be there. */
export async function projectGates(project: Project, checks: readonly string[]): Promise<ProjectGates> {
  const config = await readConfig(project);
  const plugins = await pluginsOf(project, config);
  const agents = [...builtInAgents(), ...plugins.agents];
  const withoutAgents = { ...config, run: { ...config.run, fallback_agents: [] } };
  const demanded = await demandedChecks(project, plugins);
  const { commands } = resolveSettings(
    withoutAgents,
    { check: [...demanded, ...checks], agent: agents[0]?.name ?? "" },
    { kind: "goal", label: "", path: null },
    agents,
    plugins,
  );
  return { gates: commands.gates, plugins };
}

async function demandedChecks(project: Project, plugins: Plugins): Promise<readonly string[]> {
  try {
    const request = sourceRequest(project, await readConfig(project));
    const source = request.is === "plugin" ? plugins.source(request.name) : sourceOf(project, request).source;
    return (await source.demands()).checks;
  } catch (error) {
    // A project without tasks has gates all the same.
    if (error instanceof RalphError && error.code === "no-tasks") return [];
    throw error;
  }
}
