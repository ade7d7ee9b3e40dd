import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Event, Recorded } from "../../core/events.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import { openSqliteLog } from "./sqlite-log.ts";

const PAGE = 4096;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-store-"));
  file = join(folder, "state.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("of a damaged file is saved", () => {
  test("everything before the damage, and the log goes on there", async () => {
    const before = await fill(300);
    destroyPages(file, [pagesOf(file) - 30]);
    const { saved, notice } = await reopened();
    expect(saved.length).toBeGreaterThan(50);
    expect(saved.length).toBeLessThan(300);
    expect(saved).toEqual(before.slice(0, saved.length));
    expect(notice).toMatch(
      new RegExp(`; ${saved.length} events, up to 2026-01-20T08:30:00.000Z, were saved, and what came after`),
    );
    const { log } = openSqliteLog(file, "p");
    expect((await log.append([unblocked("next")]))?.[0]?.position).toBe(saved.length + 1);
    await log.close();
  });

  test("the first half of one that was cut in half", async () => {
    const before = await fill(300);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    const { saved } = await reopened();
    expect(saved.length).toBeGreaterThan(50);
    expect(saved).toEqual(before.slice(0, saved.length));
  });

  test("what can be read, when a stretch of it anywhere is nothing but zeros", async () => {
    const before = await fill(60);
    const sound = readFileSync(file);
    const found = new Set<number>();
    for (let from = PAGE / 2; from + 1.5 * PAGE <= sound.length; from += PAGE) {
      writeFileSync(file, Buffer.from(sound).fill(0, from, from + 1.5 * PAGE));
      const { saved } = await reopened();
      expect(saved).toEqual(before.slice(0, saved.length));
      found.add(saved.length);
    }
    expect(found.size).toBeGreaterThan(5);
  });

  test("everything, when only its first page is gone", async () => {
    const before = await fill(300);
    destroyPages(file, [0]);
    const { saved, notice } = await reopened();
    expect(saved).toEqual(before);
    expect(notice).toContain("; all 300 events that it held were saved");
  });

  test("everything, when only an index is wrong", async () => {
    const before = await fill(30);
    const db = new Database(file);
    const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_time'").pluck().get();
    db.close();
    destroyPages(file, [Number(root) - 1]);
    const { saved, notice } = await reopened();
    expect(notice).toContain("; all 30 events that it held were saved");
    expect(saved).toEqual(before);
  });

  test.each([
    ["an event's text", "UPDATE events SET data = replace(data, 'words', 'wards') WHERE position = 11"],
    ["an event's time", "UPDATE events SET at = at + 1 WHERE position = 11"],
    ["the order of events", "UPDATE events SET position = -position WHERE position = 11"],
    ["an event's version", "UPDATE events SET v = v - 1 WHERE position = 11"],
  ])("what came before %s changed", async (_, sql) => {
    const before = await fill(30);
    change(sql);
    const { saved, notice } = await reopened();
    expect(saved).toEqual(before.slice(0, 10));
    expect(notice).toMatch(/; 10 events, up to .*, were saved, and what came after them is lost/);
  });

  test.each(["PRAGMA user_version = 0", "PRAGMA user_version = 129"])("everything after %s", async (sql) => {
    const before = await fill(30);
    change(sql);
    expect((await reopened()).saved).toEqual(before);
  });

  test("what was not yet in the file itself when the machine stopped", async () => {
    const { log } = openSqliteLog(file, "p", { now });
    const before = await log.append(Array.from({ length: 20 }, (_, index) => unblocked(`task ${index}`)));
    const stopped = join(folder, "stopped.db");
    for (const suffix of ["", "-wal"]) copyFileSync(file + suffix, stopped + suffix);
    await log.close();
    expect(statSync(`${stopped}-wal`).size).toBeGreaterThan(20 * 600);
    truncateSync(stopped, 100);
    file = stopped;
    expect((await reopened()).saved).toEqual(before);
  });
});

test("what a row holds that is no event ends it: what follows cannot be understood without it", async () => {
  const before = await fill(30);
  change("UPDATE events SET data = '{half' WHERE position = 11");
  destroyPages(file, [pagesOf(file) - 1]);
  const { saved } = await reopened();
  expect(saved).toEqual(before.slice(0, saved.length));
  expect(saved.length).toBeLessThanOrEqual(10);
});

test("an iteration whose end is lost is left out: nobody may take it for one that is under way", async () => {
  const { log } = openSqliteLog(file, "p", { now });
  await log.append([unblocked("task 1"), STARTED, unblocked("task 2")]);
  await log.append(Array.from({ length: 100 }, (_, index) => unblocked(`task ${index}`)));
  await log.close();
  destroyPages(file, [pagesOf(file) - 3]);
  const { saved } = await reopened();
  expect(saved.length).toBeGreaterThan(2);
  expect(saved.map(({ type }) => type)).not.toContain("iteration.started");
  expect(saved.map(({ position }) => position)).toEqual(saved.map((_, index) => index + 1));
});

