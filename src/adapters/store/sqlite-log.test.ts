import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { raceStoreProcesses, startStoreProcess } from "../../../test/fixtures/start-store-process.ts";
import { type Event, EVENT_VERSION } from "../../core/events.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import type { LogFilter } from "../../engine/ports.ts";
import { migrate } from "./schema.ts";
import { openSqliteLog, readQuery } from "./sqlite-log.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-store-"));
  file = join(folder, "state.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("opening", () => {
  test("makes the folders above it, readable for the owner alone, and the log stores durably", async () => {
    const deep = join(folder, "a/b/state.db");
    const { log, notice } = openSqliteLog(deep, "p");
    expect(notice).toBeNull();
    expect(statSync(deep).mode & 0o077).toBe(0);
    expect(statSync(`${deep}-wal`).mode & 0o077).toBe(0);
    await log.close();
  });

  test("a file of a newer version is refused with both versions, and not touched", async () => {
    await fill(file, 3);
    inDatabase((db) => db.exec("CREATE TABLE later (x); PRAGMA user_version = 99"));
    const before = readFileSync(file);
    const refused = expect.objectContaining({
      code: "state-unusable",
      hint: "update ralph",
      message: expect.stringMatching(/state\.db was written by a newer ralph .*99.* 1\b/),
    });
    expect(() => openSqliteLog(file, "p")).toThrow(refused);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });

  test("a database of another program is refused and not touched", () => {
    inDatabase((db) => db.exec("CREATE TABLE events (theirs)"));
    const before = readFileSync(file);
    expect(() => openSqliteLog(file, "p")).toThrow("is a database of another program");
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("several processes that open a new file at the same moment all succeed", async () => {
    const racers = await raceStoreProcesses(5, "open-once", file);
    const answers = racers.map(({ said }) => JSON.parse(said) as { position: number; notice: string | null });
    expect(new Set(answers.map(({ position }) => position))).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(new Set(answers.map(({ notice }) => notice))).toEqual(new Set([null]));
  });
});

describe("a damaged file", () => {
  test("that is no database is set aside, and a new log is begun", async () => {
    const garbage = Buffer.from(Array.from({ length: 9000 }, (_, index) => (index * 7919) % 256));
    writeFileSync(file, garbage);
    const { log, notice } = openSqliteLog(file, "p", { now: () => Date.UTC(2026, 0, 20, 8, 30) });
    const aside = `${file}.corrupt-2026-01-20T08-30-00.000Z`;
    expect(notice).toBe(
      `${file} was damaged and has been set aside as ${aside}; none of its history could be read, so a new one begins`,
    );
    expect(readFileSync(aside).equals(garbage)).toBe(true);
    expect(await log.append([unblocked("a")])).toHaveLength(1);
    await log.close();
  });

  test("whose damage shows only when it is read is set aside then, and the next start is well", async () => {
    await fill(file, 3_000);
    overwriteMiddle(file);
    const { log, notice } = openSqliteLog(file, "p");
    expect(notice).toBeNull();
    await expect(log.read(0)).rejects.toMatchObject({
      code: "state-unusable",
      message: expect.stringContaining(`${file} was damaged and has been set aside as ${file}.corrupt-`),
    });
    const next = openSqliteLog(file, "p");
    expect(next.notice).toBeNull();
    expect((await next.log.read(0)).length).toBeGreaterThan(0);
    await next.log.close();
  });

  test("met by several processes at once is set aside once, and nothing of the fresh log is lost", async () => {
    writeFileSync(file, "garbage ".repeat(2000));
    const racers = await raceStoreProcesses(4, "open-once", file);
    const answers = racers.map(({ said }) => JSON.parse(said) as { position: number; notice: string | null });
    expect(new Set(answers.map(({ position }) => position))).toEqual(new Set([1, 2, 3, 4]));
    expect(answers.filter(({ notice }) => notice !== null)).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => name.includes("corrupt"))).toHaveLength(1);
  });

  test("an empty file is simply new", async () => {
    writeFileSync(file, "");
    const { log, notice } = openSqliteLog(file, "p");
    expect(notice).toBeNull();
    await log.close();
  });

  test("a snapshot that cannot be read is ignored", async () => {
    await fill(file, 1);
    const { log } = openSqliteLog(file, "p");
    await log.saveSnapshot({ ...EMPTY_STATE, position: 1 }, 1);
    inDatabase((db) => db.exec("UPDATE snapshots SET state = '{half'"));
    expect(await log.loadSnapshot(1)).toBeNull();
    await log.close();
  });

  test("an event of a newer ralph stops the reader", async () => {
    await fill(file, 2);
    inDatabase((db) =>
      db.exec(
        `UPDATE events SET v = ${EVENT_VERSION + 1}, data = json_remove(data, '$."#"') WHERE position = 2`,
      ),
    );
    const { log } = openSqliteLog(file, "p");
    await expect(log.read(0)).rejects.toMatchObject({ code: "state-unusable", hint: "update ralph" });
    await log.close();
  });
});

