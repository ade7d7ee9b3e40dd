import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  ask,
  cuttableProxy,
  freshDatabase,
  startServer,
  type CuttableProxy,
  type FreshDatabase,
  type TestServer,
} from "../../../test/support/postgres.ts";
import { EVENT_VERSION, type Event, type Recorded } from "../../core/events.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import type { SharedLog } from "../../engine/fleet-ports.ts";
import { openDatabase, type Database } from "./database.ts";
import { openPostgresLog } from "./postgres-log.ts";
import { migrate } from "./schema.ts";

let fresh: FreshDatabase;
let database: Database;
let project = 0;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = await openDatabase(fresh.url);
  await migrate(database);
}, 90_000);
beforeEach(() => {
  project += 1;
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describe("what is stored", () => {
  test("ids with NUL and halves of surrogate pairs are found again, each its own", async () => {
    const log = open();
    const ids = ["a\0b", "x\ud83dy", "x\ud83ey", "'; DROP TABLE ralph.events; --"];
    for (const id of ids) await log.append([reset(id)], { task: { id, position: 0 } });
    for (const [index, id] of ids.entries()) {
      expect(await log.read(0, { task: id })).toMatchObject([{ task: id, position: index + 1 }]);
      expect(await log.append([reset(id)], { task: { id, position: 0 } })).toBeNull();
    }
  });

  test("more events than a statement has values for, and more than a page", async () => {
    const log = open();
    const many = Array.from({ length: 2_500 }, (_, index) => reset(`${index % 50}`));
    expect(await log.append(many)).toHaveLength(2_500);
    const read = await log.read(0);
    expect(read.map(({ position }) => position)).toEqual(many.map((_, index) => index + 1));
    expect(await log.read(100, { limit: 1_700 })).toEqual(read.slice(100, 1_800));
    expect(await log.read(0, { types: ["task.reset"], limit: 2_100 })).toEqual(read.slice(0, 2_100));
  });

  test("times never go backwards, though the server's clock does", async () => {
    const log = open();
    await log.append([reset("a")]);
    const late = Date.now() + 3_600_000;
    await ask(fresh.url, `UPDATE ralph.projects SET at = ${late} WHERE id = 'project ${project}'`);
    expect(await log.append([reset("a")])).toMatchObject([{ at: late }]);
  });

  test("an event of a newer ralph stops the reader", async () => {
    const log = open();
    await log.append([reset("a")]);
    await ask(
      fresh.url,
      `UPDATE ralph.events SET v = ${EVENT_VERSION + 1}, data = (data::jsonb - '#')::text WHERE project = 'project ${project}'`,
    );
    await expect(log.read(0)).rejects.toMatchObject({ code: "state-unusable", hint: "update ralph" });
  });

  test("an event that is not what was written is named, with what to do; one without a checksum is read", async () => {
    const log = open();
    await log.append([reset("a")]);
    const where = `WHERE project = 'project ${project}'`;
    await ask(fresh.url, `UPDATE ralph.events SET data = (data::jsonb - '#')::text ${where}`);
    expect(await log.read(0)).toHaveLength(1);
    await log.append([reset("b")]);
    await ask(fresh.url, `UPDATE ralph.events SET at = at + 1 ${where}`);
    await expect(log.read(0)).rejects.toMatchObject({
      code: "state-unusable",
      message: expect.stringMatching(/^event 2 in .* is damaged$/),
      hint: expect.stringContaining("ralph reset --all"),
    });
  });

  test("a snapshot that comes late does not replace a later one", async () => {
    const log = open();
    await log.append([reset("a"), reset("b")]);
    await log.saveSnapshot({ ...EMPTY_STATE, position: 2 }, 1);
    await log.saveSnapshot({ ...EMPTY_STATE, position: 1 }, 1);
    expect(await log.loadSnapshot(1)).toMatchObject({ position: 2 });
  });

  test("what is forgotten begins anew, and nothing else is", async () => {
    const [log, other] = [open(), openPostgresLog(database, "neighbour")];
    await Promise.all([log.append([reset("a"), reset("b")]), other.append([reset("a")])]);
    await log.saveSnapshot({ ...EMPTY_STATE, position: 2 }, 1);
    await log.forget();
    expect([await log.read(0), await log.loadSnapshot(1)]).toEqual([[], null]);
    expect(await log.append([reset("c")], { position: 0 })).toMatchObject([{ position: 1 }]);
    expect(await other.read(0)).toHaveLength(1);
  });
});

test("twenty machines that decide on the latest facts lose and double nothing", async () => {
  const machines = await Promise.all(
    Array.from({ length: 20 }, () => openDatabase(fresh.url, { maxConnections: 1 })),
  );
  await Promise.all(
    machines.map(async (machine, index) => {
      const log = open(machine);
      const task = `task ${index % 4}`;
      for (let count = 0; count < 3;) {
        const position = (await log.read(0, { task })).at(-1)?.position ?? 0;
        const expected = { task: { id: task, position } };
        if ((await log.append([unblocked(task, `${index}.${count}`)], expected)) !== null) count += 1;
      }
    }),
  );
  expectEachOnce(await open().read(0), 60);
  await Promise.all(machines.map((machine) => machine.close()));
});

describe("a connection that is lost at the worst moment", () => {
  let proxy: CuttableProxy;
  let through: Database;
  beforeEach(async () => {
    proxy = await cuttableProxy(fresh.url);
    through = await openDatabase(proxy.url, { patienceMs: 60_000 });
  });
  afterEach(async () => {
    await through.close();
    await proxy.close();
  });

  test("right after COMMIT was sent: every fact is there once, and the answer is the one that was written", async () => {
    const log = open(through);
    for (let index = 0; index < 20; index += 1) {
      proxy.cutAfterCommit(1 + (index % 2));
      const answer = await log.append([unblocked("a", `${index}`)], { position: index * 2 }, () => [
        reset("b"),
      ]);
      expect(answer).toEqual(await open().read(index * 2));
      expect(answer?.map(({ position }) => position)).toEqual([index * 2 + 1, index * 2 + 2]);
    }
    expect(proxy.cuts).toBeGreaterThanOrEqual(20);
  });

  test("though the COMMIT arrives long after we have come back to ask: every fact is there once", async () => {
    const log = open(through);
    for (let index = 0; index < 5; index += 1) {
      proxy.cutAfterCommit(1, 300);
      expect(await log.append([unblocked("a", `${index}`)])).toMatchObject([{ position: index + 1 }]);
    }
    expectEachOnce(await open().read(0), 5);
  });

  test("right before COMMIT was sent: every fact is there once", async () => {
    const log = open(through);
    for (let index = 0; index < 10; index += 1) {
      proxy.cutBeforeCommit(2);
      expect(await log.append([unblocked("a", `${index}`)])).toMatchObject([{ position: index + 1 }]);
    }
    expectEachOnce(await log.read(0), 10);
  });

  test("while another one appends meanwhile: its answer is its own", async () => {
    const [log, direct] = [open(through), open()];
    for (let index = 0; index < 10; index += 1) {
      proxy.cutAfterCommit(1);
      await Promise.all([
        log.append([unblocked("a", `${index}`)]),
        direct.append([unblocked("b", `b${index}`)]),
      ]);
    }
    expectEachOnce(await direct.read(0), 20);
  });

  test("a listener that was cut off hears again, of what it has missed as well", async () => {
    const heard = vi.fn<() => void>();
    const listening = await open(through).listen(heard);
    proxy.cut();
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 20_000 });
    heard.mockClear();
    await open().append([reset("a")]);
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 20_000 });
    await listening.close();
  });
});

