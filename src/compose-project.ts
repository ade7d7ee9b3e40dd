import { join, resolve } from "node:path";
import { builtInAgents as agentsBuiltIn } from "./adapters/agents/built-in-agents.ts";
import { refuseUnlessFolder } from "./adapters/files/ralph-folder.ts";
import { findRepository } from "./adapters/git/find-repository.ts";
import type { GithubPlace } from "./adapters/tasks/github/gh.ts";
import { ownRoot } from "./adapters/system/own-root.ts";
import type { LoadedConfig } from "./config/load-config.ts";
import { mayHaveQueue } from "./config/mentions-queue.ts";
import type { Config } from "./config/schema.ts";
import type { AgentSettings } from "./core/settings.ts";

export const OWN_ROOT = ownRoot(import.meta.dirname);

/** A repository with everything of ours in it. */
export interface Project {
  readonly root: string;
  readonly ralphDir: string;
  /** Of the lock and the project's identity; always in the repository's common git directory. */
  readonly stateFolder: string;
  readonly stateFile: string;
  /** The database that several machines share; null where one works alone. */
  readonly queue: Queue | null;
}

export interface Queue {
  /** May hold a password. */
  readonly url: string;
  readonly leaseMs: number;
}

export interface ProjectOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** `--dir`. */
  readonly dir?: string | undefined;
}

export async function openProject({ cwd, env, dir }: ProjectOptions): Promise<Project> {
  const { root, commonDir } = await findRepository(cwd);
  const stateFolder = join(commonDir, "ralph");
  const ralphDir = resolve(root, dir ?? env["RALPH_DIR"] ?? ".ralph");
  return {
    root,
    ralphDir,
    stateFolder,
    stateFile: stateFile(env["RALPH_STATE"], stateFolder),
    queue: mayHaveQueue(ralphDir, env) ? await queueOf({ root, ralphDir }, env) : null,
  };
}

async function queueOf(
  place: Pick<Project, "root" | "ralphDir">,
  env: NodeJS.ProcessEnv,
): Promise<Queue | null> {
  const { url, lease } = (await readConfig(place, env)).queue;
  return url === "" ? null : { url, leaseMs: lease };
}

export async function readConfig(
  place: Pick<Project, "root" | "ralphDir">,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Config> {
  return (await readConfigWithOrigins(place, env)).config;
}

export async function readConfigWithOrigins(
  { root, ralphDir }: Pick<Project, "root" | "ralphDir">,
  env: NodeJS.ProcessEnv,
): Promise<LoadedConfig> {
  refuseUnlessFolder(ralphDir);
  const { refuseStrayConfiguration } = await import("./adapters/system/agent-sandbox.ts");
  refuseStrayConfiguration(join((await findRepository(root)).commonDir, "ralph"));
  // Loaded when it is needed: the schema and the parsers are half of the start-up time of the other commands.
  const { loadConfig } = await import("./config/load-config.ts");
  return loadConfig({ root, ralphDir, env, builtInAgents: builtInAgents().map(({ name }) => name) });
}

/** The issues that are meant when nobody says more than "github". */
export function usualPlace({ github }: Pick<Config, "github">): GithubPlace {
  const { label, repo, when_done: whenDone } = github;
  return { label, repo: repo === "" ? null : repo, whenDone };
}

export function builtInAgents(): readonly AgentSettings[] {
  return agentsBuiltIn(OWN_ROOT);
}

/** Lock files of git in this checkout that nobody holds any more. */
export async function staleLocksOf({ root }: Project): Promise<readonly string[]> {
  const { findStaleLocks } = await import("./adapters/git/stale-locks.ts");
  return findStaleLocks(await findRepository(root));
}

export async function removeLocks({ root }: Project): Promise<void> {
  const { removeStaleLocks } = await import("./adapters/git/stale-locks.ts");
  await removeStaleLocks(await findRepository(root));
}

/** Where the log lies: in the project's own folder, or where `RALPH_STATE` says, a folder or a `.db` file. */
function stateFile(place: string | undefined, stateFolder: string): string {
  if (place === undefined || place === "") return join(stateFolder, "state.db");
  return place.endsWith(".db") ? resolve(place) : join(resolve(place), "state.db");
}