describe("a place that cannot be written", () => {
  test("a file where a folder should be", () => {
    writeFileSync(join(folder, "taken"), "");
    expect(() => openSqliteLog(join(folder, "taken/state.db"), "p")).toThrow(
      expect.objectContaining({ code: "not-writable", message: expect.stringContaining("taken/state.db") }),
    );
  });

  test("a new file in a read-only folder", async () => {
    await asStranger(() => {
      expect(() => openSqliteLog(file, "p")).toThrow(expect.objectContaining({ code: "not-writable" }));
    });
  });

  test("a read-only folder with a database in it, which is left alone", async () => {
    await fill(file, 1);
    const before = readFileSync(file);
    await asStranger(() => {
      expect(() => openSqliteLog(file, "p")).toThrow(expect.objectContaining({ code: "not-writable" }));
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });

  test("a read-only file in a writable folder can be read, and says so when written", async () => {
    await fill(file, 1);
    await asStranger(async () => {
      const { log } = openSqliteLog(file, "p");
      expect(await log.read(0)).toHaveLength(1);
      await expect(log.append([unblocked("a")])).rejects.toMatchObject({ code: "not-writable" });
      await log.close();
    }, 0o777);
  });
});

describe("several processes", () => {
  test("kill -9 at any moment loses no acknowledged event", async () => {
    for (let round = 0; round < 5; round += 1) {
      const before = await readAll();
      const writer = startStoreProcess("append-forever", file);
      await writer.line();
      await sleep(Math.random() * 80);
      await writer.kill();
      const acknowledged = [before.length + 1, ...(await writer.rest()).filter(Boolean).map(Number)];
      const after = await readAll();
      expect(after.map(({ position }) => position)).toEqual(after.map((_, index) => index + 1));
      expect(acknowledged).toEqual(acknowledged.map((_, index) => before.length + 1 + index));
      // At most the one whose acknowledgement died with the process.
      expect(after.length - before.length - acknowledged.length).toBeOneOf([0, 1]);
    }
  });

  test("another process that holds the database neither freezes ours nor keeps it from reading", async () => {
    const { log } = openSqliteLog(file, "p");
    const pauses: number[] = [];
    // A machine that is busy with others makes long pauses, too, but not every time.
    while (pauses.length < 5 && !pauses.some((pause) => pause < 200)) {
      const holder = startStoreProcess("hold-writes", file);
      expect(await holder.line()).toBe("held");
      const there = (await log.read(0)).length;
      const watch = watchEventLoop();
      let answered = 0;
      const appending = Array.from({ length: 20 }, async (_, index) => {
        const events = await log.append([unblocked(`${index}`)]);
        answered += 1;
        return events?.[0]?.position;
      });
      await sleep(300);
      pauses.push(watch.longestPauseMs());
      expect(answered).toBe(0);
      holder.go();
      const positions = await Promise.all(appending);
      expect(positions).toEqual(positions.map((_, index) => there + index + 1));
      await holder.rest();
    }
    expect(Math.min(...pauses)).toBeLessThan(200);
    await log.close();
  });

  test("patience ends with a sentence, for all that wait", async () => {
    const patienceMs = 500;
    const { log } = openSqliteLog(file, "p", { patienceMs });
    const holder = startStoreProcess("hold-writes", file);
    await holder.line();
    const refused = expect.objectContaining({
      code: "state-unusable",
      message: `the database ${file} is busy: another process keeps writing to it`,
    });
    const waiting = Array.from({ length: 8 }, () => log.append([unblocked("a")]));
    const all = Promise.allSettled(waiting);
    await Promise.allSettled(waiting.slice(0, 1));
    const firstAt = performance.now();
    const outcomes = await all;
    // Those in line behind the first do not begin to wait anew.
    expect(performance.now() - firstAt).toBeLessThan((7 * patienceMs) / 2);
    const reasons = outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason);
    expect(reasons).toEqual(outcomes.map(() => refused));
    holder.go();
    expect(await holder.line()).toBe("released");
    expect(await log.append([unblocked("a")])).toHaveLength(1);
    await log.close();
  });
});

async function fill(path: string, count: number): Promise<void> {
  const { log } = openSqliteLog(path, "p");
  await log.append(Array.from({ length: count }, (_, index) => unblocked(`task ${index}`)));
  await log.close();
}

async function readAll(): Promise<readonly { position: number }[]> {
  const { log } = openSqliteLog(file, "project");
  const events = await log.read(0);
  await log.close();
  return events;
}

function unblocked(task: string): Event {
  return { type: "task.unblocked", task, reason: "words ".repeat(100), timeoutMs: null, by: "person" };
}

function inDatabase(work: (db: Database.Database) => void): void {
  const db = new Database(file);
  work(db);
  db.close();
}

/** Leaves the schema alone and spoils the pages after it. */
function overwriteMiddle(path: string): void {
  const size = statSync(path).size;
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.alloc(Math.floor(size / 2 / 4096) * 4096, 0xee), 0, undefined, 12 * 4096);
  closeSync(descriptor);
}

