import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  raceStoreProcesses,
  startStoreProcess,
  type StoreProcess,
} from "../../../test/fixtures/start-store-process.ts";
import { acquireProjectLock, isProjectLocked } from "./project-lock.ts";

let folder: string;
const started: StoreProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-lock-"));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.kill()));
  rmSync(folder, { recursive: true });
});

test("a free lock is taken, says who has it, and is gone without a trace when released", () => {
  const lock = acquireProjectLock(join(folder, "new/state"));
  const holder = JSON.parse(readFileSync(join(folder, "new/state/lock.json"), "utf8")) as object;
  expect(holder).toEqual({ pid: process.pid, started_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(isProjectLocked(join(folder, "new/state"))).toEqual({ pid: process.pid });
  lock.release();
  expect(existsSync(join(folder, "new/state/lock.json"))).toBe(false);
  expect(isProjectLocked(join(folder, "new/state"))).toBeNull();
  acquireProjectLock(join(folder, "new/state")).release();
});

test("releasing twice does not take the lock from the next holder", () => {
  const first = acquireProjectLock(folder);
  first.release();
  const second = acquireProjectLock(folder);
  first.release();
  expect(isProjectLocked(folder)).toEqual({ pid: process.pid });
  second.release();
});

test("the same process is refused as well", () => {
  const lock = acquireProjectLock(folder);
  expect(() => acquireProjectLock(folder)).toThrow(`repository (pid ${process.pid})`);
  lock.release();
});

test("a second process is refused with the pid of the first", async () => {
  const holder = await startHolder();
  expect(isProjectLocked(folder)).toEqual({ pid: holder.pid });
  expect(() => acquireProjectLock(folder)).toThrow(
    expect.objectContaining({
      code: "already-running",
      message: `another ralph run is working in this repository (pid ${holder.pid})`,
      hint: expect.stringContaining("ralph stop"),
    }),
  );
});

test("the lock is free at once after kill -9, whatever the dead one left behind", async () => {
  const holder = await startHolder();
  await holder.kill();
  expect(existsSync(join(folder, "lock.json"))).toBe(true);
  expect(isProjectLocked(folder)).toBeNull();
  const lock = acquireProjectLock(folder);
  expect(isProjectLocked(folder)).toEqual({ pid: process.pid });
  lock.release();
});

test("a holder that is stopped keeps the lock", async () => {
  const holder = await startHolder();
  holder.signal("SIGSTOP");
  expect(() => acquireProjectLock(folder)).toThrow(`(pid ${holder.pid})`);
  expect(isProjectLocked(folder)).toEqual({ pid: holder.pid });
  holder.signal("SIGCONT");
});

test("of several that want it at the same moment exactly one gets it", async () => {
  const racers = await raceStoreProcesses(3, "lock", folder);
  started.push(...racers.map(({ process }) => process));
  const winners = racers.filter(({ said }) => said === "locked");
  expect(winners).toHaveLength(1);
  const losers = racers.filter(({ said }) => said !== "locked");
  expect(losers.map(({ said }) => said)).toEqual(
    losers.map(() => `another ralph run is working in this repository (pid ${winners[0]!.process.pid})`),
  );
});

test("looking does not disturb the holder, from its own process or from another", async () => {
  const lock = acquireProjectLock(folder);
  for (let looks = 0; looks < 10; looks += 1) expect(isProjectLocked(folder)).toEqual({ pid: process.pid });
  const looker = start("look-at-lock");
  expect(JSON.parse(await looker.line())).toEqual({ pid: process.pid });
  const rival = start("lock");
  await rival.line();
  rival.go();
  expect(await rival.line()).toContain(`(pid ${process.pid})`);
  lock.release();
});

test("looking makes no files", () => {
  expect(isProjectLocked(folder)).toBeNull();
  expect(isProjectLocked(join(folder, "missing"))).toBeNull();
  expect(readdirSync(folder)).toEqual([]);
});

test("a holder that has not said who it is still counts", async () => {
  await startHolder();
  writeFileSync(join(folder, "lock.json"), "");
  expect(isProjectLocked(folder)).toEqual({ pid: null });
  expect(() => acquireProjectLock(folder)).toThrow(/is working in this repository$/);
});

test("a folder that cannot be made is named", () => {
  writeFileSync(join(folder, "taken"), "");
  expect(() => acquireProjectLock(join(folder, "taken/state"))).toThrow(
    expect.objectContaining({
      code: "not-writable",
      message: expect.stringContaining("taken/state/lock.db"),
    }),
  );
});

function start(role: string): StoreProcess {
  const process = startStoreProcess(role, folder);
  started.push(process);
  return process;
}

async function startHolder(): Promise<StoreProcess> {
  const holder = start("lock");
  await holder.line();
  holder.go();
  expect(await holder.line()).toBe("locked");
  return holder;
}
