import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediately } from "node:timers/promises";
import { openDatabase, type Database } from "../../src/adapters/postgres/database.ts";
import { openPostgresLog } from "../../src/adapters/postgres/postgres-log.ts";
import { migrate } from "../../src/adapters/postgres/schema.ts";
import { afterAll, beforeAll, describe } from "vitest";
import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import { openSqliteLog } from "../../src/adapters/store/sqlite-log.ts";
import type { Log } from "../../src/engine/ports.ts";
import { freshDatabase, type FreshDatabase } from "../support/postgres.ts";
import { describeLog, type LogUnderTest } from "./log.contract.ts";

describeLog("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-log-"));
  const opened: Log[] = [];
  const open = (project: string): Log => {
    const { log } = openSqliteLog(join(folder, "state.db"), project);
    opened.push(log);
    return log;
  };
  const log = open("project");
  return {
    log,
    reopen: async () => {
      await log.close();
      return open("project");
    },
    second: async () => open("project"),
    otherProject: async () => open("other"),
    close: async () => {
      await Promise.all(opened.map((one) => one.close()));
      rmSync(folder, { recursive: true });
    },
  };
});

describeLog("memory", async () => {
  const storage = new MemoryStorage();
  const pause = async (): Promise<void> => {
    for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await immediately();
  };
  const open = (project: string): Log => new MemoryLog({ storage, project, now: Date.now, pause });
  return {
    log: open("project"),
    reopen: async () => open("project"),
    second: async () => open("project"),
    otherProject: async () => open("other"),
    close: async () => {},
  };
});

describe("on a server", () => {
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

  const openPostgres = async (): Promise<LogUnderTest> => {
    await first.query("DELETE FROM ralph.projects; DELETE FROM ralph.events; DELETE FROM ralph.snapshots");
    const others: Database[] = [];
    const open = async (project: string): Promise<Log> => {
      const database = await openDatabase(fresh.url);
      others.push(database);
      return openPostgresLog(database, project);
    };
    return {
      log: openPostgresLog(first, "project"),
      reopen: () => open("project"),
      second: () => open("project"),
      otherProject: () => open("other"),
      close: async () => {
        await Promise.all(others.map((database) => database.close()));
      },
    };
  };
  // Every attempt is several round trips, and nearly all of them come too late.
  describeLog("Postgres", openPostgres, { appenders: 60 });
});