/** Permissions do not bind root, so root becomes somebody else for a while. */
async function asStranger(work: () => void | Promise<void>, folderMode = 0o555): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  chmodSync(folder, folderMode);
  if (existsSync(file)) chmodSync(file, 0o444);
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o755);
  }
}

function watchEventLoop(): { longestPauseMs(): number } {
  let last = performance.now();
  let longest = 0;
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(tick, 5);
  return {
    longestPauseMs: () => {
      clearInterval(timer);
      tick();
      return longest;
    },
  };
}

test("two processes never make more calls than are allowed, in a hundred tries", async () => {
  const racers = await raceStoreProcesses(2, "make-calls", folder);
  const made = racers.map(({ said }) => Number(said));
  expect(made[0]! + made[1]!).toBe(1_000);
  for (let number = 0; number < 100; number += 1) {
    const { log } = openSqliteLog(join(folder, `${number}.db`), "looking");
    expect(await log.countCalls(0)).toBe(10);
    await log.close();
  }
});

const FILTERS: readonly [LogFilter, string][] = [
  [{}, "sqlite_autoindex_events_1 (project=? AND position>?)"],
  [{ limit: 5 }, "sqlite_autoindex_events_1 (project=? AND position>?)"],
  [{ types: ["run.ended"] }, "events_by_type (project=? AND type=? AND position>?)"],
  [{ types: ["run.ended", "run.started"] }, "events_by_type (project=? AND type=? AND position>?)"],
  [{ task: "a" }, "events_by_task (project=? AND task=? AND position>?)"],
  [{ task: "a", types: ["run.ended"] }, "(project=? AND t"],
  [{ iteration: 1 }, "events_by_iteration (project=? AND iteration=? AND position>?)"],
  [
    { iteration: 1, types: ["run.ended", "run.started"] },
    "events_by_iteration (project=? AND iteration=? AND",
  ],
  [
    { iterations: { from: 1, to: 9 }, types: ["run.ended", "run.started"] },
    "events_by_iteration (project=? AND iteration>? AND iteration<?)",
  ],
];

test.each(FILTERS)("the events that match %j are found by an index", (filter, index) => {
  const db = new Database(":memory:");
  migrate(db, ":memory:");
  const { sql, values } = readQuery("p", 7, filter);
  const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  expect(plan[0]?.detail).toContain(index);
  db.close();
});
