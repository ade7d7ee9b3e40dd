import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediately } from "node:timers/promises";
import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import { openSqliteLog } from "../../src/adapters/store/sqlite-log.ts";
import type { Log } from "../../src/engine/ports.ts";
import { describeLog } from "./log.contract.ts";
import { describeSharedLog } from "./shared-log.contract.ts";

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
  const open = openMemory();
  return {
    log: open("project"),
    reopen: async () => open("project"),
    second: async () => open("project"),
    otherProject: async () => open("other"),
    close: async () => {},
  };
});

describeSharedLog("memory", async () => {
  const numbers = new Map<string, number>();
  const open = openMemory((project, name) => (project === "project" ? numbers.get(name) : undefined));
  return {
    log: open("project"),
    second: async () => open("project"),
    otherProject: async () => open("other"),
    giveLease: async (name) => {
      const number = (numbers.get(name) ?? 0) + 1;
      numbers.set(name, number);
      return number;
    },
    close: async () => {},
  };
});

/** With the number of the last lease of a name, it is one that many share. */
function openMemory(
  lastOf?: (project: string, name: string) => number | undefined,
): (project: string) => MemoryLog {
  const storage = new MemoryStorage();
  const pause = async (): Promise<void> => {
    for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await immediately();
  };
  return (project) =>
    new MemoryLog({
      storage,
      project,
      now: Date.now,
      pause,
      ...(lastOf && { isLast: ({ name, number }) => lastOf(project, name) === number }),
    });
}
