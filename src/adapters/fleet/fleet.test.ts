import { expect, describe, onTestFinished, test } from "vitest";
import { ANY, BUSY, connect, fresh, join, ONE } from "../../../test/contract/fleet-hands.ts";
import { ask, cuttableProxy, grantsFor } from "../../../test/support/postgres.ts";

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
    const jobGrants = [
      `GRANT USAGE ON SCHEMA ralph_jobs TO ${role}`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ralph_jobs TO ${role}`,
    ];
    await ask(url, `CREATE ROLE ${role} LOGIN PASSWORD 'pw'`, ...grantsFor(role), ...jobGrants);
    const limited = new URL(url);
    limited.username = role;
    limited.password = "pw";
    const database = await connect(limited.href);
    const fleet = await join(database, "limited");
    const [lease] = await fleet.take(1, ANY);
    await fleet.beat(BUSY);
    await fleet.release(lease!);
    await fleet.offer([ONE, { task: "two", labels: ["new"], rank: 1 }]);
    expect(await fleet.takeRole("@keeper")).not.toBeNull();
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

  test("a job waits exactly until its task is held, and a held task gets no other, however long that is", async () => {
    const { url } = await fresh();
    const fleet = await join(await connect(url), "a", [], 60_000);
    await fleet.offer([ONE]);
    expect(await jobs(url)).toEqual(["created"]);
    const [lease] = await fleet.take(1, ANY);
    expect(await jobs(url)).toEqual(["completed"]);
    await ask(url, "UPDATE ralph_jobs.job SET started_on = started_on - interval '300 days'");
    // The first offer of a worker tidies up, too.
    await (await join(await connect(url), "b", [], 60_000)).offer([ONE]);
    expect(await jobs(url)).toEqual(["completed"]);
    await fleet.release(lease!);
    await fleet.offer([ONE]);
    expect(await jobs(url)).toEqual(["completed", "created"]);
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
    const [before] = await a.take(1, ANY);
    await ask(url, "DELETE FROM ralph.leases");
    await a.offer([ONE]);
    const [after] = await a.take(1, ANY);
    expect(after).toMatchObject({ name: "one", from: null });
    expect(after!.number).toBeGreaterThan(before!.number);
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
      expect(leases).toEqual([{ name: task, number: expect.any(Number) as number, from: null }]);
    }
    expect(proxy.cuts).toBe(3);
    expect((await fleet.beat(BUSY)).lost).toEqual([]);
    expect((await fleet.workers())[0]!.holds).toHaveLength(3);
  });
});

async function jobs(url: string): Promise<readonly string[]> {
  const rows = await ask<{ state: string }>(
    url,
    "SELECT state::text FROM ralph_jobs.job ORDER BY created_on",
  );
  return rows.map(({ state }) => state);
}
