import type { Command } from "commander";
import {
  builtInAgents,
  detectedSource,
  lockProject,
  openProject,
  prepareFolder,
  readConfig,
  sweep,
  type Project,
} from "../../compose.ts";
import { pluginsOf } from "../../compose-plugins.ts";
import { requireSandbox } from "../../compose-sandbox.ts";
import { requireAgent } from "../../config/resolve-agents.ts";
import { resolveSettings } from "../../config/resolve-settings.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { drivePlan } from "../plan/drive-plan.ts";
import { requirePrd } from "../plan/find-prd.ts";
import { planMarker } from "../plan/plan-marker.ts";
import { PlanFiles } from "../plan/plan-files.ts";
import { reportJson } from "../plan/plan-json.ts";
import { reportLines } from "../plan/plan-lines.ts";
import { exitCodeOf, type PlanReport } from "../plan/plan-report.ts";
import { requireProgram } from "../project-state.ts";
import { sayAgent } from "../say-agent.ts";
import { warnTo } from "../warn-to.ts";

interface Flags {
  readonly agent?: string;
  readonly model?: string;
  readonly timeout?: string;
  readonly attempts: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[prd]", "the requirements; without it prd.md in .ralph or at the root")
    .option("--agent <name>", "who plans")
    .option("--model <name>", "which model the agent uses")
    .option("--timeout <duration>", "of each attempt, e.g. 90s, 45m, 2h")
    .option("--attempts <n>", "how often the agent may try until its plan is right", "3")
    .option("--force", "make a new plan in place of the one that is there, which is kept beside it")
    .option("--json", "print JSON")
    .action((prd: string | undefined, flags: Flags) => act((context) => plan(prd, flags, context)));
}

/** Lets the agent turn requirements into `tasks.json`, and believes only what can be checked of it. */
async function plan(asked: string | undefined, flags: Flags, context: CliContext): Promise<number> {
  const attempts = attemptsOf(flags.attempts);
  const asJson = flags.json === true;
  const project = await openProject(context);
  const config = await readConfig(project, context.env);
  const identity = { kind: "tasks-json", label: "tasks.json", path: null } as const;
  const plugins = await pluginsOf(project, { config, env: context.env, warn: warnTo(context, project) });
  const known = [...builtInAgents(), ...plugins.agents];
  const { settings, commands } = resolveSettings(config, flags, identity, known);
  const agent = requireAgent(settings.agent, commands.agents);
  const prd = requirePrd(project, context.cwd, asked);
  const { sandbox = null } = commands;
  if (sandbox?.kind !== "docker") requireProgram(agent, project.root, context.env);
  await requireSandbox(project, sandbox, [agent], context.env);
  const lock = lockProject(project);
  try {
    prepareFolder(project);
    // An agent that outlived a killed process of ours would go on writing.
    await sweep(planMarker(project));
    const files = new PlanFiles(project, prd, flags.force === true);
    if (!asJson) sayAgent(agent, context, flags.agent);
    const report = await drivePlan({
      project,
      settings,
      sandbox,
      agent,
      files,
      attempts,
      asJson,
      context,
    });
    const run = runCommand(project, config.source, files.planPath);
    const again = [
      "ralph plan",
      ...(asked === undefined ? [] : [asked]),
      ...(files.hasOldPlan ? ["--force"] : []),
    ];
    return tell({ ...report, run, again: again.join(" ") }, asJson, context);
  } finally {
    lock.release();
  }
}

function attemptsOf(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RalphError("usage", `--attempts is "${text}"; expected a whole number of at least 1`);
}

/** Another file may come first when a run looks for its tasks. */
function runCommand(project: Project, source: string, planPath: string): string {
  const isFound = source === "auto" && detectedSource(project)?.path === planPath;
  return isFound ? "ralph run" : `ralph run --source ${planPath}`;
}

function tell(report: PlanReport, asJson: boolean, { stdout }: CliContext): number {
  const lines = asJson ? [JSON.stringify(reportJson(report))] : reportLines(report);
  for (const line of lines) stdout.write(`${line}\n`);
  return exitCodeOf(report.outcome);
}
