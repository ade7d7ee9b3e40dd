import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  administer,
  ask,
  cuttableProxy,
  freshDatabase,
  startServer,
  type CuttableProxy,
  type FreshDatabase,
  type TestServer,
} from "../../../test/support/postgres.ts";
import { openDatabase, type Database } from "./database.ts";

let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = await openDatabase(fresh.url, { applicationName: "ralph of a test" });
}, 90_000);
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describe("refusals that no waiting helps against", () => {
  test.each([
    ["a wrong password", (url: URL) => (url.password = "hunter2"), /does not let us in \(password auth/],
    ["no password", (url: URL) => (url.password = ""), /does not let us in \(SASL/],
    ["an unknown user", (url: URL) => (url.username = "nobody"), /does not let us in/],
    ["a missing database", (url: URL) => (url.pathname = "/none"), /\/none does not exist/],
    ["TLS from a server without", (url: URL) => (url.search = "sslmode=require"), /cannot be reached by TLS/],
  ])("%s", async (_what, change, says) => {
    const url = new URL(fresh.url);
    change(url);
    const refused = await openDatabase(url.href).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "config", message: expect.stringMatching(says) });
    expect(JSON.stringify(refused) + String(refused)).not.toMatch(/hunter2|secret-of-the-test/);
  });

  test("leave no connection behind", async () => {
    const url = new URL(fresh.url);
    url.password = "";
    await expect(openDatabase(url.href)).rejects.toMatchObject({ code: "config" });
    await vi.waitFor(async () => {
      expect(await ask(fresh.url, "SELECT pid FROM pg_stat_activity WHERE state = 'starting'")).toEqual([]);
    }, 20_000);
  });

  test("a database with another encoding", async () => {
    const name = `latin_${process.pid}`;
    const url = new URL(fresh.url);
    url.pathname = `/${name}`;
    await administer(fresh.url, `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    await expect(openDatabase(url.href)).rejects.toMatchObject({
      code: "config",
      hint: "create it with ENCODING 'UTF8'",
    });
    await administer(fresh.url, `DROP DATABASE ${name}`);
  });
});

test("a command gives up on a server that is away after its patience, with one sentence", async () => {
  await expect(openDatabase("postgres://u:hunter2@127.0.0.1:1/d", { patienceMs: 200 })).rejects.toMatchObject(
    {
      code: "unreachable",
      message: "the database 127.0.0.1:1/d cannot be reached: connect ECONNREFUSED 127.0.0.1:1",
      hint: expect.stringContaining("[queue] url"),
    },
  );
  await expect(openDatabase("postgres://no-such-host.invalid/d", { patienceMs: 200 })).rejects.toMatchObject({
    code: "unreachable",
  });
});

test("the server shows who we are", async () => {
  const names = await database.query(
    "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()",
  );
  expect(names).toEqual([{ application_name: "ralph of a test" }]);
});

test("an error of the statement is told as it is, and the connections stay good", async () => {
  for (let times = 0; times < 10; times += 1)
    await expect(database.query("SELECT nonsense")).rejects.toMatchObject({ code: "42703" });
  await expect(
    database.transaction(async (transaction) => {
      await transaction.query("SELECT 1");
      throw new Error("changed our mind");
    }),
  ).rejects.toThrow("changed our mind");
  const open = await ask(
    fresh.url,
    "SELECT state FROM pg_stat_activity WHERE application_name = 'ralph of a test' AND state <> 'idle'",
  );
  expect(open).toEqual([]);
});

test("a transaction that a statement began and did not end is nobody else's", async () => {
  const one = await openDatabase(fresh.url, { maxConnections: 1 });
  try {
    for (let round = 0; round < 20; round += 1) {
      await expect(one.query("BEGIN; SELECT 1 / 0; COMMIT")).rejects.toThrow("division by zero");
      expect(await one.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    }
  } finally {
    await one.close();
  }
});

test("work that went on after an error is not taken for done", async () => {
  await expect(
    database.transaction(async (transaction) => {
      await transaction.query("SELECT nonsense").catch(() => {});
    }),
  ).rejects.toThrow("the work went on after an error");
});

test("transactions that are in each other's way are both done", async () => {
  await administer(
    fresh.url,
    "CREATE TABLE pair (id int primary key, n int)",
    "INSERT INTO pair VALUES (1, 0), (2, 0)",
  );
  const add = (first: number, second: number): Promise<void> =>
    database.transaction(async (transaction) => {
      for (const id of [first, second])
        await transaction.query("UPDATE pair SET n = n + 1 WHERE id = $1", [id]);
    });
  await Promise.all([add(1, 2), add(2, 1), add(1, 2), add(2, 1)]);
  expect(await database.query("SELECT n FROM pair ORDER BY id")).toEqual([{ n: 4 }, { n: 4 }]);
});

describe("a connection that breaks", () => {
  let proxy: CuttableProxy;
  let through: Database;
  const trouble = vi.fn<(message: string | null) => void>();
  beforeEach(async () => {
    trouble.mockClear();
    proxy = await cuttableProxy(fresh.url);
    through = await openDatabase(proxy.url, { patienceMs: Infinity, onTrouble: trouble, answerMs: 1_500 });
  });
  afterEach(async () => {
    await through.close();
    await proxy.close();
  });

  test("while it is idle is not noticed", async () => {
    proxy.cut();
    expect(await through.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("that says nothing any longer is given up and made anew", async () => {
    proxy.hold();
    const asked = through.query("SELECT 1 AS one");
    await vi.waitFor(() => expect(trouble).toHaveBeenCalledTimes(1), { timeout: 20_000 });
    proxy.release();
    expect(await asked).toEqual([{ one: 1 }]);
    expect(trouble.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(
        /^the database 127\.0\.0\.1:\d+\/\w+ cannot be reached: no answer within 1\.5 s$/,
      ),
      null,
    ]);
  });

  test("does not keep a worker from closing", async () => {
    proxy.hold();
    const asked = Promise.allSettled([through.query("SELECT 1"), through.query("SELECT 2")]);
    await through.close();
    expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("that the administrator ended is made anew", async () => {
    await through.query("SELECT 1");
    await administer(
      fresh.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(await through.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});

describe("a server of one's own", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      configuration: ["max_connections = 5", "superuser_reserved_connections = 0"],
    });
  }, 90_000);
  afterAll(() => server.remove());

  test("that is stopped for a while is waited for, and its trouble told once", async () => {
    const trouble = vi.fn<(message: string | null) => void>();
    const patient = await openDatabase(server.url, { patienceMs: Infinity, onTrouble: trouble });
    await server.stop();
    const asked = Promise.all([1, 2, 3].map((one) => patient.query("SELECT $1::int AS one", [one])));
    await vi.waitFor(() => expect(trouble).toHaveBeenCalled(), { timeout: 20_000 });
    await server.start();
    expect(await asked).toEqual([[{ one: 1 }], [{ one: 2 }], [{ one: 3 }]]);
    expect(trouble.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/cannot be reached/),
      null,
    ]);
    await patient.close();
  });

  test("that has no connection left is waited for", async () => {
    const guests = await Promise.all(
      [1, 2, 3, 4, 5].map(() => openDatabase(server.url, { maxConnections: 1 })),
    );
    const late = openDatabase(server.url, { patienceMs: 60_000 });
    const early = await openDatabase(server.url, { patienceMs: 100 }).catch((error: unknown) => error);
    expect(early).toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("too many clients"),
    });
    await Promise.all(guests.map((guest) => guest.close()));
    await (await late).close();
  });

  test("that has become one that only reads is waited for", async () => {
    const patient = await openDatabase(server.url, { patienceMs: 60_000 });
    await patient.query("CREATE TABLE notes (text text)");
    await administer(
      server.url,
      "ALTER SYSTEM SET default_transaction_read_only = on",
      "SELECT pg_reload_conf()",
    );
    await vi.waitFor(async () => {
      expect(await ask(server.url, "SHOW transaction_read_only")).toEqual([{ transaction_read_only: "on" }]);
    });
    const hasty = await openDatabase(server.url, { patienceMs: 100 });
    await expect(hasty.query("INSERT INTO notes VALUES ('a')")).rejects.toMatchObject({
      code: "unreachable",
    });
    const written = patient.query("INSERT INTO notes VALUES ('b')");
    await administer(
      server.url,
      "SET default_transaction_read_only = off",
      "ALTER SYSTEM RESET default_transaction_read_only",
      "SELECT pg_reload_conf()",
    );
    await written;
    expect(await ask(server.url, "SELECT text FROM notes")).toEqual([{ text: "b" }]);
    await Promise.all([patient.close(), hasty.close()]);
  });
});
