import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { refuseUnlessFolder } from "../adapters/files/ralph-folder.ts";
import { findRepository } from "../adapters/git/find-repository.ts";
import { ownRoot } from "../adapters/process/safe-path.ts";
import { projectId } from "../adapters/store/project-id.ts";
import { acquireProjectLock, isProjectLocked } from "../adapters/store/project-lock.ts";
import type { GithubPlace } from "../adapters/tasks/gh.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import type { Config } from "../config/schema.ts";
import { WEBHOOK_VARIABLE, webhookSecrets } from "../config/webhook-address.ts";
import { RalphError } from "../core/errors.ts";
import { createRedactor, passwordsIn, secretsIn } from "../core/redact.ts";
import type { Commands } from "../core/settings.ts";
import { few } from "../core/text.ts";
import { isAtWork } from "../core/views/status.ts";
import type { WorkerSeen } from "../engine/fleet-ports.ts";
import { noteSecrets } from "../engine/secrets-seen.ts";

export const OWN_ROOT = ownRoot(import.meta.dirname);

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Whether somebody asks this program to end. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Hears what asks this program to end, until it is released: once, and again. */
export function hearSignals(once: () => void = () => {}, again: () => void = () => {}): Interruption {
  const interruption = new AbortController();
  const hear = (): void => {
    if (interruption.signal.aborted) return again();
    interruption.abort();
    once();
  };
  for (const name of SIGNALS) process.on(name, hear);
  return {
    signal: interruption.signal,
    release() {
      for (const name of SIGNALS) process.off(name, hear);
    },
  };
}

/** Who opens a project: from where, and how to tell that person something. */
export interface Caller {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `--dir`. */
  readonly dir?: string | undefined;
  /** One message, without the name of the program. */
  readonly say?: (text: string) => void;
}

/** A repository with everything of ours in it, as its caller sees it. */
export interface Project {
  readonly root: string;
  readonly ralphDir: string;
  /** Of the lock and the project's identity; always in the repository's common git directory. */
  readonly stateFolder: string;
  readonly stateFile: string;
  /** The database that several machines share; null where one works alone. */
  readonly queue: Queue | null;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (text: string) => void;
}

export interface Queue {
  /** May hold a password. */
  readonly url: string;
  readonly leaseMs: number;
}

type Place = Pick<Project, "root" | "ralphDir" | "env">;

export async function openProject({ cwd, env, dir, say = () => {} }: Caller): Promise<Project> {
  const { root, commonDir } = await findRepository(cwd);
  const stateFolder = join(commonDir, "ralph");
  const place = { root, ralphDir: resolve(root, dir ?? env["RALPH_DIR"] ?? ".ralph"), env };
  const isAlone = !mayHaveQueue(place.ralphDir, env);
  const { url, lease: leaseMs } = isAlone ? { url: "", lease: 0 } : (await readConfig(place)).queue;
  return {
    ...place,
    stateFolder,
    stateFile: stateFile(env["RALPH_STATE"], stateFolder),
    queue: url === "" ? null : { url, leaseMs },
    say,
  };
}

/** Of all variables that are settings, the one that says something when it is empty: this machine works alone. */
const QUEUE_VARIABLE = "RALPH_QUEUE_URL";

/** Whether the configuration may have a queue: looking for the word is many times faster than parsing. */
export function mayHaveQueue(ralphDir: string, env: NodeJS.ProcessEnv): boolean {
  const variable = env[QUEUE_VARIABLE]?.trim();
  if (variable !== undefined) return variable !== "";
  return ["ralph.toml", "ralph.json"].some((name) => mentionsQueue(join(ralphDir, name)));
}

function mentionsQueue(file: string): boolean {
  try {
    return /\bqueue\b/.test(readFileSync(file, "utf8"));
  } catch {
    return false; // whoever needs the configuration says why it cannot be read
  }
}

/** Where the log lies: in the project's own folder, or where `RALPH_STATE` says, a folder or a `.db` file. */
function stateFile(place: string | undefined, stateFolder: string): string {
  if (place === undefined || place === "") return join(stateFolder, "state.db");
  return place.endsWith(".db") ? resolve(place) : join(resolve(place), "state.db");
}

export async function readConfig(place: Place): Promise<Config> {
  return (await readConfigWithOrigins(place)).config;
}

export async function readConfigWithOrigins({ root, ralphDir, env }: Place): Promise<LoadedConfig> {
  refuseUnlessFolder(ralphDir);
  const { refuseStrayConfiguration } = await import("../adapters/process/agent-sandbox.ts");
  refuseStrayConfiguration(join((await findRepository(root)).commonDir, "ralph"));
  // Loaded when it is needed: the schema and the parsers are half of the start-up time of the other commands.
  const { loadConfig } = await import("../config/load-config.ts");
  const { builtInAgents } = await import("../adapters/agents/adapters.ts");
  return loadConfig({ root, ralphDir, env, builtInAgents: builtInAgents(OWN_ROOT).map(({ name }) => name) });
}

