import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Database, type DatabaseOptions, openDatabase } from "../../src/adapters/fleet/database.ts";
import { openFleet } from "../../src/adapters/fleet/fleet.ts";
import type { Fleet, Lease, WorkerReport } from "../../src/engine/fleet-ports.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";

export const BUSY: WorkerReport = { lanes: 1, isLeaving: false, progress: [] };
export const ANY: readonly (readonly string[])[] = [[]];
export const ONE = { task: "one", labels: [], rank: 0 };

/** An empty database until the end of the test. */
export async function fresh(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return database;
}

export async function connect(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await openDatabase(url, { patienceMs: Infinity, maxConnections: 2, ...options });
  onTestFinished(() => database.close());
  return database;
}

/** Joins until the end of the test. */
export async function join(
  database: Database,
  id: string,
  labels: readonly string[] = [],
  leaseMs = 3_000,
  project = "project",
): Promise<Fleet> {
  const worker = { id, host: "host", pid: process.pid, version: "1", labels };
  const fleet = await openFleet({ database, project, worker, leaseMs });
  onTestFinished(() => fleet.leave());
  return fleet;
}

/** Beats until it can take something. */
export async function takeWhenFree(fleet: Fleet): Promise<readonly Lease[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    await fleet.beat(BUSY);
    const taken = await fleet.take(1, ANY);
    if (taken.length > 0) return taken;
    await sleep(100);
  }
  throw new Error("nothing becomes free");
}
