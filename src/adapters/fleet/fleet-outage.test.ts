import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ANY, BUSY, connect, join, ONE, takeWhenFree } from "../../../test/contract/fleet-hands.ts";
import { startServer, type TestServer } from "../../../test/support/postgres.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

describe("the fleet and a process", () => {
  test("that is killed: its task goes on elsewhere, once", async () => {
    const other = await join(await connect(server.url), "other", [], 3_000, "victim's");
    await other.offer([ONE]);
    const worker = await startWorker("victim");
    expect(await worker.next()).toEqual({ took: ["one"] });
    worker.child.kill("SIGKILL");
    const [lease] = await takeWhenFree(other);
    expect(lease).toMatchObject({ name: "one", from: "victim" });
    expect((await other.workers()).find(({ id }) => id === "victim")).toMatchObject({
      is: "vanished",
      holds: [],
    });
  });

  test("that is frozen: when it wakes up it learns that its task is another's by now", async () => {
    const other = await join(await connect(server.url), "other", [], 3_000, "sleeper's");
    await other.offer([ONE]);
    const worker = await startWorker("sleeper");
    expect(await worker.next()).toEqual({ took: ["one"] });
    worker.child.kill("SIGSTOP");
    const [lease] = await takeWhenFree(other);
    expect(lease).toMatchObject({ name: "one", from: "sleeper" });
    worker.child.kill("SIGCONT");
    expect(await worker.next()).toEqual({ lost: ["one"] });
    expect((await other.beat(BUSY)).lost).toEqual([]);
  });
});

describe("the fleet and a server that goes away", () => {
  test("who could not beat while it was away keeps what it held, and nobody else gets it", async () => {
    const leaseMs = 4_000;
    const a = await join(await connect(server.url), "a", [], leaseMs);
    const b = await join(await connect(server.url), "b", [], leaseMs);
    await a.offer([ONE]);
    const [lease] = await a.take(1, ANY);
    const part = await a.takeRole("@keeper");
    await server.kill();
    await sleep(leaseMs * 1.25);
    const meanwhile = [b.take(1, ANY), b.takeRole("@keeper")];
    await server.start();
    expect(await Promise.all(meanwhile)).toEqual([[], null]);
    expect((await a.beat(BUSY)).lost).toEqual([]);
    expect(await a.takeRole("@keeper")).toEqual(part);
    expect(await b.take(1, ANY)).toEqual([]);
    // From now on it is silent of its own accord.
    const [taken] = await takeWhenFree(b);
    expect(taken).toMatchObject({ name: "one", from: "a" });
    expect(taken!.number).toBeGreaterThan(lease!.number);
    await a.release(lease!);
    expect((await b.beat(BUSY)).lost).toEqual([]);
  });

  test("who leaves while it is away does not wait for it", async () => {
    const fleet = await join(await connect(server.url), "a", [], 60_000, "leaving");
    await fleet.takeRole("@keeper");
    await server.stop();
    await fleet.leave();
    await server.start();
  });
});

/** A worker in a process of its own, which takes one task and beats until that is lost. */
async function startWorker(id: string): Promise<{ readonly child: ChildProcess; next(): Promise<unknown> }> {
  const script = fileURLToPath(new URL("../../../test/contract/fleet-worker.ts", import.meta.url));
  const child = spawn(process.execPath, [script, server.url, id, `${id}'s`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
