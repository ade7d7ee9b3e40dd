import { afterAll, beforeAll } from "vitest";
import { openDatabase, type Database } from "../../src/adapters/fleet/database.ts";
import { openPostgresLog } from "../../src/adapters/fleet/postgres-log.ts";
import { migrate } from "../../src/adapters/fleet/schema.ts";
import type { SharedLog } from "../../src/engine/fleet-ports.ts";
import { freshDatabase, type FreshDatabase } from "../support/postgres.ts";
import { describeLog, type LogUnderTest } from "./log.contract.ts";
import { describeSharedLog, type SharedLogUnderTest } from "./shared-log.contract.ts";

let fresh: FreshDatabase;
let first: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  first = await openDatabase(fresh.url);
  await migrate(first);
});
afterAll(async () => {
  await first.close();
  await fresh.drop();
});

async function openStore(): Promise<LogUnderTest & SharedLogUnderTest> {
  for (const table of ["projects", "events", "snapshots", "leases"])
    await first.query(`DELETE FROM ralph.${table}`);
  const others: Database[] = [];
  const open = async (project: string): Promise<SharedLog> => {
    const database = await openDatabase(fresh.url);
    others.push(database);
    return openPostgresLog(database, project);
  };
  return {
    log: openPostgresLog(first, "project"),
    reopen: () => open("project"),
    second: () => open("project"),
    otherProject: () => open("other"),
    giveLease: async (name) => {
      const [lease] = await first.query<{ number: number }>(
        `INSERT INTO ralph.leases AS known (project, name, number, worker) VALUES ('project', $1, 1, 'w')
         ON CONFLICT (project, name) DO UPDATE SET number = known.number + 1 RETURNING number`,
        [name],
      );
      return lease!.number;
    },
    close: async () => {
      await Promise.all(others.map((database) => database.close()));
    },
  };
}

// Every attempt is several round trips, and nearly all of them come too late.
describeLog("Postgres", openStore, { appenders: 60 });
describeSharedLog("Postgres", openStore);
