import { remoteKey } from "../adapters/fleet/remote.ts";
import { chooseRemote, openRepository } from "../adapters/git/find-repository.ts";
import { type Database, openDatabase } from "../adapters/fleet/database.ts";
import { readWorkers } from "../adapters/fleet/leases.ts";
import { openPostgresLog } from "../adapters/fleet/postgres-log.ts";
import { migrate } from "../adapters/fleet/schema.ts";
import { redactingLog } from "../adapters/store/redacting-log.ts";
import type { Queue } from "./project.ts";
import { RalphError } from "../core/errors.ts";
import type { SharedLog, WorkerSeen } from "../engine/fleet-ports.ts";

/** The log that machines share, for commands and screens. */
export async function openSharedLog(
  root: string,
  queue: Queue,
  redact: (text: string) => string,
): Promise<SharedLog> {
  const project = await projectKeyOf(root);
  const opened = await borrowDatabase(queue);
  const log = openPostgresLog(opened.database, project);
  return {
    ...redactingLog(log, redact),
    listen: (heard) => log.listen(heard),
    close: async () => {
      await log.close();
      opened.giveBack();
    },
  };
}

export async function readSharedWorkers(root: string, queue: Queue): Promise<readonly WorkerSeen[]> {
  const project = await projectKeyOf(root);
  const opened = await borrowDatabase(queue);
  try {
    return await readWorkers(opened.database, project, queue.leaseMs);
  } finally {
    opened.giveBack();
  }
}

const keys = new Map<string, Promise<string>>();

/** The same for every clone of the project; a clone does not change it while a command runs. */
export function projectKeyOf(root: string): Promise<string> {
  const known = keys.get(root) ?? readProjectKey(root);
  keys.set(root, known);
  return known;
}

async function readProjectKey(root: string): Promise<string> {
  const { git } = await openRepository(root);
  const chosen = await chooseRemote(git, null);
  if ("why" in chosen)
    throw new RalphError("config", `a queue knows a project by its remote, and ${chosen.why}`, {
      hint: "git remote add origin URL",
    });
  return remoteKey((await git.must(["remote", "get-url", chosen.name])).trim(), root);
}

const PATIENCE_MS = 10_000;

interface Lent {
  readonly url: string;
  readonly opening: Promise<Database>;
  borrowers: number;
}

let shared: Lent | null = null;

/** Connections are slow to make, and a command looks several times: the next look finds the last one's still open. */
async function borrowDatabase({ url }: Queue) {
  if (shared?.url !== url) shared = { url, opening: open(url), borrowers: 0 };
  const lent = shared;
  lent.borrowers += 1;
  const giveBack = (): void => {
    lent.borrowers -= 1;
    setImmediate(() => {
      if (lent.borrowers > 0) return;
      if (shared === lent) shared = null;
      lent.borrowers = Infinity; // once is enough
      void lent.opening.then((database) => database.close());
    });
  };
  try {
    return { database: await lent.opening, giveBack };
  } catch (error) {
    if (shared === lent) shared = null;
    throw error;
  }
}

async function open(url: string): Promise<Database> {
  const database = await openDatabase(url, { patienceMs: PATIENCE_MS });
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
