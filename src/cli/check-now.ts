import { few } from "../core/text.ts";
import { formatDuration } from "../core/time.ts";
import { randomUUID } from "node:crypto";
import type { CliContext } from "./commands.ts";
import { wrap, type Style } from "./print/style.ts";
import { sourceRequest } from "./run-options.ts";
import { warnTo } from "./warn-to.ts";
import { gatesOf } from "../compose-gates.ts";
import { pluginsOf, type Plugins } from "../compose-plugins.ts";
import { builtInAgents, driverOf, readConfig, sourceOf, type Project } from "../compose.ts";
import { resolveSettings } from "../config/resolve-settings.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/ralph-error.ts";
import { outcomeOf, whyMissing, type GateResult } from "../core/report/checked-gate.ts";
import type { GateSettings } from "../core/settings.ts";
import type { GatePlace } from "../engine/ports.ts";

/** What an interrupted program answers, by custom. */
export const INTERRUPTED = 130;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs gates one after another in the work tree as it is, and tells of each when it is done. Ctrl-C ends the one that
 * runs, with everything it started; the answer is null then.
 */
export async function checkNow(
  project: Project,
  { gates, plugins }: ProjectGates,
  context: CliContext,
  onResult: (result: GateResult, gate: GateSettings) => void = () => {},
  place?: GatePlace,
): Promise<readonly GateResult[] | null> {
  const driver = driverOf(project);
  if (driver !== null)
    context.stderr.write(
      `ralph: a run is active (pid ${driver.pid ?? "unknown"}): what is checked here may change meanwhile\n`,
    );
  const { gates: runner } = await gatesOf(project, context.env, gates, plugins);
  const marker = randomUUID();
  const interruption = new AbortController();
  const stop = (): void => interruption.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
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
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

interface ProjectGates {
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

const TAIL_LINES = 20;

/** How one gate ended; of a failing one also the end of its output. */
export function gateLines(result: GateResult, style: Style): readonly string[] {
  const { name, status, required, onMissing } = result;
  const time = formatDuration(result.durationMs);
  const tries = result.tries > 1 ? `, ${result.tries} tries` : "";
  const optional = required ? "" : " (not required)";
  switch (status) {
    case "passed":
      return [`${style.good("✔")} ${name} passed ${time}${tries}`];
    case "missing":
    case "skipped": {
      const isRed = onMissing === "fail";
      const allowed = isRed ? optional : ` (on_missing = ${onMissing})`;
      return [`${isRed ? style.bad("✗") : "–"} ${name} can't run: ${whyMissing(result)}${allowed}`];
    }
    case "timeout":
      return [`${style.bad("✗")} ${name} timed out ${time}${tries}${optional}`, ...endOf(result, style)];
    case "failed": {
      const why = result.unmet ?? `exit ${result.exitCode ?? "unknown"}`;
      return [`${style.bad("✗")} ${name} failed ${why} ${time}${tries}${optional}`, ...endOf(result, style)];
    }
  }
}

function endOf(result: GateResult, style: Style): readonly string[] {
  const { failures } = outcomeOf(result);
  const names = failures.length === 0 ? [] : wrap("  failing: ", few(failures, 10));
  return [...names, ...tailLines(result.tail, style)];
}

/** The last lines of an output, set apart from ours. */
export function tailLines(output: string, style: Style, most = TAIL_LINES): readonly string[] {
  const lines = output.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.slice(-most).map((line) => style.dim(`  │ ${line}`));
}
