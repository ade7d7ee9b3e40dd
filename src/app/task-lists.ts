import { relative } from "node:path";
import { createGit, findTracked } from "../adapters/git/git.ts";
import { acceptProposal as acceptProposalIn } from "../adapters/tasks/accept-proposal.ts";
import {
  addTask as addTaskTo,
  type AddedTask,
  beginList,
  retitleTask as retitleTaskIn,
} from "../adapters/tasks/add-task.ts";
import { githubPlace } from "../adapters/tasks/gh.ts";
import {
  detectedLists,
  openSource,
  type OpenedSource,
  type SourceRequest,
} from "../adapters/tasks/open-source.ts";
import { redactingSource } from "../adapters/tasks/redacting-source.ts";
import type { RoadmapDefaults } from "../adapters/tasks/roadmap-format.ts";
import type { Config } from "../config/schema.ts";
import { RalphError } from "../core/errors.ts";
import type { Proposal } from "../core/plan-checks.ts";
import type { Task, TaskId } from "../core/plan.ts";
import { isListGuarded } from "../core/views/inbox.ts";
import type { TaskSource } from "../engine/ports.ts";
import { type Project, readConfig, redactorOf, requirePerson, usualPlace } from "./project.ts";
import { readState } from "./project-log.ts";

/** Which tasks, as asked for on the command line or by a program. */
export interface SourceFlags {
  readonly source?: string | undefined;
  readonly roadmap?: string | undefined;
  readonly prompt?: string | undefined;
  readonly ralphDefaultIterations?: number | undefined;
  readonly ralphDefaultPromise?: string | undefined;
  /** False: `--no-changes-needed`. */
  readonly changesNeeded?: boolean | undefined;
}

const PLUGIN = "plugin:";
const EXAMPLES: Readonly<Record<string, string>> = {
  source: "TODO.md",
  roadmap: "roadmap.md",
  prompt: "PROMPT.md",
};

/** Words win over flags, flags over the configuration. Flags count from `cwd`, the configuration from the root. */
export function sourceRequest(
  { root, env }: Pick<Project, "root" | "env">,
  config: Pick<Config, "source" | "github">,
  { source, roadmap, prompt, changesNeeded = true }: SourceFlags = {},
  { goal, cwd = root }: { readonly goal?: string | undefined; readonly cwd?: string } = {},
): SourceRequest {
  const given = Object.entries({ source, roadmap, prompt }).filter(([, path]) => path !== undefined);
  if (given.length > 1) throw new RalphError("usage", "give one of --source, --roadmap and --prompt");
  const [flag] = given.find(([, path]) => path?.trim() === "") ?? [];
  if (flag !== undefined)
    throw new RalphError("usage", `--${flag} is empty`, {
      hint: `name the file that has the tasks: --${flag} ${EXAMPLES[flag]}`,
    });
  if (goal?.trim() === "")
    throw new RalphError("usage", "the goal is empty", {
      hint: "say what is wanted, or leave it out to work on the list: ralph run",
    });
  if (goal !== undefined) return { is: "goal", goal, ...(!changesNeeded && { changes: "none" }) };
  if (!changesNeeded)
    throw new RalphError("usage", "--no-changes-needed is about a goal, and there is none", {
      hint: "say it of a task in the list, where it has properties: changes: none",
    });
  if (roadmap !== undefined) return { is: "file", path: roadmap, base: cwd, kind: "roadmap" };
  if (prompt !== undefined) return { is: "file", path: prompt, base: cwd, kind: "prompt" };
  const named = source ?? config.source;
  if (named.startsWith(PLUGIN)) return { is: "plugin", name: named.slice(PLUGIN.length) };
  const place = githubPlace(named, usualPlace(config));
  if (place !== null) return { is: "github", place, env };
  if (source !== undefined) return { is: "file", path: source, base: cwd };
  return config.source === "auto" ? { is: "auto" } : { is: "file", path: config.source, base: root };
}

/** What looping tasks of a roadmap get that do not say themselves. */
export function roadmapDefaults({
  ralphDefaultIterations,
  ralphDefaultPromise,
}: SourceFlags): RoadmapDefaults {
  if (ralphDefaultPromise?.trim() === "") throw new RalphError("usage", "--ralph-default-promise is empty");
  return { defaultIterations: ralphDefaultIterations, defaultPromise: ralphDefaultPromise };
}

export function sourceOf(
  project: Project,
  request: SourceRequest,
  defaults: RoadmapDefaults = {},
): OpenedSource {
  return openSource(request, project, defaults);
}

/** The tasks of the configured list as it is now. */
export async function readTasks(project: Project): Promise<readonly Task[]> {
  const request = sourceRequest(project, await readConfig(project));
  return (await sourceOf(project, request).source.observe()).tasks;
}

/** For output: its tasks contain none of the secrets of the environment or the configuration. */
export async function shownSource(project: Project, source: TaskSource): Promise<TaskSource> {
  return redactingSource(source, await redactorOf(project));
}

/** Adds a task to the list, or begins one where there is none. */
export async function addTask(
  project: Project,
  request: SourceRequest,
  title: string,
): Promise<AddedTask & { readonly isNew: boolean }> {
  requirePerson(project, "add tasks");
  if (request.is === "auto" && detectedLists(project).length === 0) return beginList(project.root, title);
  const { identity } = sourceOf(project, request).source;
  const { root, stateFolder } = project;
  const keepIn = isListGuarded(await readState(project)) ? stateFolder : undefined;
  return { ...addTaskTo({ root, keepIn }, identity, title), isNew: false };
}

/** Gives a task another title in the list; answers the file. */
export async function retitleTask(project: Project, id: TaskId, title: string): Promise<string> {
  requirePerson(project, "change the title of a task");
  const state = await readState(project);
  if (isListGuarded(state) || state.iterations.some(({ task }) => task === id))
    throw new RalphError("usage", `the title of ${id} cannot be changed while an agent works with the list`, {
      hint: "do it when the iteration under way has ended",
    });
  const { identity } = sourceOf(project, sourceRequest(project, await readConfig(project))).source;
  return retitleTaskIn(project.root, identity, id, title);
}

/** Applies what an agent did to a list to the list as it is now; false: all of it is there already. */
export async function acceptProposal(
  project: Project,
  proposal: Proposal,
  isGuarded: boolean,
): Promise<boolean> {
  return acceptProposalIn({ ...project, proposal, isGuarded });
}

/** Those of the files that git keeps a history of; relative to the root. */
export async function trackedAmong({ root }: Project, files: readonly string[]): Promise<readonly string[]> {
  const inside = files.map((file) => relative(root, file)).filter((path) => !path.startsWith(".."));
  const tracked = await findTracked(createGit(root), inside);
  return inside.filter((path) => tracked.has(path));
}
