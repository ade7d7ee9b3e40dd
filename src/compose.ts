import { findProgram } from "./adapters/system/process-table.ts";
import { dirname, join, relative } from "node:path";
import { analyzeOutput } from "./adapters/agents/analyze-output.ts";
import { createAgents } from "./adapters/agents/command-agents.ts";
import { type ListFile, readListFiles, writeArchive } from "./adapters/files/archive.ts";
import { InterventionFiles } from "./adapters/files/intervention-files.ts";
import { createLetters } from "./adapters/files/letters.ts";
import { Logbook } from "./adapters/files/logbook.ts";
import { createNotes } from "./adapters/files/notes.ts";
import { deleteOldTexts, lastTranscript, prepareRalphFolder } from "./adapters/files/ralph-folder.ts";
import { Views } from "./adapters/files/views.ts";
import { allGatesOf } from "./compose-gates.ts";
import { besideOf, workspacesBeside } from "./compose-beside.ts";
import { builtInAgents, OWN_ROOT, type Project, type Queue } from "./compose-project.ts";
import type { Plugins } from "./compose-plugins.ts";
import { sandboxOf } from "./compose-sandbox.ts";
import { allSecretsOf, secretsOf } from "./compose-store.ts";
import { damaged as damagedExport, readExport } from "./adapters/store/read-export.ts";
import { createGarbageCollection } from "./adapters/system/collect-garbage.ts";
import { createKeepAwake, type KeepAwake } from "./adapters/system/keep-awake.ts";
import { outsidePath } from "./adapters/system/safe-path.ts";
import { systemClock } from "./adapters/system/system-clock.ts";
import { acceptProposal as acceptProposalIn } from "./adapters/tasks/accept-proposal.ts";
import { addTask as addTaskTo, type AddedTask } from "./adapters/tasks/add-task.ts";
import { openSource, type OpenedSource, type SourceRequest } from "./adapters/tasks/open-source.ts";
import { inTurn } from "./adapters/system/in-turn.ts";
import { checkoutKey } from "./adapters/workspace/own-checkout.ts";
import { redactingSource } from "./adapters/tasks/redacting-source.ts";
import type { RoadmapDefaults } from "./adapters/tasks/roadmap-source.ts";
import { loadTaskListFormat } from "./adapters/tasks/task-list/task-list-format.ts";
import { configurationGlobs } from "./adapters/workspace/kept-files.ts";
import { trackedPaths } from "./adapters/workspace/watch-tree.ts";
import { ralphPrefixOf } from "./adapters/workspace/whose-path.ts";
import { literalGlob } from "./core/glob.ts";
import { createGitWorkspace, type GitWorkspace } from "./adapters/workspace/git-workspace.ts";
import { verifyWork } from "./adapters/workspace/verify-work.ts";
import { isOpen, type State } from "./core/loop/state.ts";
import type { Proposal } from "./core/plan/list-changes.ts";
import type { SourceIdentity } from "./core/plan/task.ts";
import { createRedactor, withoutOwnSecrets } from "./core/redact.ts";
import type { Commands, ProtectSettings, SandboxSettings, Settings } from "./core/settings.ts";
import type { Agents, Follower, Log, Ports, Progress, TaskSource } from "./engine/ports.ts";

