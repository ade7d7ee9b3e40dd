import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediately } from "node:timers/promises";
import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import { openSqliteLog } from "../../src/adapters/store/sqlite-log.ts";
import type { Log } from "../../src/engine/ports.ts";
import { describeLog } from "./log.contract.ts";

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
