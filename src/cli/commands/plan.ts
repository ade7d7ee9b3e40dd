import { requireProgram, sayAgent } from "../../app/prepare-run.ts";
import { builtInAgents, pluginsOf } from "../../app/plugins.ts";
import { requireSandbox, agentsOf, keepAwakeOf } from "../../app/run-ports.ts";
import { type Project, openProject, readConfig, hearSignals, withLock } from "../../app/project.ts";
import { workspaceOf } from "../../app/git-parts.ts";
import { detectedSource } from "../../adapters/tasks/open-source.ts";
import { lastTranscript, prepareRalphFolder } from "../../adapters/files/ralph-folder.ts";
import { sweep } from "../../adapters/process/process-sweep.ts";
import { type TreeChanges, watchTree } from "../../adapters/git/workspace/own-checkout.ts";
import { asArgument } from "../../core/text.ts";
import { createHash } from "node:crypto";
import { relative } from "node:path";
import type { Command } from "commander";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import type { Act, CliContext } from "../commands.ts";
import { PlanFiles, requirePrd } from "../plan/plan-files.ts";
import { attemptLines, exitCodeOf, reportJson, reportLines, type PlanReport } from "../plan/plan-lines.ts";
import { LiveLine, progressText } from "../print/run-printer.ts";
import { quoted } from "../../core/views/run-lines.ts";
import { requireAgent } from "../../config/resolve-agents.ts";
import { resolveSettings } from "../../config/resolve-settings.ts";
import { duration, wholeNumber } from "../run-options.ts";
import { planPrompt } from "../../core/prompt/plan-prompt.ts";
import type { AgentReport, Failure } from "../../core/streams/agent-report.ts";
import {
  MODE_TIMEOUT_MS,
  type AgentSettings,
  type SandboxSettings,
  type Settings,
} from "../../core/settings.ts";
import type { Progress } from "../../engine/ports.ts";

interface Flags {
  readonly agent?: string;
  readonly model?: string;
  readonly timeout?: number;
  readonly attempts: number;
  readonly force?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[prd]", "the requirements; without it prd.md in .ralph or at the root")
    .option("--agent <name>", "who plans")
    .option("--model <name>", "which model the agent uses")
    .option("--timeout <duration>", "of each attempt, e.g. 90s, 45m, 2h", duration("--timeout"))
    .option(
      "--attempts <n>",
      "how often the agent may try until its plan is right",
      wholeNumber("--attempts"),
      3,
    )
    .option("--force", "make a new plan in place of the one that is there, which is kept beside it")
    .option("--json", "print JSON")
    .action(act(plan));
}

/** Lets the agent turn requirements into `tasks.json`, and believes only what can be checked of it. */
async function plan(context: CliContext, asked: string | undefined, flags: Flags): Promise<number> {
  const project = await openProject(context);
  const config = await readConfig(project);
  const identity = { kind: "tasks-json", label: "tasks.json", path: null } as const;
  const plugins = await pluginsOf(project, config);
  const known = [...builtInAgents(), ...plugins.agents];
  const { settings, commands } = resolveSettings(config, flags, identity, known);
  const agent = requireAgent(settings.agent, commands.agents);
  const prd = requirePrd(project, context.cwd, asked);
  const { sandbox = null } = commands;
  if (sandbox?.kind !== "docker") requireProgram(agent, project);
  await requireSandbox(project, sandbox, [agent]);
  return withLock(project, async () => {
    prepareRalphFolder(project.ralphDir);
    // An agent that outlived a killed process of ours would go on writing.
    await sweep(planMarker(project));
    const files = new PlanFiles(project, prd, flags.force === true);
    if (!context.json) sayAgent(agent, project, flags.agent);
    const { attempts } = flags;
    const made = await makePlan({ project, settings, sandbox, agent, files, attempts, context });
    // Another file may come first when a run looks for its tasks.
    const isFound = config.source === "auto" && detectedSource(project)?.path === files.planPath;
    const report: PlanReport = {
      ...made,
      files,
      logs: relative(project.root, project.ralphDir),
      agent: agent.name,
      run: isFound ? "ralph run" : `ralph run --source ${asArgument(files.planPath)}`,
      again: ["ralph plan", asked ?? [], files.hasOldPlan ? "--force" : []].flat().join(" "),
    };
    context.print(context.json ? JSON.stringify(reportJson(report)) : reportLines(report));
    return exitCodeOf(report.outcome);
  });
}

interface Planning {
  readonly project: Project;
  readonly settings: Settings;
  readonly sandbox: SandboxSettings | null;
  readonly agent: AgentSettings;
  readonly files: PlanFiles;
  readonly attempts: number;
  readonly context: CliContext;
}

/** Agents at work until there is a plan, or everything is as it was. Whoever calls has the project's lock. */
async function makePlan(planning: Planning): Promise<Pick<PlanReport, "attempts" | "outcome" | "draft">> {
  const { files } = planning;
  let attempts: readonly Attempt[] = [];
  let draft: string | null = null;
  try {
    files.keepOld();
    attempts = await letAgentTry(planning);
  } finally {
    const last = attempts.at(-1);
    if (last?.outcome.is !== "planned") draft = files.giveUp(last?.report.transcript.path ?? null);
  }
  return { attempts, outcome: attempts.at(-1)?.outcome ?? { is: "stopped" }, draft };
}