export { openProject, readConfig, readConfigWithOrigins, usualPlace } from "./compose-project.ts";
export {
  driverOf,
  hasLog,
  isDriven,
  lockProject,
  mendLog,
  openLog,
  ownWorkerId,
  queueNameOf,
  workersOf,
} from "./compose-store.ts";
export { mayHaveTelemetry } from "./adapters/telemetry/otlp-settings.ts";
export { checkoutOfBare } from "./adapters/git/find-repository.ts";
export { capabilitiesOf } from "./adapters/agents/adapters.ts";
export { askProgram } from "./adapters/system/run-program.ts";
export { accountOf } from "./adapters/agents/programs/accounts.ts";
export { installCommand, PROGRAM_FACTS } from "./adapters/agents/programs/program-belongings.ts";
export { writeStatusFile } from "./adapters/files/views.ts";
export { writeFileAtomically } from "./adapters/system/atomic-file.ts";
export { sweep } from "./adapters/system/process-sweep.ts";
export { safePath } from "./adapters/system/safe-path.ts";
export { beginList } from "./adapters/tasks/add-task.ts";
export { checkPlanFile } from "./adapters/tasks/tasks-json-source.ts";
export { areListsTouched, restoreLists } from "./adapters/tasks/operators-list.ts";
export { detectedLists, detectedSource } from "./adapters/tasks/open-source.ts";
export { IMPORT_FORMATS } from "./adapters/tasks/import/import-tasks.ts";
export { importTasks, writeImported, type ImportRequest } from "./adapters/tasks/import/import-tasks.ts";
export { githubPlace } from "./adapters/tasks/github/gh.ts";
export { JsonError, memberOf, readJson } from "./adapters/tasks/read-json.ts";
export { watchTree, type TreeChanges } from "./adapters/workspace/watch-tree.ts";
export type { ListFile, Project, Queue, RoadmapDefaults, SourceRequest };
export {
  analyzeOutput,
  builtInAgents,
  createNotes,
  damagedExport,
  findProgram,
  lastTranscript,
  readExport,
  verifyWork,
  writeArchive,
};

export async function sourceOf(
  project: Project,
  request: SourceRequest,
  defaults: RoadmapDefaults = {},
): Promise<OpenedSource> {
  const opened = openSource(request, project, defaults);
  if (opened.source.identity.kind === "task-list") await loadTaskListFormat();
  return opened;
}

/** For who shows it: neither the environment's secrets nor the configuration's are in its tasks. */
export async function shownSource(
  project: Project,
  source: TaskSource,
  env: NodeJS.ProcessEnv,
): Promise<TaskSource> {
  return redactingSource(source, createRedactor(await allSecretsOf(project, env)));
}

export function addTask(
  project: Project,
  source: SourceIdentity,
  title: string,
  isGuarded: boolean,
): AddedTask {
  return addTaskTo(
    { root: project.root, keepIn: isGuarded ? project.stateFolder : undefined },
    source,
    title,
  );
}

/** Brings what an agent did to a list into the list as it is now; false: all of it is there already. */
export async function acceptProposal(
  project: Project,
  proposal: Proposal,
  isGuarded: boolean,
): Promise<boolean> {
  const { kind, path } = proposal;
  if (kind === "goal" || kind === "github" || kind === "plugin") throw new Error(`${kind} has no list`);
  const { source } = await sourceOf(project, { is: "file", path, base: project.root, kind });
  return acceptProposalIn({ ...project, source, proposal, isGuarded });
}

/** Everything of a list that an archive takes: its source, requirements, notes, and these letters. */
export function listFilesOf(
  project: Project,
  source: TaskSource | null,
  letters: readonly string[],
): readonly ListFile[] {
  return readListFiles({ ...project, source: source?.files ?? [], letters });
}

/** Those of the files, by their real places, that git keeps a history of; relative to the root. */
export async function trackedAmong({ root }: Project, files: readonly string[]): Promise<readonly string[]> {
  const inside = files.map((file) => relative(root, file)).filter((path) => !path.startsWith(".."));
  return trackedPaths(root, inside);
}

export function workspaceOf(project: Project): GitWorkspace {
  return createGitWorkspace(project);
}

/** What the operator protects, and our configuration and plugins. */
export function withOwnProtection(
  project: Project,
  { protect }: Settings,
  plugins: readonly string[] = [],
): ProtectSettings {
  const own = configurationGlobs(ralphPrefixOf(project.root, project.ralphDir));
  return { paths: [...protect.paths, ...own, ...plugins.map(literalGlob)], named: protect.paths };
}

/** Makes `.ralph/` ready to be written to, or says why it cannot be. */
export function prepareFolder(project: Project): void {
  prepareRalphFolder(project.ralphDir);
}

export function viewsOf(project: Project, log: Log): Views {
  prepareFolder(project);
  return new Views(project.ralphDir, log);
}

/** Deletes what agents said more than so many days ago, but never what belongs to a run that goes on. */
export function deleteOldTextsOf({ ralphDir }: Project, keepDays: number, { run }: State): number {
  if (keepDays === 0) return 0;
  const before = Date.now() - keepDays * DAY_MS;
  return deleteOldTexts(ralphDir, isOpen(run) ? Math.min(before, run.startedAt) : before);
}

