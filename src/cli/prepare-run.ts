import {
  builtInAgents,
  capabilitiesOf,
  notesOf,
  openProject,
  readConfig,
  readPromptTemplate,
  sourceOf,
  withOwnProtection,
  type Project,
} from "../compose.ts";
import { pluginsOf, type Plugin, type Plugins } from "../compose-plugins.ts";
import type { Config } from "../config/schema.ts";
import { resolveSettings, type RunFlags } from "../config/resolve-settings.ts";
import { agentNamed, agentSection } from "../core/agent-named.ts";
import type { Task } from "../core/plan/task.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { AgentSettings, Commands, Settings } from "../core/settings.ts";
import { reviewOf } from "../core/review/story-cycle.ts";
import { REVIEW_MODES } from "../core/review/story-review.ts";
import { agentsOfStages, stagesOf } from "../core/stages/stages.ts";
import type { Notes, TaskSource } from "../engine/ports.ts";
import type { CliContext } from "./commands.ts";
import { warnTo } from "./warn-to.ts";
import { roadmapDefaults, sourceRequest, type SourceFlags } from "./source-request.ts";

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

/** Finds the project, reads its configuration and opens its source; starts and writes nothing. */
export async function prepareRun(
  goal: string | undefined,
  flags: RunFlags & SourceFlags,
  context: CliContext,
  given?: readonly Plugin[],
): Promise<Prepared> {
  const project = await openProject(context);
  const config = await readConfig(project, context.env);
  const request = sourceRequest(goal, flags, config, { ...context, root: project.root });
  const plugins = await pluginsOf(project, {
    config,
    env: context.env,
    given,
    warn: warnTo(context, project),
  });
  const { source, why } =
    request.is === "plugin"
      ? { source: plugins.source(request.name), why: `the tasks: the source "${request.name}" of a plugin` }
      : await sourceOf(project, request, roadmapDefaults(flags));
  // A plan that cannot be worked on is refused before anything is written.
  const { tasks } = await source.observe();
  const { checks, branch } = await source.demands();
  const withChecks = { ...flags, check: [...checks, ...(flags.check ?? [])] };
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
      protect: withOwnProtection(project, settings, commands, plugins.files),
    },
    commands,
    source,
    otherLists: request.is === "goal" ? await listFiles(project, config, context) : [],
    tasks: tasks.length,
    why,
    notes: notesOf(project),
    agents,
    plugins,
    keepDays: config.logs.keep_days,
    worktree: config.worktree,
    branch,
  };
}

/** None where there is no list, or one that cannot be read: a goal needs none. */
async function listFiles(project: Project, config: Config, context: CliContext): Promise<readonly string[]> {
  const request = sourceRequest(undefined, {}, config, { ...context, root: project.root });
  if (request.is !== "auto" && request.is !== "file") return [];
  try {
    const { source } = await sourceOf(project, request, roadmapDefaults({}));
    return source.files.map(({ path }) => path);
  } catch {
    return [];
  }
}

/** Whoever may get work. Where each stage has its own agent, nobody is left over for the usual one. */
function agentsOf(
  settings: Settings,
  tasks: readonly Task[],
  known: readonly AgentSettings[],
): readonly AgentSettings[] {
  const { agent, fallbackAgents } = settings;
  const open = tasks.filter(({ done }) => !done);
  const wanted = open.flatMap((task) => task.agent ?? []);
  const reviewed = open.some((task) => reviewOf(settings, task) !== null) ? [agent] : [];
  const names = new Set([...agentsOfStages(settings), ...reviewed, ...fallbackAgents, ...wanted]);
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
  const models = [agent.model, ...staged.map((stage) => stage.model)].filter((model) => model !== null);
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

/** The review state stands in one file, which one iteration at a time takes further. */
function requireOneLaneForReviews({ worktrees, skipReview }: Settings, tasks: readonly Task[]): void {
  if (worktrees == null || skipReview === true || tasks.every(({ review }) => review === undefined)) return;
  throw new RalphError("usage", "stories with a review cycle are worked on one after the other, in place", {
    hint: "leave out --parallel and --worktree, or the review: --skip-review",
  });
}

/** A task may name its own agent; better to know now than in the middle of the night. */
function requireKnownAgent({ id, agent, done }: Task, agents: readonly AgentSettings[]): void {
  if (done || agent === null || agentNamed(agent, agents) !== null) return;
  throw new RalphError("no-agent", `the task "${id}" wants the agent "${agent}", which is not configured`, {
    hint: `say how it is called: ${agentSection(agent)} command = ["…"] in .ralph/ralph.toml`,
  });
}
