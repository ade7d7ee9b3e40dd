import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  cuttableProxy,
  type FreshDatabase,
  freshDatabase,
  startServer,
  type TestServer,
} from "../../../test/support/postgres.ts";
import type { Fleet, WorkerReport } from "../../engine/fleet-ports.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";
import { openFleet } from "./fleet.ts";
import { jobGrantsFor } from "./jobs.ts";
import { grantsFor } from "./schema.ts";

const BUSY: WorkerReport = { lanes: 1, isLeaving: false, progress: [] };
const ANY = [[]];
const ONE = { task: "one", labels: [], rank: 0 };

describe("the fleet and its database", () => {
  test("ten workers who start at the same moment on an empty database share one", async () => {
    const { url } = await fresh();
    const fleets = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => join(await connect(url), `w${index}`)),
    );
    await Promise.all(fleets.map((fleet) => fleet.offer([ONE])));
    const taken = await Promise.all(fleets.map((fleet) => fleet.take(1, ANY)));
    expect(taken.flat()).toHaveLength(1);
    expect(await fleets[0]!.workers()).toHaveLength(10);
  });

  test("a role that may not create anything can work once the schemas are there", async () => {
    const { url } = await fresh();
    await (await join(await connect(url), "owner")).offer([ONE]);
    const role = `worker_${process.pid}_${Date.now()}`;
    await ask(url, `CREATE ROLE ${role} LOGIN PASSWORD 'pw'`, ...grantsFor(role), ...jobGrantsFor(role));
    const limited = new URL(url);
    limited.username = role;
    limited.password = "pw";
    const database = await connect(limited.href);
    const fleet = await join(database, "limited");
    const [lease] = await fleet.take(1, ANY);
    await fleet.beat(BUSY);
    await fleet.release(lease!);
    await fleet.offer([ONE, { task: "two", labels: ["new"], rank: 1 }]);
    expect(await fleet.play("@keeper")).not.toBeNull();
    await fleet.leave();
    await database.close();
    await ask(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  });

  test("one connection is enough", async () => {
    const { url } = await fresh();
    const first = await join(await connect(url), "first");
    await first.offer([ONE, { task: "two", labels: ["x"], rank: 1 }]);
    const fleet = await join(await connect(url, { maxConnections: 1 }), "second", ["x"]);
    const leases = await fleet.take(2, [[], ["x"]]);
    expect(leases.map(({ name }) => name)).toEqual(["one", "two"]);
    await Promise.all([...leases.map((lease) => fleet.release(lease)), fleet.beat(BUSY)]);
  });

  test("a job is delivered exactly while its task is held, however long that is", async () => {
    const { url } = await fresh();
    const fleet = await join(await connect(url), "a", [], 60_000);
    await fleet.offer([ONE]);
    expect(await jobs(url)).toEqual(["created"]);
    const [lease] = await fleet.take(1, ANY);
    expect(await jobs(url)).toEqual(["active"]);
    await ask(url, "UPDATE ralph_jobs.job SET started_on = started_on - interval '300 days'");
    // The first offer of a worker tidies up, too.
    await (await join(await connect(url), "b", [], 60_000)).offer([ONE]);
    expect(await jobs(url)).toEqual(["active"]);
    await fleet.release(lease!);
    expect(await jobs(url)).toEqual(["completed"]);
  });

  test("finished jobs and workers of long ago are deleted", async () => {
    const { url } = await fresh();
    const a = await join(await connect(url), "a");
    await a.offer([ONE]);
    await a.release((await a.take(1, ANY))[0]!);
    await a.leave();
    await ask(
      url,
      "UPDATE ralph_jobs.job SET completed_on = completed_on - interval '2 hours'",
      "UPDATE ralph_jobs.queue SET maintain_on = NULL, monitor_on = NULL, monitor_claim_on = NULL",
      "UPDATE ralph.workers SET seen_at = seen_at - interval '25 hours'",
    );
    const b = await join(await connect(url), "b");
    expect((await b.workers()).map(({ id }) => id)).toEqual(["b"]);
    await b.offer([]);
    expect(await jobs(url)).toEqual([]);
    expect(await ask(url, "SELECT id FROM ralph.workers")).toEqual([{ id: "b" }]);
  });

  test("leases that were lost from the table do not block a task for ever", async () => {
    const { url } = await fresh();
    const a = await join(await connect(url), "a");
    await a.offer([ONE]);
    await a.take(1, ANY);
    await ask(url, "DELETE FROM ralph.leases");
    await a.offer([ONE]);
    expect(await a.take(1, ANY)).toEqual([{ name: "one", number: 1, from: null }]);
  });

  test("a take whose COMMIT got no answer is not lost", async () => {
    const { url } = await fresh();
    const proxy = await cuttableProxy(url);
    onTestFinished(() => proxy.close());
    const fleet = await join(await connect(proxy.url), "a", [], 60_000);
    for (const task of ["one", "two", "three"]) {
      await fleet.offer([{ ...ONE, task }]);
      proxy.cutAfterCommit(1);
      const leases = await fleet.take(1, ANY);
      expect(leases).toEqual([{ name: task, number: 1, from: null }]);
    }
    expect(proxy.cuts).toBe(3);
    expect((await fleet.beat(BUSY)).lost).toEqual([]);
    expect((await fleet.workers())[0]!.holds).toHaveLength(3);
  });
});

