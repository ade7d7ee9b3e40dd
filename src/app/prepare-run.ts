import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { capabilitiesOf } from "../adapters/agents/adapters.ts";
import { accountOf } from "../adapters/agents/programs/accounts.ts";
import { installCommand } from "../adapters/agents/programs/program-belongings.ts";
import { createNotes } from "../adapters/files/notes.ts";
import { configurationGlobs } from "../adapters/git/workspace/put-back.ts";
import { ralphPrefixOf } from "../adapters/git/workspace/checkout.ts";
import { findProgram } from "../adapters/process/process-table.ts";
import { areListsTouched, restoreLists } from "../adapters/tasks/operators-list.ts";
import { resolveSettings, type RunFlags } from "../config/resolve-settings.ts";
import type { Config } from "../config/schema.ts";
import { agentNamed, agentSection } from "../core/agents.ts";
import { onlyPretends } from "../core/demo/demo-usage.ts";
import { RalphError } from "../core/errors.ts";
import { literalGlob } from "../core/glob.ts";
import { agentsOfStages, stagesOf } from "../core/loop/stages.ts";
import type { Plan, Task, TaskId } from "../core/plan.ts";
import { templateProblem } from "../core/prompt/build-prompt.ts";
import { REVIEW_MODES, reviewOf } from "../core/review/story-review.ts";
import type { AgentSettings, Commands, GateSettings, ProtectSettings, Settings } from "../core/settings.ts";
import { isListGuarded } from "../core/views/inbox.ts";
import { type RunPlan, runPlan } from "../core/views/run-plan.ts";
import type { Notes, TaskSource } from "../engine/ports.ts";
import { missingProgramOf } from "./gates.ts";
import { builtInAgents, type Plugin, type Plugins, pluginsOf } from "./plugins.ts";
import {
  type Caller,
  isDriven,
  openProject,
  type Project,
  readConfig,
  readConfigWithOrigins,
} from "./project.ts";
import { meantId, readState, unknownTask } from "./project-log.ts";
import { requireSandbox, warnOfDaemons } from "./run-ports.ts";
import { roadmapDefaults, sourceOf, sourceRequest, type SourceFlags } from "./task-lists.ts";

/** Everything about a run that is known before it starts. */
export interface Prepared {
  readonly project: Project;
  readonly settings: Settings;
  readonly commands: Commands;
  readonly source: TaskSource;
  /** The files of the project's own list, where the run is about something else. */
  readonly otherLists: readonly string[];
  /** So many tasks it has, done or not. */
  readonly tasks: number;
  /** Why this source, as a sentence for the operator. */
  readonly why: string;
  readonly notes: Notes;
  /** Those that will work, as far as one can know; the run's own first. */
  readonly agents: readonly AgentSettings[];
  readonly plugins: Plugins;
  /** How long what agents say is kept. */
  readonly keepDays: number;
  /** How a worktree is made ready. */
  readonly worktree: { readonly setup: string; readonly include: readonly string[] };
  /** The branch that the source wants the work on. */
  readonly branch: string | null;
}

