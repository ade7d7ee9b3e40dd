import { isDeepStrictEqual } from "node:util";
import Sqlite, { type Database } from "better-sqlite3";
import { RalphError } from "../../core/errors.ts";
import { DamagedFact } from "./store-error.ts";

/** Ordered; entry n leads from version n to n + 1. Released entries are never edited. */
const MIGRATIONS: readonly string[] = [
  // A rowid table on purpose: rows carry whole JSON texts, and without rowids the planner prefers a scan of the
  // primary key to the indexes.
  `CREATE TABLE events (
     project TEXT NOT NULL,
     position INTEGER NOT NULL,
     at INTEGER NOT NULL,
     v INTEGER NOT NULL,
     type TEXT NOT NULL,
     run TEXT,
     task TEXT,
     iteration INTEGER,
     data TEXT NOT NULL,
     PRIMARY KEY (project, position)
   ) STRICT;
   CREATE INDEX events_by_task ON events (project, task, position) WHERE task IS NOT NULL;
   CREATE INDEX events_by_type ON events (project, type, position);
   CREATE INDEX events_by_iteration ON events (project, iteration, position) WHERE iteration IS NOT NULL;
   CREATE INDEX events_by_time ON events (type, at);
   CREATE TABLE snapshots (
     project TEXT PRIMARY KEY,
     position INTEGER NOT NULL,
     version INTEGER NOT NULL,
     state TEXT NOT NULL
   ) STRICT;`,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings the file to our version. Any number of processes may do this at the same moment. */
export function migrate(db: Database, file: string): void {
  if (usableVersion(db, file) === SCHEMA_VERSION) return;
  const catchUp = db.transaction(() => {
    // Another process may have migrated while we waited for the lock.
    const version = usableVersion(db, file);
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    if (version < SCHEMA_VERSION) db.pragma(`user_version = ${SCHEMA_VERSION}`);
  });
  catchUp.immediate();
}

/** The version of a file that we may work with; refuses any other without touching it. */
export function usableVersion(db: Database, file: string): number {
  const look = db.transaction(() => ({
    version: Number(db.pragma("user_version", { simple: true })),
    tables: db.prepare<[], number>("SELECT count(*) FROM sqlite_schema").pluck().get() ?? 0,
  }));
  const { version, tables } = look.deferred();
  const isUnknown = version > SCHEMA_VERSION || (version === 0 && tables > 0);
  // With each version the tables change.
  if (isUnknown && isOurs(db)) throw new DamagedFact("the version", file);
  if (version > SCHEMA_VERSION) {
    throw new RalphError(
      "state-unusable",
      `${file} was written by a newer ralph (its version is ${version}, this ralph knows ${SCHEMA_VERSION})`,
      { hint: "update ralph" },
    );
  }
  if (isUnknown) {
    throw new RalphError("state-unusable", `${file} is a database of another program`, {
      hint: "name another place with RALPH_STATE",
    });
  }
  return version;
}

/** Whether its tables are those of our version, whatever it says that it is. */
export function isOurs(db: Database): boolean {
  const fresh = new Sqlite(":memory:");
  for (const migration of MIGRATIONS) fresh.exec(migration);
  const [ours, theirs] = [fresh, db].map((one) =>
    one.prepare("SELECT type, name, sql FROM sqlite_schema").all(),
  );
  fresh.close();
  return isDeepStrictEqual(ours, theirs);
}
