import { RalphError } from "../../core/errors.ts";
import type { Database, Transaction } from "./database.ts";

/** Ordered; entry n leads from version n to n + 1. Released entries are never edited. */
const MIGRATIONS: readonly string[] = [
  // Append locks the project's row and takes positions from it, so that they are in the order of the commits.
  `CREATE TABLE ralph.projects (
     id text PRIMARY KEY,
     position bigint NOT NULL DEFAULT 0,
     at bigint NOT NULL DEFAULT 0
   );
   -- The data is text and not jsonb, which refuses NUL characters and halves of surrogate pairs.
   CREATE TABLE ralph.events (
     project text NOT NULL,
     position bigint NOT NULL,
     at bigint NOT NULL,
     v integer NOT NULL,
     type text NOT NULL,
     run text,
     task text,
     iteration bigint,
     cost double precision,
     batch uuid NOT NULL,
     data text NOT NULL,
     PRIMARY KEY (project, position)
   );
   CREATE INDEX events_by_task ON ralph.events (project, task, position) WHERE task IS NOT NULL;
   CREATE INDEX events_by_type ON ralph.events (project, type, position);
   CREATE INDEX events_by_iteration ON ralph.events (project, iteration, position) WHERE iteration IS NOT NULL;
   CREATE INDEX events_by_time ON ralph.events (type, at) INCLUDE (cost)
     WHERE type IN ('iteration.started', 'iteration.ended', 'calls.reset');
   CREATE TABLE ralph.snapshots (
     project text PRIMARY KEY,
     position bigint NOT NULL,
     version integer NOT NULL,
     state text NOT NULL
   );
   CREATE TABLE ralph.leases (
     project text NOT NULL,
     name text NOT NULL,
     number bigint NOT NULL,
     worker text NOT NULL,
     expires_at timestamptz,
     PRIMARY KEY (project, name)
   );
   CREATE INDEX leases_by_worker ON ralph.leases (project, worker);
   CREATE TABLE ralph.workers (
     project text NOT NULL,
     id text NOT NULL,
     host text NOT NULL,
     pid integer NOT NULL,
     version text NOT NULL,
     labels text[] NOT NULL,
     lanes integer NOT NULL,
     started_at timestamptz NOT NULL,
     seen_at timestamptz NOT NULL,
     "is" text NOT NULL,
     progress jsonb NOT NULL,
     PRIMARY KEY (project, id)
   );`,
  // Second readers are calls, and cost something, too.
  `DROP INDEX ralph.events_by_time;
   CREATE INDEX events_by_time ON ralph.events (type, at) INCLUDE (cost)
     WHERE type IN ('iteration.started', 'iteration.ended', 'calls.reset', 'reader.asked', 'reader.answered');`,
  // A lease knows for whom its task waits when it runs out; before, a job said so, which stayed active until then.
  `ALTER TABLE ralph.leases ADD COLUMN queue text;
   DO $$ BEGIN
     IF to_regclass('ralph_jobs.job') IS NOT NULL THEN
       UPDATE ralph_jobs.job SET state = 'completed', completed_on = now() WHERE state = 'active';
     END IF;
   END $$;`,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** One lock for everybody who migrates, of whatever project. */
const MIGRATION_LOCK = 7_325_116;

/** Brings the database to our version, safely from many processes. An up-to-date one is only read. */
export async function migrate(database: Database): Promise<void> {
  if ((await usableVersion(database, database.name)) === SCHEMA_VERSION) return;
  await database.transaction(async (transaction) => {
    await transaction.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    // Another process may have migrated while we waited for the lock.
    const version = await usableVersion(transaction, database.name);
    if (version === SCHEMA_VERSION) return;
    if (version === 0)
      await transaction.query(
        `CREATE SCHEMA IF NOT EXISTS ralph;
         CREATE TABLE ralph.version (version integer NOT NULL);
         INSERT INTO ralph.version VALUES (0)`,
      );
    for (const migration of MIGRATIONS.slice(version)) await transaction.query(migration);
    await transaction.query("UPDATE ralph.version SET version = $1", [SCHEMA_VERSION]);
  });
}

/** The version of a schema that we may work with, 0 when there is none yet; refuses any other without touching it. */
async function usableVersion(database: Transaction, name: string): Promise<number> {
  const [found] = await database.query<{ tables: number; versioned: boolean }>(
    `SELECT count(*)::int AS tables, coalesce(bool_or(relname = 'version'), false) AS versioned
     FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('ralph') AND relkind IN ('r', 'p')`,
  );
  if (found === undefined || found.tables === 0) return 0;
  const version = found.versioned ? await storedVersion(database) : undefined;
  if (version === undefined)
    throw new RalphError("state-unusable", `the schema ralph in ${name} is one of another program`, {
      hint: "name another database in [queue] url",
    });
  if (version > SCHEMA_VERSION)
    throw new RalphError(
      "state-unusable",
      `the schema ralph in ${name} was written by a newer ralph (its version is ${version}, this ralph knows ${SCHEMA_VERSION})`,
      { hint: "update ralph" },
    );
  return version;
}

async function storedVersion(database: Transaction): Promise<number | undefined> {
  const [row] = await database.query<{ version?: number }>("SELECT * FROM ralph.version LIMIT 1");
  return typeof row?.version === "number" ? row.version : undefined;
}