/** Finds the project, reads its configuration and opens its source; starts nothing, and writes only lists back. */
export async function prepareRun(
  goal: string | undefined,
  flags: RunFlags & SourceFlags,
  caller: Caller,
  given?: readonly Plugin[],
): Promise<Prepared> {
  const project = await openProject(caller);
  await restoreTouchedLists(project);
  const config = await readConfig(project);
  const request = sourceRequest(project, config, flags, { goal, cwd: caller.cwd });
  const plugins = await pluginsOf(project, config, given);
  const { source, why } =
    request.is === "plugin"
      ? { source: plugins.source(request.name), why: `the tasks: the source "${request.name}" of a plugin` }
      : sourceOf(project, request, roadmapDefaults(flags));
  // A plan that cannot be worked on is refused before anything is written.
  const { tasks } = await source.observe();
  const { checks, branch } = await source.demands();
  const check = [...checks, ...(flags.check ?? [])];
  const withChecks = { ...flags, check, task: flags.task?.map((asked) => taskOf(asked, tasks)) };
  const known = [...builtInAgents(), ...plugins.agents];
  const { settings, commands } = resolveSettings(config, withChecks, source.identity, known, plugins);
  for (const task of tasks) requireKnownAgent(task, commands.agents);
  requireOneLaneForReviews(settings, tasks);
  const agents = agentsOf(settings, tasks, commands.agents);
  requireKnownCosts(settings, agents);
  const promptTemplate = readPromptTemplate(project);
  const stages = settings.stages?.map((stage) => ({
    ...stage,
    template: readPromptTemplate(project, stage.name),
  }));
  const modeTemplates = Object.fromEntries(
    REVIEW_MODES.map((mode) => [mode, readPromptTemplate(project, mode)]).filter(([, text]) => text !== null),
  );
  return {
    project,
    settings: {
      ...settings,
      promptTemplate,
      modeTemplates,
      ...(stages && { stages }),
      protect: withOwnProtection(project, settings, plugins.files),
    },
    commands,
    source,
    otherLists: request.is === "goal" ? await listFiles(project, config) : [],
    tasks: tasks.length,
    why,
    notes: createNotes(project.ralphDir, project.root),
    agents,
    plugins,
    keepDays: config.logs.keep_days,
    worktree: config.worktree,
    branch,
  };
}

/** What an agent made of a list when its Ralph was killed must not be read as the operator's. */
async function restoreTouchedLists(project: Project): Promise<void> {
  if (!areListsTouched(project) || (await isDriven(project))) return;
  if (isListGuarded(await readState(project))) restoreLists(project);
}

/** None where there is no list, or one that cannot be read: a goal needs none. */
async function listFiles(project: Project, config: Config): Promise<readonly string[]> {
  const request = sourceRequest(project, config);
  if (request.is !== "auto" && request.is !== "file") return [];
  try {
    const { source } = sourceOf(project, request);
    return source.files.map(({ path }) => path);
  } catch {
    return [];
  }
}

/** What the run would do; `plan` is what its source has now. */
export function planOf({ settings, commands, agents }: Prepared, plan: Plan): RunPlan {
  return runPlan(plan, settings, { agents: agents.map(({ name }) => name), gates: commands.gates });
}

/** Whoever may get work. Where each stage has its own agent, nobody is left over for the usual one. */
function agentsOf(
  settings: Settings,
  tasks: readonly Task[],
  known: readonly AgentSettings[],
): readonly AgentSettings[] {
  const { agent, fallbackAgents, verify } = settings;
  const open = tasks.filter(({ done }) => !done);
  const wanted = open.flatMap((task) => task.agent ?? []);
  const reviewed = open.some((task) => reviewOf(settings, task) !== null) ? [agent] : [];
  const reader = verify?.reader === "never" ? [] : [verify?.readerAgent ?? []].flat();
  const names = new Set([...agentsOfStages(settings), ...reviewed, ...fallbackAgents, ...wanted, ...reader]);
  return [...names].flatMap((name) => agentNamed(name, known) ?? []);
}

/** A budget that nobody can keep is refused, not forgotten. */
function requireKnownCosts(settings: Settings, agents: readonly AgentSettings[]): void {
  const { run, task, day } = settings.limits.budget;
  if (run === null && task === null && day === null) return;
  for (const agent of agents) requirePrice(agent, settings);
  const silent = agents.find((agent) => capabilitiesOf(agent).tells === "nothing");
  if (silent === undefined) return;
  throw new RalphError(
    "config",
    `there is a budget, and the agent "${silent.name}" tells neither what it costs nor how many tokens it uses, so no price helps`,
    { hint: "take the budget away, or choose an agent that tells it: --agent NAME" },
  );
}

/** Tokens alone are no cost: where the model is known it needs a price, and where it is not, there must be some. */
function requirePrice(agent: AgentSettings, settings: Settings): void {
  // An agent of the protocol may well tell its cost, but only when it runs.
  if (capabilitiesOf(agent).tells !== "tokens" || agent.format === "acp") return;
  const staged = stagesOf(settings).filter((stage) => (stage.agent ?? settings.agent) === agent.name);
  const asked = [agent.model, ...staged.map((stage) => stage.model), readerModelOf(agent, settings)];
  const models = asked.filter((model) => model !== null);
  const unpriced = models.find((model) => !Object.hasOwn(agent.prices, model));
  const hasNone = models.length === 0 && Object.keys(agent.prices).length === 0;
  if (unpriced === undefined && !hasNone) return;
  const section = `[prices.${JSON.stringify(unpriced ?? "MODEL")}]`;
  throw new RalphError(
    "config",
    `there is a budget, and the agent "${agent.name}" tells its tokens, but no price says what ${unpriced === undefined ? "they" : `those of ${unpriced}`} cost`,
    { hint: `add ${section} with input_per_mtok and output_per_mtok, or take the budget away` },
  );
}

