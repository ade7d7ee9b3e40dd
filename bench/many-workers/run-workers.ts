import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openDatabase } from "../../src/adapters/fleet/database.ts";
import { openPostgresLog } from "../../src/adapters/fleet/postgres-log.ts";
import { migrate } from "../../src/adapters/fleet/schema.ts";
import { submitTasks } from "./project.ts";
import type { Spent, WorkersOptions } from "./workers.ts";

export interface FleetSize {
  readonly projects: number;
  readonly tasksEach: number;
  readonly workersEach: number;
  readonly lanes: number;
  readonly processes: number;
  readonly iterationsEach: number;
  readonly agentMs: number;
  readonly callsPerHour: number;
  readonly leaseMs: number;
  /** None: branches are the result, and nobody waits for the one who merges. */
  readonly merge: "squash" | "none";
}

export async function submitAll(url: string, projects: readonly string[], size: FleetSize): Promise<void> {
  const database = await openDatabase(url);
  await migrate(database);
  for (const project of projects) await submitTasks(openPostgresLog(database, project), size);
  await database.close();
}

export function startWorkers(
  url: string,
  projects: readonly string[],
  size: FleetSize,
): readonly ChildProcess[] {
  const ids = projects.flatMap((project) =>
    Array.from({ length: size.workersEach }, (_, index) => ({ project, worker: `${project}-${index + 1}` })),
  );
  return Array.from({ length: size.processes }, (_, index) => {
    const child = fork(join(import.meta.dirname, "workers.ts"));
    const own = ids.filter((_id, at) => at % size.processes === index);
    child.send({ ...size, url, ids: own } satisfies WorkersOptions & FleetSize);
    return child;
  });
}

export async function stopWorkers(child: ChildProcess): Promise<Spent> {
  const answer = once(child, "message") as Promise<[Spent]>;
  child.send("stop");
  return (await answer)[0];
}

/** Answers how many connections the workers had at most. */
export async function untilDone(url: string, size: FleetSize): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  let most = 0;
  for (;;) {
    await sleep(500);
    const { rows } = await client.query<{ ended: number; connections: number }>(
      `SELECT count(*)::int AS ended,
              (SELECT count(*)::int FROM pg_stat_activity WHERE application_name LIKE 'ralph worker%') AS connections
       FROM ralph.events WHERE type = 'run.ended'`,
    );
    most = Math.max(most, rows[0]?.connections ?? 0);
    if ((rows[0]?.ended ?? 0) >= size.projects) break;
  }
  await client.end();
  return most;
}