describe("a server that goes away under load", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  }, 90_000);
  afterAll(() => server.remove());

  test.each(["restart", "kill"] as const)("%s, five times: every fact is there once", async (how) => {
    const machines = await Promise.all(
      [1, 2, 3].map(() => openDatabase(server.url, { patienceMs: Infinity })),
    );
    await migrate(machines[0]!);
    const over = new AbortController();
    let written = 0;
    const writing = machines.map(async (machine, index) => {
      const log = openPostgresLog(machine, how);
      for (let count = 0; !over.signal.aborted; count += 1) {
        await log.append([unblocked("a", `${index}.${count}`)]);
        written += 1;
      }
    });
    for (let round = 0; round < 5; round += 1) {
      const before = written;
      await vi.waitFor(() => expect(written).toBeGreaterThan(before + 5), { timeout: 20_000 });
      await sleep(Math.random() * 20);
      await server[how === "kill" ? "kill" : "stop"]();
      await server.start();
    }
    over.abort();
    await Promise.all(writing);
    expectEachOnce(await openPostgresLog(machines[0]!, how).read(0), written);
    await Promise.all(machines.map((machine) => machine.close()));
  });
});

function open(machine = database): SharedLog {
  return openPostgresLog(machine, `project ${project}`);
}

function expectEachOnce(events: readonly Recorded[], count: number): void {
  expect(events.map(({ position }) => position)).toEqual(
    Array.from({ length: count }, (_, index) => index + 1),
  );
  expect(new Set(events.map((event) => ("reason" in event ? event.reason : ""))).size).toBe(count);
}

function reset(task: string): Event {
  return { type: "task.reset", task };
}

function unblocked(task: string, reason: string): Event {
  return { type: "task.unblocked", task, reason, timeoutMs: null, by: "person" };
}