test("events from before checksums are read as they are", async () => {
  const before = await fill(30);
  change("UPDATE events SET data = json_remove(data, '$.\"#\"')");
  expect(await reopened()).toEqual({ saved: before, notice: "" });
});

test("a flipped bit or a cut anywhere changes no fact silently, and what is left is usable", async () => {
  const before = await fill(40);
  const sound = readFileSync(file);
  const ended = new Set<string>();
  for (let seed = 0; seed < 40; seed += 1) {
    const at = (seed * 7_919 + seed ** 3) % sound.length;
    const spoilt = Buffer.from(sound);
    spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (seed % 8));
    for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
    writeFileSync(file, seed % 8 === 7 ? sound.subarray(0, at) : spoilt);
    const { saved, notice } = await reopened();
    expect([seed, at, saved]).toEqual([seed, at, before.slice(0, saved.length)]);
    expect([seed, at, notice]).toEqual([
      seed,
      at,
      expect.stringMatching(saved.length < 40 ? /damaged.*set aside/ : /^/),
    ]);
    ended.add(saved.length === 40 ? "whole" : saved.length > 0 ? "some" : "none");
    const { log } = openSqliteLog(file, "p");
    expect(await log.append([unblocked("next")])).toHaveLength(1);
    await log.close();
  }
  expect([...ended].toSorted()).toEqual(["none", "some", "whole"]);
});

test("projects that share the file keep what they have, each by itself", async () => {
  await fill(10);
  const others = await fill(10, "other");
  change("DELETE FROM events WHERE project = 'p' AND position = 5");
  destroyPages(file, [0]);
  expect((await reopened()).saved).toHaveLength(4);
  expect((await reopened("other")).saved).toEqual(others);
});

test("a log that was forgotten does not come back", async () => {
  await fill(300);
  const { log } = openSqliteLog(file, "p", { now });
  await log.forget();
  const after = await log.append([unblocked("anew")]);
  await log.close();
  destroyPages(file, [0]);
  expect((await reopened()).saved).toEqual(after);
});

test("the damaged file is kept as it was, the new one is for the owner alone, and nothing else is left", async () => {
  await fill(300);
  destroyPages(file, [0, 12]);
  const damaged = readFileSync(file);
  await reopened();
  const [aside, ...more] = readdirSync(folder).filter((name) => name.startsWith("state.db.corrupt-"));
  expect(more).toEqual([]);
  expect(readFileSync(join(folder, aside ?? "")).equals(damaged)).toBe(true);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(readdirSync(folder).filter((name) => name.includes("mended"))).toEqual([]);
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test("a snapshot of the damaged one is not believed", async () => {
  await fill(30);
  const { log } = openSqliteLog(file, "p", { now });
  await log.saveSnapshot({ ...EMPTY_STATE, position: 30 }, 1);
  await log.close();
  destroyPages(file, [0]);
  await reopened();
  const again = openSqliteLog(file, "p");
  expect(await again.log.loadSnapshot(1)).toBeNull();
  await again.log.close();
});

const STARTED: Event = {
  type: "iteration.started",
  run: "r",
  task: "task 1",
  iteration: 1,
  stage: "build",
  ordinal: 1,
  maxIterations: 3,
  lane: 1,
  agent: "demo",
  timeoutMs: 1000,
  timeoutFrom: "formula",
  complexity: "medium",
  promptSha256: "",
  head: null,
  branch: "main",
  marker: "m",
};

const now = (): number => Date.UTC(2026, 0, 20, 8, 30);

async function fill(count: number, project = "p"): Promise<readonly Recorded[]> {
  const { log } = openSqliteLog(file, project, { now });
  const events = await log.append(Array.from({ length: count }, (_, index) => unblocked(`task ${index}`)));
  await log.close();
  return events ?? [];
}

function unblocked(task: string): Event {
  return { type: "task.unblocked", task, reason: "words ".repeat(100), timeoutMs: null, by: "person" };
}

/** Opening mends, or else the first look does. */
async function reopened(project = "p"): Promise<{ saved: readonly Recorded[]; notice: string }> {
  const first = openSqliteLog(file, project);
  try {
    return { saved: await first.log.read(0), notice: first.notice ?? "" };
  } catch (error) {
    const second = openSqliteLog(file, project);
    const saved = await second.log.read(0);
    await second.log.close();
    return { saved, notice: (error as Error).message };
  } finally {
    await first.log.close();
  }
}

function pagesOf(path: string): number {
  return statSync(path).size / PAGE;
}

function destroyPages(path: string, pages: readonly number[]): void {
  const descriptor = openSync(path, "r+");
  for (const page of pages) writeSync(descriptor, Buffer.alloc(PAGE, 0xee), 0, PAGE, page * PAGE);
  closeSync(descriptor);
}

function change(sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}