/** Until its plan is right, told each time what was wrong; answers every attempt. */
async function letAgentTry(planning: Planning): Promise<readonly Attempt[]> {
  const { project, agent, files, attempts, context, sandbox } = planning;
  const { version, say } = context;
  const screen = planScreen(context);
  const keepAwake = keepAwakeOf(project);
  const workspace = workspaceOf(project);
  const agents = agentsOf(
    {
      project,
      transcripts: "plan",
      onProgress: screen.progress,
      onAgentStart: () => keepAwake.hold(),
      ...(context.verbose && { onOutput: (text: string) => screen.output(text) }),
      version,
      sandbox,
    },
    () => workspace,
  );
  const leaveAtOnce = (): void =>
    void agents.sweep(planMarker(project)).finally(() => {
      files.putBackPrd(null);
      files.giveUp(null);
      process.exit(EXIT_CODES.stopped);
    });
  const interruption = hearSignals(() => say("stopping (again: stop at once)"), leaveAtOnce);
  try {
    screen.line(`ralph plan · ${files.prdPath} → ${files.planPath} · ${agent.name}`);
    const changes = await watchTree(project, files.own);
    const first = lastTranscript(project.ralphDir, "plan") + 1;
    const made: Attempt[] = [];
    for (let mistakes: readonly string[] = []; ;) {
      const ordinal = made.length + 1;
      const request = { ...requestFor(planning, ordinal, mistakes), iteration: first + made.length };
      const report = await agents.run(request, interruption.signal);
      const prdPutBack = files.putBackPrd(report.transcript.path);
      const outcome = outcomeOf(report, await changes(), files);
      const attempt = { ordinal, report, outcome, prdPutBack };
      made.push(attempt);
      for (const line of attemptLines(attempt, attempts)) screen.line(`  ${line}`);
      if (outcome.is !== "wrong" || ordinal === attempts || interruption.signal.aborted) return made;
      mistakes = outcome.mistakes;
    }
  } finally {
    interruption.release();
    keepAwake.release();
    screen.rest();
  }
}

/** Carried by every agent that plans in a project: by it one is found that a killed process of ours left running. */
function planMarker({ stateFolder }: Project): string {
  return `plan-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 16)}`;
}

/** Shows an agent at work: lasting lines, and on a terminal one that moves. With JSON nothing but that is printed. */
function planScreen({ stdout, style, json }: CliContext) {
  const live = stdout.isTTY && !json ? new LiveLine(stdout, style) : null;
  const write = (text: string): void => void (json || stdout.write(text));
  return {
    line(text: string): void {
      live?.stop();
      write(`${text}\n`);
    },
    progress: (progress: Progress): void => live?.show(progressText(progress)),
    output(text: string): void {
      live?.clear();
      write(style.dim(quoted(text)));
    },
    rest: (): void => live?.stop(),
  };
}

export type PlanOutcome =
  | ({ readonly is: "planned" } & Omit<Extract<ReturnType<PlanFiles["check"]>, { is: "right" }>, "is">)
  | { readonly is: "wrong"; readonly mistakes: readonly string[] }
  | { readonly is: "meddled"; readonly changes: TreeChanges }
  | { readonly is: "blocked"; readonly reason: string }
  | { readonly is: "undecided"; readonly question: string; readonly options: readonly string[] }
  | { readonly is: "failed"; readonly failure: Failure }
  | { readonly is: "stopped" };

/** One agent process and what came of it. */
export interface Attempt {
  readonly ordinal: number;
  readonly report: AgentReport;
  readonly outcome: PlanOutcome;
  /** That the requirements had changed and were put back. */
  readonly prdPutBack: string | null;
}

function requestFor(
  { agent, settings, files, attempts, project }: Planning,
  ordinal: number,
  mistakes: readonly string[],
) {
  const { prd, prdPath, planPath } = files;
  const isThere = files.hasOldPlan && ordinal === 1;
  const gates = settings.gates.map(({ command }) => command);
  return {
    agent,
    prompt: planPrompt({ prd, prdPath, planPath, isThere, gates, mistakes }),
    promise: { completion: "PLANNED", requireXml: true },
    run: "plan",
    task: "plan",
    stage: "plan",
    ordinal,
    maxIterations: attempts,
    about: { title: `Make a plan of ${prdPath}`, description: prd, criteria: [] },
    session: null,
    timeoutMs: settings.timeoutMs ?? MODE_TIMEOUT_MS[settings.mode],
    idleMs: settings.limits.idleMs,
    marker: planMarker(project),
    mayGetMessages: false,
    onGone: () => {},
  };
}

function outcomeOf(
  { ending, claim, failure }: AgentReport,
  changes: TreeChanges,
  files: PlanFiles,
): PlanOutcome {
  if (ending.is === "stopped") return { is: "stopped" };
  if (changes.paths.length > 0 || changes.headWas !== null) return { is: "meddled", changes };
  if (claim.is === "blocked") return { is: "blocked", reason: claim.reason };
  if (claim.is === "undecided") return { is: "undecided", question: claim.question, options: claim.options };
  if (failure !== null && failure.class !== "agent") return { is: "failed", failure };
  if (failure !== null)
    return { is: "wrong", mistakes: [`the agent did not come to its end: ${failure.message}`] };
  const checked = files.check();
  return checked.is === "right" ? { ...checked, is: "planned" } : checked;
}
