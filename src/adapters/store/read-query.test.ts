import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { LogFilter } from "../../engine/ports.ts";
import { readQuery } from "./read-query.ts";
import { migrate } from "./schema.ts";

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