describe("the fleet and a process", () => {
  test("that is killed: its task goes on elsewhere, once", async () => {
    const { url } = await fresh();
    const other = await join(await connect(url), "other");
    await other.offer([ONE]);
    const worker = await startWorker(url, "victim");
    expect(await worker.next()).toEqual({ took: ["one"] });
    worker.child.kill("SIGKILL");
    const [lease] = await until(() => alive(other).then(() => other.take(1, ANY)));
    expect(lease).toEqual({ name: "one", number: 2, from: "victim" });
    expect((await other.workers()).find(({ id }) => id === "victim")).toMatchObject({
      is: "vanished",
      holds: [],
    });
  });

  test("that is frozen: when it wakes up it learns that its task is another's by now", async () => {
    const { url } = await fresh();
    const other = await join(await connect(url), "other");
    await other.offer([ONE]);
    const worker = await startWorker(url, "sleeper");
    expect(await worker.next()).toEqual({ took: ["one"] });
    worker.child.kill("SIGSTOP");
    const [lease] = await until(() => alive(other).then(() => other.take(1, ANY)));
    expect(lease).toMatchObject({ number: 2, from: "sleeper" });
    worker.child.kill("SIGCONT");
    expect(await worker.next()).toEqual({ lost: ["one"] });
    expect((await other.beat(BUSY)).lost).toEqual([]);
  });
});

describe("the fleet and a server that goes away", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());

  test("who could not beat while it was away keeps what it held, and nobody else gets it", async () => {
    const leaseMs = 4_000;
    const a = await join(await connect(server.url), "a", [], leaseMs);
    const b = await join(await connect(server.url), "b", [], leaseMs);
    await a.offer([ONE]);
    const [lease] = await a.take(1, ANY);
    await a.play("@keeper");
    await server.kill();
    await sleep(leaseMs * 1.25);
    const meanwhile = [b.take(1, ANY), b.play("@keeper")];
    await server.start();
    expect(await Promise.all(meanwhile)).toEqual([[], null]);
    expect((await a.beat(BUSY)).lost).toEqual([]);
    expect(await a.play("@keeper")).toMatchObject({ number: 1 });
    expect(await b.take(1, ANY)).toEqual([]);
    // From now on it is silent of its own accord.
    const [taken] = await until(() => alive(b).then(() => b.take(1, ANY)));
    expect(taken).toEqual({ name: "one", number: 2, from: "a" });
    await a.release(lease!);
    expect((await b.beat(BUSY)).lost).toEqual([]);
  });

  test("who leaves while it is away does not wait for it", async () => {
    const fleet = await join(await connect(server.url), "a", [], 60_000, "leaving");
    await fleet.play("@keeper");
    await server.stop();
    await fleet.leave();
    await server.start();
  });
});

async function alive(fleet: Fleet): Promise<void> {
  await fleet.beat(BUSY);
}

/** A worker in a process of its own, which takes one task and beats until that is lost. */
async function startWorker(
  url: string,
  id: string,
): Promise<{ readonly child: ChildProcess; next(): Promise<unknown> }> {
  const script = fileURLToPath(new URL("../../../test/contract/fleet-worker.ts", import.meta.url));
  const child = spawn(process.execPath, [script, url, id], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    next: async () => {
      const { value } = (await lines.next()) as { value: string };
      return JSON.parse(value) as unknown;
    },
  };
}

async function fresh(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  return database;
}

async function connect(url: string, options: DatabaseOptions = {}): Promise<Database> {
  const database = await openDatabase(url, { patienceMs: Infinity, maxConnections: 2, ...options });
  onTestFinished(() => database.close());
  return database;
}

async function join(
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

async function jobs(url: string): Promise<readonly string[]> {
  const rows = await ask<{ state: string }>(
    url,
    "SELECT state::text FROM ralph_jobs.job ORDER BY created_on",
  );
  return rows.map(({ state }) => state);
}

async function until<Item>(look: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = await look();
    if (found.length > 0) return found;
    await sleep(100);
  }
  throw new Error("it does not happen");
}