/** The issues that "github" means without a label. */
export function usualPlace({ github }: Pick<Config, "github">): GithubPlace {
  const { label, repo, when_done: whenDone } = github;
  return { label, repo: repo === "" ? null : repo, whenDone };
}

/** Works on the project while nobody else drives it. */
export async function withLock<Result>(
  { stateFolder }: Project,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = acquireProjectLock(stateFolder);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** The process that drives the repository right now. */
export function driverOf(project: Project): { readonly pid: number | null } | null {
  return isProjectLocked(project.stateFolder);
}

/** The same for the same clone, so that others recognise a worker after a restart. */
export function ownWorkerId({ stateFolder }: Project): string {
  return `${hostname()}-${projectId(stateFolder).slice(0, 6)}`;
}

/** The project's workers on all machines, also those that left lately; null where there is no queue. */
export async function workersOf({ root, queue }: Project): Promise<readonly WorkerSeen[] | null> {
  if (queue === null) return null;
  const { readSharedWorkers } = await import("./shared-log.ts");
  return readSharedWorkers(root, queue);
}

/** Whether the process of a run, or a worker of the queue, works on the project's tasks. */
export async function isDriven(project: Project): Promise<boolean> {
  const workers = await workersOf(project);
  return workers === null ? driverOf(project) !== null : workers.some(isAtWork);
}

/** Refuses what must not happen while a run or a worker is at work. */
export async function refuseWhileDriven(project: Project): Promise<void> {
  const workers = await workersOf(project);
  if (workers !== null) return refuseWhile(workers.filter(isAtWork));
  const driver = driverOf(project);
  if (driver === null) return;
  throw new RalphError(
    "already-running",
    `a run is working in this repository (pid ${driver.pid ?? "unknown"})`,
    { hint: "end it first: ralph stop" },
  );
}

/** Refuses while a worker holds this task. */
export async function refuseWhileHeld(project: Project, task: string): Promise<void> {
  const workers = (await workersOf(project)) ?? [];
  refuseWhile(workers.filter(({ holds }) => holds.includes(task)));
}

function refuseWhile(workers: readonly WorkerSeen[]): void {
  if (workers.length === 0) return;
  const names = few(workers.map(({ id, host }) => `${id} on ${host}`));
  throw new RalphError("already-running", `workers of this project are at work: ${names}`, {
    hint: "end them first: Ctrl-C where they run",
  });
}

/** Answers, unblocking, messages and resets are a person's: an agent of this repository is refused. */
export function requirePerson({ ralphDir, env }: Project, act: string): void {
  const { RALPH_MARKER: marker, RALPH_DIR: folder } = env;
  if (marker === undefined || folder === undefined || resolve(folder) !== resolve(ralphDir)) return;
  throw new RalphError("usage", `an agent cannot ${act}: that is for a person to do`, {
    hint: "print <promise>BLOCKED:why</promise> or <promise>DECIDE:question</promise> instead",
  });
}

/** For commands that make sense only where machines share their tasks. */
export function requireQueue({ queue }: Project, command: string): Queue {
  if (queue !== null) return queue;
  throw new RalphError("config", `ralph ${command} needs the database that the machines share`, {
    hint: 'name it: [queue] url = "postgres://USER@HOST/NAME" in .ralph/ralph.toml, or RALPH_QUEUE_URL',
  });
}

/** Secrets of the environment, the queue and these commands. */
export function secretsOf(
  { queue, env }: Project,
  { agents, gates, notify }: Commands = { agents: [], gates: [] },
): readonly string[] {
  const variables = [env, ...agents.map((agent) => agent.env), ...gates.map((gate) => gate.env)];
  const secrets = [
    ...variables.flatMap((some) => secretsIn(some)),
    ...passwordsIn(queue?.url ?? ""),
    ...webhookSecrets(env[WEBHOOK_VARIABLE] ?? ""),
    ...webhookSecrets(notify?.webhook?.url ?? ""),
    ...(notify?.webhook?.secret == null ? [] : [notify.webhook.secret]),
  ];
  noteSecrets(secrets);
  return secrets;
}

/** Removes the secrets of the environment and of the commands, or without commands those of the configuration. */
export async function redactorOf(project: Project, commands?: Commands): Promise<(text: string) => string> {
  if (commands !== undefined) return createRedactor(secretsOf(project, commands));
  return createRedactor([...secretsOf(project), ...(await configuredSecrets(project))]);
}

async function configuredSecrets(project: Project): Promise<readonly string[]> {
  try {
    const { agents, gates, notify } = await readConfig(project);
    const secrets = [
      ...[...Object.values(agents), ...gates].flatMap((one) => secretsIn(one.env)),
      ...webhookSecrets(notify.webhook),
      notify.secret,
    ];
    noteSecrets(secrets);
    return secrets;
  } catch {
    return []; // the code that needs the configuration reports why it cannot be read
  }
}
