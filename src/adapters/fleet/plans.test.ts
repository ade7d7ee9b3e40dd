import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type FreshDatabase } from "../../../test/support/postgres.ts";
import type { LogFilter } from "../../engine/ports.ts";
import { openDatabase, type Database } from "./database.ts";
import { openPostgresLog, readQuery } from "./postgres-log.ts";
import { migrate } from "./schema.ts";

const EVENTS = 30_000;
const STARTED_AT = 1_700_000_000_000;

let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = await openDatabase(fresh.url);
  await migrate(database);
  await database.query(
    `INSERT INTO ralph.events (project, position, at, v, type, task, iteration, cost, batch, data)
     SELECT 'p', n, ${STARTED_AT} + n, 3, (array['iteration.started', 'iteration.ended', 'verdict.reached'])[1 + n % 3],
       't' || n % 500, n / 3, 0.5, gen_random_uuid(), '{"type":"task.reset","task":"' || repeat('x', 300) || '"}'
     FROM generate_series(1, ${EVENTS}) AS n`,
  );
  await database.query(`INSERT INTO ralph.projects VALUES ('p', ${EVENTS}, ${STARTED_AT})`);
}, 90_000);
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const looks: readonly (readonly [LogFilter, number])[] = [
  [{ types: ["calls.reset"] }, 0],
  [{ types: ["calls.reset", "verdict.reached"], limit: 5 }, 0],
  [{ task: "t7", types: ["iteration.ended"], limit: 5 }, 0],
  [{ iteration: 12 }, 0],
  [{ iterations: { from: 5, to: 9 }, limit: 3 }, 0],
  [{}, EVENTS - 5],
];

test.each(["before", "after"])("no look walks through the history, %s the planner knows it", async (when) => {
  if (when === "after") await database.query("ANALYZE ralph.events");
  for (const [filter, after] of looks) {
    const { sql, values } = readQuery("p", after, filter);
    expect({ filter, isCheap: (await blocksRead(sql, values)) < 150 }).toEqual({ filter, isCheap: true });
  }
});

test("neither do calls, costs and the position of a task", async () => {
  const log = openPostgresLog(database, "p");
  const since = STARTED_AT + EVENTS - 30;
  expect([await log.countCalls(since), await log.sumCosts(since)]).toEqual([11, 5]);
  const read = [
    `SELECT count(*) FROM ralph.events WHERE type IN ('iteration.started', 'reader.asked')
       AND at >= greatest($1, (SELECT max(at) + 1 FROM ralph.events WHERE type = 'calls.reset'))`,
    "SELECT coalesce(sum(cost), 0) FROM ralph.events WHERE type IN ('iteration.ended', 'reader.answered') AND at >= $1",
  ].map((sql) => blocksRead(sql, [since]));
  const last = blocksRead("SELECT max(position) FROM ralph.events WHERE project = $1 AND task = $2", [
    "p",
    "t3",
  ]);
  for (const blocks of await Promise.all([...read, last])) expect(blocks).toBeLessThan(150);
});

/** How much of the table and its indexes was looked at; the table alone has more than 1,500 blocks. */
async function blocksRead(sql: string, values: readonly unknown[]): Promise<number> {
  const [row] = await database.query<{ "QUERY PLAN": readonly [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
    values,
  );
  const { Plan } = row!["QUERY PLAN"][0];
  return (Plan["Shared Hit Blocks"] ?? 0) + (Plan["Shared Read Blocks"] ?? 0);
}