/** With which the agent may be asked to read; null: with the one that it has, or never. */
function readerModelOf({ name }: AgentSettings, { verify }: Settings): string | null {
  const isReader = verify?.reader !== "never" && (verify?.readerAgent ?? name) === name;
  return isReader ? (verify?.readerModel ?? null) : null;
}

/** The review state stands in one file, which one iteration at a time takes further. */
function requireOneLaneForReviews({ worktrees, skipReview }: Settings, tasks: readonly Task[]): void {
  if (worktrees == null || skipReview === true || tasks.every(({ review }) => review === undefined)) return;
  throw new RalphError("usage", "stories with a review cycle are worked on one after the other, in place", {
    hint: "leave out --parallel and --worktree, or the review: --skip-review",
  });
}

/** Of `--task`: a run works on what is in its list. */
function taskOf(asked: string, tasks: readonly Task[]): TaskId {
  const ids = tasks.map(({ id }) => id);
  const meant = meantId(asked, ids);
  if (meant === null) throw unknownTask(asked, ids);
  return meant;
}

/** A task may name its own agent; better to know now than in the middle of the night. */
function requireKnownAgent({ id, agent, done }: Task, agents: readonly AgentSettings[]): void {
  if (done || agent === null || agentNamed(agent, agents) !== null) return;
  throw new RalphError("no-agent", `the task "${id}" wants the agent "${agent}", which is not configured`, {
    hint: `say how it is called: ${agentSection(agent)} command = ["…"] in .ralph/ralph.toml`,
  });
}

/** What the operator protects, and our configuration and plugins. */
function withOwnProtection(
  { root, ralphDir }: Project,
  { protect }: Settings,
  plugins: readonly string[],
): ProtectSettings {
  const own = configurationGlobs(ralphPrefixOf(root, ralphDir));
  return { paths: [...protect.paths, ...own, ...plugins.map(literalGlob)], named: protect.paths };
}

/** Refuses what could not work on this machine, before anything is written. */
export async function requireStartable(prepared: Prepared): Promise<void> {
  const { project, commands, agents } = prepared;
  if (project.queue !== null)
    throw new RalphError("usage", "the tasks of this project are in a queue, and workers do them", {
      hint: "ralph submit, then ralph worker on any machine; to run here alone: RALPH_QUEUE_URL= ralph run",
    });
  await requirePrograms(prepared);
  await requireSandbox(project, commands.sandbox, agents, prepared.settings.git.hooks);
  warnOfDaemons(project);
}

/** The image of a container has its own agents; gates run outside of it. `warn`: no agent is started now. */
export async function requirePrograms(
  prepared: Prepared,
  warn: ((text: string) => void) | null = null,
): Promise<void> {
  const { project, commands, agents, settings } = prepared;
  const own = commands.sandbox?.kind === "docker" ? [] : agents;
  const missing = own.flatMap((agent) => missingProgram(agent, project, agent.name === settings.agent) ?? []);
  if (warn !== null) for (const { message, hint } of missing) warn(`${message}\n  → ${hint}`);
  else if (missing[0] !== undefined) throw missing[0];
  await requireGates(commands.gates, prepared);
}

interface MissingGate {
  readonly gate: GateSettings;
  readonly why: string;
  readonly remedy: string;
}

/** A list of tasks may have checks of its own. */
type Asker = Pick<Prepared, "project"> & Partial<Pick<Prepared, "source">>;

