import { asArgument } from "../../core/text.ts";
import { createHash } from "node:crypto";
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { PlanFiles, requirePrd, type PutBack } from "../plan/plan-files.ts";
import { attemptLines, exitCodeOf, reportJson, reportLines, type PlanReport } from "../plan/plan-lines.ts";
import { LiveLine, progressText, quoted } from "../print/run-printer.ts";
import { styleFor } from "../print/style.ts";
import { requireProgram } from "../prepare-run.ts";
import { sayAgent, warnTo } from "../warn-to.ts";
import { pluginsOf } from "../../compose-plugins.ts";
import { requireSandbox } from "../../compose-sandbox.ts";
import {
  agentsOf,
  builtInAgents,
  detectedSource,
  keepAwakeOf,
  lastTranscript,
  lockProject,
  openProject,
  prepareFolder,
  readConfig,
  sweep,
  watchTree,
  workspaceOf,
  type Project,
  type TreeChanges,
} from "../../compose.ts";
import { requireAgent } from "../../config/resolve-agents.ts";
import { resolveSettings } from "../../config/resolve-settings.ts";
import { retryAt } from "../../core/limits/iteration-timeout.ts";
import type { Task } from "../../core/plan/task.ts";
import { planPrompt } from "../../core/prompt/plan-prompt.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { AgentReport, Failure } from "../../core/report/agent-report.ts";
import {
  MODE_TIMEOUT_MS,
  type AgentSettings,
  type SandboxSettings,
  type Settings,
} from "../../core/settings.ts";
import type { Agents, Progress } from "../../engine/ports.ts";

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
  return isFound ? "ralph run" : `ralph run --source ${asArgument(planPath)}`;
}

function tell(report: PlanReport, asJson: boolean, { stdout }: CliContext): number {
  const lines = asJson ? [JSON.stringify(reportJson(report))] : reportLines(report);
  for (const line of lines) stdout.write(`${line}\n`);
  return exitCodeOf(report.outcome);
}

interface PlanDrive {
  readonly project: Project;
  readonly settings: Settings;
  readonly sandbox: SandboxSettings | null;
  readonly agent: AgentSettings;
  readonly files: PlanFiles;
  readonly attempts: number;
  readonly asJson: boolean;
  readonly context: CliContext;
}

/** Agents at work until there is a plan, or everything is as it was. Whoever calls has the project's lock. */
async function drivePlan(drive: PlanDrive): Promise<Omit<PlanReport, "run" | "again">> {
  const { project, agent, files } = drive;
  let made: readonly Attempt[] = [];
  let draft: string | null = null;
  try {
    files.keepOld();
    made = await letAgentsTry(drive);
  } finally {
    const last = made.at(-1);
    if (last?.outcome.is !== "planned") draft = files.giveUp(last?.report.transcript.path ?? null);
  }
  return {
    prdPath: files.prdPath,
    planPath: files.planPath,
    logs: relative(project.root, project.ralphDir),
    agent: agent.name,
    attempts: made,
    outcome: made.at(-1)?.outcome ?? { is: "stopped" },
    backup: files.backup,
    draft,
  };
}

async function letAgentsTry(drive: PlanDrive): Promise<readonly Attempt[]> {
  const { project, agent, files, attempts, settings, context } = drive;
  const screen = planScreen(context, drive.asJson);
  const keepAwake = keepAwakeOf(context);
  const { env, version } = context;
  const workspace = workspaceOf(project);
  const agents = agentsOf(
    {
      project,
      transcripts: "plan",
      onProgress: screen.progress,
      onAgentStart: () => keepAwake.hold(),
      ...(context.verbose && { onOutput: screen.output }),
      env,
      version,
      sandbox: drive.sandbox,
    },
    () => workspace,
  );
  const marker = planMarker(project);
  const stop = stopOnSignal(context.stderr, async () => {
    await agents.sweep(marker);
    files.putBackPrd(null);
    files.giveUp(null);
  });
  try {
    screen.line(`ralph plan · ${files.prdPath} → ${files.planPath} · ${agent.name}`);
    const changes = await watchTree(project, files.own);
    return await makePlan({
      agents,
      agent,
      settings,
      files,
      attempts,
      lastNumber: lastTranscript(project.ralphDir, "plan"),
      marker,
      changes,
      signal: stop.signal,
      onAttempt: (attempt, waitMs) => {
        for (const line of attemptLines(attempt, { attempts, prdPath: files.prdPath, waitMs }))
          screen.line(`  ${line}`);
      },
    });
  } finally {
    stop.release();
    keepAwake.release();
    screen.rest();
  }
}

/** Carried by every agent that plans in a project: by it one is found that a killed process of ours left running. */
function planMarker({ stateFolder }: Project): string {
  return `plan-${createHash("sha256").update(stateFolder).digest("hex").slice(0, 16)}`;
}

/** Shows an agent at work, for whoever looks on: lasting lines, and on a terminal one that moves. */
interface PlanScreen {
  line(text: string): void;
  readonly progress: (progress: Progress) => void;
  readonly output: (text: string) => void;
  rest(): void;
}