const DAY_MS = 24 * 3_600_000;

export function logbookOf(project: Project, onTrouble: (why: string) => void): Logbook {
  return new Logbook(project.ralphDir, { onTrouble });
}

export function interventionFilesOf(project: Project, log: Log): InterventionFiles {
  return new InterventionFiles(project.ralphDir, log, systemClock);
}

export interface RunParts extends AgentParts {
  /** How worktrees are made ready. */
  readonly worktree: { readonly setup: string; readonly include: readonly string[] };
  readonly log: Log;
  readonly commands: Commands;
  readonly source: TaskSource;
  readonly plugins?: Plugins;
  readonly followers: readonly Follower[];
}

export interface AgentParts {
  readonly project: Project;
  /** What the files of each agent begin with in `logs/`; iterations without it. */
  readonly transcripts?: string;
  readonly onProgress: (progress: Progress) => void;
  /** Called as soon as an agent runs. */
  readonly onAgentStart: () => void;
  /** What the agent prints, as it comes, without secrets. */
  readonly onOutput?: (text: string, iteration: number) => void;
  readonly env: NodeJS.ProcessEnv;
  /** Known secrets besides those in the environment. */
  readonly secrets?: readonly string[];
  /** Ours. */
  readonly version: string;
  /** Instead of this machine's clock. */
  readonly now?: () => number;
  /** What agents run in; null or absent: nothing. */
  readonly sandbox?: SandboxSettings | null;
}

/** Everything the engine needs, with the real outside behind it. */
export function composePorts(parts: RunParts): Ports {
  const { project, log, commands, source, followers, env, plugins } = parts;
  const { advisers } = plugins ?? {};
  const secrets = secretsOf(project, env, commands);
  const redact = createRedactor(secrets);
  const workspace = workspaceOf(project);
  const workspaceIn = workspacesBeside(workspace);
  return {
    log,
    commands,
    // Git takes a file away before it writes it anew: whoever reads the tasks waits until a merge has moved the checkout.
    source: redactingSource(source, redact, (look) => inTurn(checkoutKey(project.root), look)),
    agents: agentsOf({ ...parts, secrets, sandbox: commands.sandbox ?? null }, workspaceIn),
    workspace,
    beside: besideOf({ ...parts, ...parts.worktree, redact, ownRoot: OWN_ROOT }, workspaceIn),
    gates: allGatesOf(project, env, redact, plugins),
    plugins: plugins?.names ?? [],
    ...(advisers && { advisers }),
    letters: createLetters(project.ralphDir),
    notes: createNotes(project.ralphDir, project.root),
    clock: systemClock,
    followers,
  };
}

export function agentsOf(parts: AgentParts, workspaceIn: (root: string | undefined) => GitWorkspace): Agents {
  const { project, onProgress, onAgentStart, onOutput, transcripts, now, secrets } = parts;
  const sandbox = sandboxOf(project, parts.sandbox, parts.env);
  const collectGarbage = createGarbageCollection();
  return createAgents({
    cwd: project.root,
    gitDir: dirname(project.stateFolder),
    ralphDir: project.ralphDir,
    // The environment of a process is slow to read, and each iteration reads all of it.
    baseEnv: withoutOwnSecrets(parts.env),
    ownRoot: OWN_ROOT,
    version: parts.version,
    ownProgram: [process.execPath, join(OWN_ROOT, "bin", "start.cjs")],
    onProgress,
    onStart: () => {
      onAgentStart();
      collectGarbage();
    },
    workTree: (root) => workspaceIn(root).fingerprint(),
    ...(sandbox && { sandbox }),
    ...(now && { now }),
    ...(secrets && { secrets }),
    ...(onOutput && { onOutput }),
    ...(transcripts !== undefined && { transcripts }),
  });
}

/** For as long as a run needs the machine. */
export function keepAwakeOf({ env }: Pick<RunParts, "env">): KeepAwake {
  return createKeepAwake({ path: outsidePath(env["PATH"] ?? "", OWN_ROOT), env: withoutOwnSecrets(env) });
}

/** How this very program is called from a shell. */
export function ownCommand(cwd: string, env: NodeJS.ProcessEnv): string {
  return findProgram("ralph", cwd, env) === null ? join(OWN_ROOT, "bin", "ralph") : "ralph";
}
