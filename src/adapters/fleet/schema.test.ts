import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { raceStoreProcesses } from "../../../test/fixtures/start-store-process.ts";
import {
  administer,
  ask,
  freshDatabase,
  type FreshDatabase,
  grantsFor,
} from "../../../test/support/postgres.ts";
import { EMPTY_STATE } from "../../core/state.ts";
import { openDatabase, type Database } from "./database.ts";
import { openPostgresLog } from "./postgres-log.ts";
import { migrate, SCHEMA_VERSION } from "./schema.ts";

let fresh: FreshDatabase;
beforeEach(async () => {
  fresh = await freshDatabase();
});
afterEach(() => fresh.drop());

test("ten processes that start at the same moment all find the tables", async () => {
  const racers = await raceStoreProcesses(10, "migrate", fresh.url);
  expect(racers.map(({ said }) => said)).toEqual(Array.from({ length: 10 }, () => "migrated"));
  expect(await ask(fresh.url, "SELECT version FROM ralph.version")).toEqual([{ version: SCHEMA_VERSION }]);
});

test("a schema of a newer version is refused with both versions, and not touched", async () => {
  await opened((database) => migrate(database));
  await administer(fresh.url, "UPDATE ralph.version SET version = 99", "DROP TABLE ralph.workers");
  await expect(opened((database) => migrate(database))).rejects.toMatchObject({
    code: "state-unusable",
    message: expect.stringMatching(
      /^the schema ralph in localhost:\d+\/\w+ was written by a newer ralph .*99.* 3\)/,
    ),
    hint: "update ralph",
  });
  expect(await ask(fresh.url, "SELECT to_regclass('ralph.workers') AS workers")).toEqual([{ workers: null }]);
});

test.each(["CREATE TABLE ralph.theirs (a int)", "CREATE TABLE ralph.version (theirs text)"])(
  "a schema of another program is refused: %s",
  async (theirs) => {
    await administer(fresh.url, "CREATE SCHEMA ralph", theirs);
    await expect(opened((database) => migrate(database))).rejects.toMatchObject({
      code: "state-unusable",
      message: expect.stringContaining("is one of another program"),
    });
  },
);

test("an empty schema that an administrator made is filled", async () => {
  await administer(fresh.url, "CREATE SCHEMA ralph");
  await opened((database) => migrate(database));
  expect(await ask(fresh.url, "SELECT version FROM ralph.version")).toEqual([{ version: SCHEMA_VERSION }]);
});

describe("a role that may only read and write", () => {
  const role = `ralph_worker_${randomUUID().slice(0, 8)}`;
  let url: string;
  beforeEach(async () => {
    await administer(fresh.url, `CREATE ROLE ${role} LOGIN PASSWORD 'w'`);
    const theirs = new URL(fresh.url);
    theirs.username = role;
    theirs.password = "w";
    url = theirs.href;
  });
  afterEach(() => administer(fresh.url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`));

  test("can do all that the log does once an owner has made the tables", async () => {
    await opened((database) => migrate(database));
    await administer(fresh.url, ...grantsFor(role));
    await opened(async (database) => {
      await migrate(database);
      const log = openPostgresLog(database, "p");
      await administer(fresh.url, "INSERT INTO ralph.leases VALUES ('p', 'a', 1, 'w', null)");
      const expected = { calls: { since: 0, below: 1 }, leases: [{ name: "a", number: 1 }] };
      expect(await log.append([{ type: "task.reset", task: "a" }], expected)).toHaveLength(1);
      expect(await log.read(0)).toHaveLength(1);
      await log.saveSnapshot({ ...EMPTY_STATE, position: 1 }, 1);
      expect(await log.loadSnapshot(1)).toMatchObject({ position: 1 });
      expect([await log.countCalls(0), await log.sumCosts(0)]).toEqual([0, 0]);
      await (await log.listen(() => {})).close();
      await log.forget();
      expect(await log.read(0)).toEqual([]);
    }, url);
  });

  test("is told what to do when there are no tables yet", async () => {
    await expect(opened((database) => migrate(database), url)).rejects.toMatchObject({
      code: "state-unusable",
      message: expect.stringMatching(/does not give us the rights that we need \(permission denied/),
      hint: expect.stringContaining("ralph submit"),
    });
  });

  test("is told what to do when it was given no rights", async () => {
    await opened((database) => migrate(database));
    await expect(opened((database) => migrate(database), url)).rejects.toMatchObject({
      code: "state-unusable",
      message: expect.stringContaining("does not give us the rights"),
    });
  });
});

async function opened(work: (database: Database) => Promise<void>, url = fresh.url): Promise<void> {
  const database = await openDatabase(url);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