/** With JSON on stdout nothing else is printed there. */
function planScreen({ stdout, env }: CliContext, isJson: boolean): PlanScreen {
  if (isJson) return { line: () => {}, progress: () => {}, output: () => {}, rest: () => {} };
  const style = styleFor(stdout, env);
  const live = stdout.isTTY ? new LiveLine(stdout, style) : null;
  return {
    line(text) {
      live?.stop();
      stdout.write(`${text}\n`);
    },
    progress: (progress) => live?.show(progressText(progress)),
    output(text) {
      live?.clear();
      stdout.write(style.dim(quoted(text)));
    },
    rest: () => live?.stop(),
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

interface StopOnSignal {
  readonly signal: AbortSignal;
  /** Takes the handlers away again. */
  release(): void;
}

/** Once: whoever works is asked to stop. Twice: at once, after `leave`. */
function stopOnSignal(stderr: NodeJS.WriteStream, leave: () => Promise<unknown>): StopOnSignal {
  const controller = new AbortController();
  const handle = (): void => {
    if (controller.signal.aborted) {
      void leave().finally(() => process.exit(INTERRUPTED));
      return;
    }
    stderr.write("ralph: stopping (again: stop at once)\n");
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    signal: controller.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}

export type PlanOutcome =
  | {
      readonly is: "planned";
      readonly tasks: readonly Task[];
      readonly checks: readonly string[];
      readonly branch: string | null;
    }
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
  /** The requirements had changed, and were put back. */
  readonly prdPutBack: PutBack | null;
}

interface Planning {
  readonly agents: Agents;
  readonly agent: AgentSettings;
  readonly settings: Settings;
  readonly files: PlanFiles;
  readonly attempts: number;
  /** Of the last agent that made a plan; transcripts are numbered on. */
  readonly lastNumber: number;
  readonly marker: string;
  readonly changes: () => Promise<TreeChanges>;
  /** With the pause before the next one, if there is a next one. */
  readonly onAttempt: (attempt: Attempt, waitMs: number | null) => void;
  readonly signal: AbortSignal;
}

/** Lets the agent try until its plan is right, told each time what was wrong; answers every attempt. */
async function makePlan(planning: Planning): Promise<readonly Attempt[]> {
  const { signal, lastNumber, onAttempt } = planning;
  const made: Attempt[] = [];
  let now: Try = { ordinal: 1, number: lastNumber + 1, mistakes: [], retries: 0 };
  for (;;) {
    const attempt = await tryOnce(planning, now);
    const next = signal.aborted ? null : nextTry(now, attempt.outcome, planning);
    made.push(attempt);
    onAttempt(attempt, next?.waitMs ?? null);
    // Whoever stops us while we wait ends the planning; the next agent is then not started.
    if (next !== null) await sleep(next.waitMs, null, { signal }).catch(() => {});
    if (next === null) return made;
    if (signal.aborted) return [...made.slice(0, -1), { ...attempt, outcome: { is: "stopped" } }];
    now = next;
  }
}

interface Try {
  readonly ordinal: number;
  /** Of the transcript. */
  readonly number: number;
  /** Of the attempt before. */
  readonly mistakes: readonly string[];
  /** After failures that waiting can mend; they do not count as attempts. */
  readonly retries: number;
}

function nextTry(
  { ordinal, number, mistakes, retries }: Try,
  outcome: PlanOutcome,
  { attempts, settings }: Planning,
): (Try & { readonly waitMs: number }) | null {
  if (outcome.is === "wrong" && ordinal < attempts)
    return { ordinal: ordinal + 1, number: number + 1, mistakes: outcome.mistakes, retries, waitMs: 0 };
  const isTransient = outcome.is === "failed" && outcome.failure.class === "transient";
  if (!isTransient || retries >= settings.limits.retries) return null;
  const waitMs = retryAt(0, retries + 1, number);
  return { ordinal, number: number + 1, mistakes, retries: retries + 1, waitMs };
}

async function tryOnce(planning: Planning, { ordinal, number, mistakes }: Try): Promise<Attempt> {
  const { agents, agent, settings, files, signal } = planning;
  const prompt = planPrompt({
    prd: files.prd,
    prdPath: files.prdPath,
    planPath: files.planPath,
    isThere: files.hasOldPlan && ordinal === 1,
    gates: settings.gates.map(({ command }) => command),
    mistakes,
  });
  const report = await agents.run(
    {
      agent,
      prompt,
      promise: { completion: "PLANNED", requireXml: true },
      run: "plan",
      task: "plan",
      stage: "plan",
      iteration: number,
      ordinal,
      maxIterations: planning.attempts,
      about: { title: `Make a plan of ${files.prdPath}`, description: files.prd, criteria: [] },
      session: null,
      timeoutMs: settings.timeoutMs ?? MODE_TIMEOUT_MS[settings.mode],
      idleMs: settings.limits.idleMs,
      marker: planning.marker,
      mayGetMessages: false,
      onGone: () => {},
    },
    signal,
  );
  const prdPutBack = files.putBackPrd(report.transcript.path);
  return { ordinal, report, prdPutBack, outcome: await outcomeOf(planning, report) };
}

async function outcomeOf({ files, changes }: Planning, report: AgentReport): Promise<PlanOutcome> {
  const { ending, claim, failure } = report;
  if (ending.is === "stopped") return { is: "stopped" };
  const since = await changes();
  if (since.paths.length > 0 || since.headWas !== null) return { is: "meddled", changes: since };
  if (claim.is === "blocked") return { is: "blocked", reason: claim.reason };
  if (claim.is === "undecided") return { is: "undecided", question: claim.question, options: claim.options };
  if (failure !== null) {
    if (failure.class !== "agent") return { is: "failed", failure };
    return { is: "wrong", mistakes: [`the agent did not come to its end: ${failure.message}`] };
  }
  const checked = files.check();
  return checked.is === "right" ? { ...checked, is: "planned" } : checked;
}
