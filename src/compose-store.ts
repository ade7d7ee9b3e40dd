import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { projectId } from "./adapters/store/project-id.ts";
import { acquireProjectLock, isProjectLocked, type ProjectLock } from "./adapters/store/project-lock.ts";
import { lateRedactingLog, redactingLog } from "./adapters/store/redacting-log.ts";
import { mendIfDamaged } from "./adapters/store/mend-database.ts";
import { openSqliteLog } from "./adapters/store/sqlite-log.ts";
import { readConfig, type Project } from "./compose-project.ts";
import { WEBHOOK_VARIABLE, webhookSecrets } from "./config/webhook-address.ts";
import { createRedactor, passwordsIn, secretsIn } from "./core/redact.ts";
import type { Commands } from "./core/settings.ts";
import type { WorkerSeen } from "./engine/fleet-ports.ts";
import type { Log } from "./engine/ports.ts";
import { noteSecrets } from "./engine/secrets-seen.ts";

const NO_COMMANDS: Commands = { agents: [], gates: [] };

/**
 * The project's log, on this machine or in the database that machines share. No secret of the environment or the
 * commands passes through it, nor of the configuration where no commands are given; `notice` is for the person.
 */
export async function openLog(
  project: Project,
  env: NodeJS.ProcessEnv,
  commands?: Commands,
): Promise<{ readonly log: Log; readonly notice: string | null }> {
  const redactor = async (): Promise<(text: string) => string> =>
    createRedactor(
      commands === undefined ? await allSecretsOf(project, env) : secretsOf(project, env, commands),
    );
  if (project.queue !== null) {
    const { openSharedLog } = await import("./compose-shared.ts");
    return { log: await openSharedLog(project.root, project.queue, await redactor()), notice: null };
  }
  const { log, notice } = openSqliteLog(project.stateFile, projectId(project.stateFolder));
  if (commands === undefined) return { log: lateRedactingLog(log, redactor), notice };
  return { log: redactingLog(log, await redactor()), notice };
}

/** Reads all of the log on this machine, and puts a new one in the place of one that is damaged; answers what to tell. */
export function mendLog({ stateFile }: Project): string | null {
  return mendIfDamaged(stateFile, Date.now);
}

/** Whether any run was ever recorded, as far as one can know without a look at it; asking creates nothing. */
export function hasLog(project: Project): boolean {
  return project.queue !== null || existsSync(project.stateFile);
}

export function lockProject(project: Project): ProjectLock {
  return acquireProjectLock(project.stateFolder);
}

/** The process that drives the repository right now. */
export function driverOf(project: Project): { readonly pid: number | null } | null {
  return isProjectLocked(project.stateFolder);
}

/** The same for the same clone, so that a worker that comes again is known. */
export function ownWorkerId({ stateFolder }: Project): string {
  return `${hostname()}-${projectId(stateFolder).slice(0, 6)}`;
}

/** Everybody who works for the project on any machine, or did lately; null where there is no queue. */
export async function workersOf({ root, queue }: Project): Promise<readonly WorkerSeen[] | null> {
  if (queue === null) return null;
  const { readSharedWorkers } = await import("./compose-shared.ts");
  return readSharedWorkers(root, queue);
}

/** HOST:PORT/NAME, for people. */
export async function queueNameOf({ queue }: Project): Promise<string> {
  const { describeUrl } = await import("./adapters/postgres/connection-settings.ts");
  return describeUrl(queue?.url ?? "");
}

/** Whether anybody goes on with the project's tasks: the process of a run, or workers of the queue. */
export async function isDriven(project: Project): Promise<boolean> {
  const workers = await workersOf(project);
  return workers === null
    ? driverOf(project) !== null
    : workers.some(({ is }) => is === "here" || is === "leaving");
}

export function secretsOf(
  { queue }: Project,
  env: NodeJS.ProcessEnv,
  { agents, gates, notify }: Commands = NO_COMMANDS,
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

/** With those that the configuration gives to agents and gates. */
export async function allSecretsOf(project: Project, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  try {
    const { agents, gates, notify } = await readConfig(project, env);
    const given = [
      ...[...Object.values(agents), ...gates].flatMap((one) => secretsIn(one.env)),
      ...webhookSecrets(notify.webhook),
      notify.secret,
    ];
    noteSecrets(given);
    return [...secretsOf(project, env), ...given];
  } catch {
    return secretsOf(project, env); // whoever needs the configuration says why it cannot be read
  }
}