/** Refuses to start with a gate that cannot run, and warns of one that may be missing. */
export async function requireGates(gates: readonly GateSettings[], asker: Asker): Promise<void> {
  const missing = await missingGates(gates, asker);
  const sentence = ({ gate, why }: MissingGate): string => `Gate "${gate.name}" can't run: ${why}.`;
  const fatal = missing.filter(({ gate }) => gate.onMissing === "fail");
  if (fatal.length > 0)
    throw new RalphError("config", fatal.map((each) => `${sentence(each)} ${each.remedy}`).join("\n"));
  for (const each of missing.filter(({ gate }) => gate.onMissing === "warn"))
    asker.project.say(`${sentence(each)} The run goes on without it (on_missing = "warn").`);
}

/** The gates whose program this machine lacks, and how to mend each. */
export async function missingGates(
  gates: readonly GateSettings[],
  asker: Asker,
): Promise<readonly MissingGate[]> {
  const { project } = asker;
  const looked = await Promise.all(
    gates.map(async (gate) => {
      const program = await missingProgramOf(project, gate);
      if (program === null) return null;
      const remedy = `Install it, or change ${await whereItStands(gate, asker)}.`;
      return { gate, why: `${program} is not installed`, remedy };
    }),
  );
  return looked.filter((each) => each !== null);
}

async function whereItStands({ name, command }: GateSettings, asker: Asker): Promise<string> {
  const { config, values } = await readConfigWithOrigins(asker.project);
  const index = config.gates.findIndex((gate) => gate.name === name && gate.command === command);
  const origin = (await values()).find(({ key }) => key === `gates.${index}.command`)?.origin;
  if (origin !== undefined) return `${origin.includes(".toml:") ? "[[gates]]" : "gates"} in ${origin}`;
  const { source } = asker;
  const demanded = (await source?.demands())?.checks.includes(command) ?? false;
  if (source === undefined || !demanded) return "--check";
  const { kind, label } = source.identity;
  return `${kind === "tasks-json" ? "verifyCommands" : "the checks"} in ${label}`;
}

/** The operator's own template of a stage, checked; null when there is none. */
function readPromptTemplate({ root, ralphDir }: Project, stage = "build"): string | null {
  const path = join(ralphDir, "prompts", `${stage}.md`);
  if (!existsSync(path)) return null;
  const template = readFileSync(path, "utf8");
  const problem = templateProblem(template);
  if (problem === null) return template;
  throw new RalphError("config", `${relative(root, path)}:${problem.line}: ${problem.message}`);
}

export function programOf({ command, format }: AgentSettings): string {
  return command === null ? format : (command[0] ?? "");
}

/** Refuses to start with an agent that is not there. */
export function requireProgram(agent: AgentSettings, project: Project): void {
  const missing = missingProgram(agent, project, true);
  if (missing !== null) throw missing;
}

/** `isChosen`: by `--agent` or the configuration, and not by a task or a stage. */
function missingProgram(
  agent: AgentSettings,
  { root: cwd, env }: Project,
  isChosen: boolean,
): RalphError | null {
  const program = programOf(agent);
  if (findProgram(program, cwd, env) !== null) return null;
  const here = builtInAgents()
    .filter((one) => one.command === null && findProgram(programOf(one), cwd, env) !== null)
    .map(({ name }) => name);
  const other = here.length === 0 ? "" : `; installed here: ${here.join(", ")}`;
  const install = installCommand(program) ?? `install ${program}`;
  const choose = isChosen
    ? "choose another agent with --agent"
    : `write another one where a task, a stage or a setting names ${agent.name}`;
  return new RalphError(
    "no-agent",
    `the agent "${agent.name}" needs the program ${program}, which is not installed`,
    { hint: `${install}, or ${choose}${other}` },
  );
}

/** Says which account an agent uses, and whether it only pretends. `asked` is the agent of the command line. */
export function sayAgent(agent: AgentSettings, { env, say }: Project, asked?: string): void {
  if (onlyPretends(agent) && asked !== agent.name)
    say(`the agent is demo, which only pretends to work
  → install a coding agent (ralph doctor names them), and write its name into .ralph/ralph.toml`);
  const account = accountOf(agent, env);
  if (account === null) return;
  say(
    account.isThere
      ? `${agent.name} uses ${account.says}`
      : `${agent.name} may not be logged in: ${account.says} was found; see ralph doctor`,
  );
}
