import type { Lease, WorkerReport, WorkerSeen } from "../../engine/fleet-ports.ts";
import type { Transaction } from "./database.ts";

/** Who asks, and for how long a lease lasts without a sign of life. */
export interface Holder {
  readonly project: string;
  readonly worker: string;
  readonly leaseMs: number;
}

type Held = Pick<Lease, "name" | "number">;

/**
 * `clock.now`, and `clock.patience`: until then no lease has run out that a beat may still renew, since nobody could
 * beat while the server was away. The parameter is the time of a lease.
 */
export function clock(leaseMs: string): string {
  return `clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now,
           ${duration(leaseMs)} AS lease,
           pg_postmaster_start_time() + ${duration(leaseMs)} AS patience
  )`;
}

/** Of a row of leases: somebody holds it. Beside `clock`. */
export function isLive(row: string): string {
  return `(${row}.expires_at IS NOT NULL AND ${row}.expires_at > '-infinity'
    AND greatest(${row}.expires_at, clock.patience) >= clock.now)`;
}

/** Of a row of leases: it ran out, or was given up, and was not released. Beside `clock`. */
function isOverdue(row: string): string {
  return `(${row}.expires_at IS NOT NULL AND NOT ${isLive(row)})`;
}

/** What may be taken over: who held it went silent. So many at most, of tasks that wait in these queues for a worker. */
export async function findOverdue(
  database: Transaction,
  { project, leaseMs }: Holder,
  queues: readonly string[],
  count: number,
): Promise<readonly Claim[]> {
  return database.query<Claim>(
    `WITH ${clock("$2")}
     SELECT name, queue FROM ralph.leases AS held CROSS JOIN clock
     WHERE project = $1 AND queue = ANY ($3::text[]) AND ${isOverdue("held")} LIMIT $4`,
    [project, leaseMs, queues, count],
  );
}

/** What somebody wants to hold: a task out of a queue, or a role, which is in none. */
export interface Claim {
  readonly name: string;
  readonly queue: string | null;
}

/**
 * Gives out those that nobody holds; those that somebody holds are not even locked. Numbers begin with the time, so that
 * they also grow over a database that was made anew: the git server remembers the last one. Of a row that is there, the
 * one from before is read under its lock, so that `from` is right whoever comes between.
 */
export async function claim(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  claims: readonly Claim[],
): Promise<readonly Lease[]> {
  return database.query<Lease>(
    `WITH ${clock("$4")},
     free AS MATERIALIZED (
       SELECT DISTINCT ON (wanted.name) wanted.name, wanted.queue
       FROM unnest($3::text[], $5::text[]) AS wanted (name, queue) CROSS JOIN clock
       WHERE NOT EXISTS (
         SELECT FROM ralph.leases AS held WHERE project = $1 AND held.name = wanted.name AND ${isLive("held")}
       )
     ),
     before AS MATERIALIZED (
       SELECT name, worker, expires_at FROM ralph.leases
       WHERE project = $1 AND name IN (SELECT name FROM free) ORDER BY name FOR UPDATE
     ),
     given AS (
       INSERT INTO ralph.leases AS held (project, name, number, worker, expires_at, queue)
       SELECT $1, wanted.name, floor(extract(epoch FROM clock.now) * 1000)::bigint, $2, clock.now + clock.lease,
              wanted.queue
       FROM free AS wanted LEFT JOIN before USING (name) CROSS JOIN clock
       ORDER BY wanted.name
       ON CONFLICT (project, name) DO UPDATE
       SET number = greatest(held.number + 1, excluded.number), worker = excluded.worker,
           expires_at = excluded.expires_at, queue = excluded.queue
       WHERE (SELECT NOT ${isLive("held")} FROM clock)
       RETURNING name, number
     )
     SELECT given.name, given.number, before.worker AS "from"
     FROM given LEFT JOIN before ON before.name = given.name AND before.expires_at IS NOT NULL`,
    [project, worker, claims.map(({ name }) => name), leaseMs, claims.map(({ queue }) => queue)],
  );
}

/** SQL for what the worker `$2` still holds of the names `$3` with the numbers `$4`, locked. Beside `clock`. */
const MINE = `mine AS MATERIALIZED (
   SELECT held.name FROM ralph.leases AS held
   JOIN unnest($3::text[], $4::bigint[]) AS known (name, number) USING (name, number) CROSS JOIN clock
   WHERE held.project = $1 AND held.worker = $2 AND ${isLive("held")}
   ORDER BY held.name FOR UPDATE OF held
  )`;

/** Prolongs what is still held; whatever it does not name is lost. */
export async function renew(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  held: readonly Held[],
): Promise<{ readonly now: number; readonly names: readonly string[] }> {
  const [renewed] = await database.query<{ now: number; names: readonly string[] }>(
    `WITH ${clock("$5")},
     ${MINE},
     renewed AS (
       UPDATE ralph.leases AS held SET expires_at = clock.now + clock.lease FROM mine, clock
       WHERE held.project = $1 AND held.name = mine.name RETURNING held.name
     )
     SELECT floor(extract(epoch FROM now) * 1000)::bigint AS now, ARRAY(SELECT name FROM renewed) AS names
     FROM clock`,
    [project, worker, held.map(({ name }) => name), held.map(({ number }) => number), leaseMs],
  );
  return renewed ?? { now: Date.now(), names: [] };
}

/** Whether everything is still this worker's; waits for whoever is about to change it. */
export async function holdsAll(
  database: Transaction,
  { project, worker }: Holder,
  held: readonly Held[],
): Promise<boolean> {
  const found = await database.query<Held>(
    `SELECT name, number FROM ralph.leases
     WHERE project = $1 AND worker = $2 AND name = ANY ($3::text[]) AND expires_at IS NOT NULL
     ORDER BY name FOR UPDATE`,
    [project, worker, held.map(({ name }) => name)],
  );
  const numbers = new Map(found.map(({ name, number }) => [name, number]));
  return held.every(({ name, number }) => numbers.get(name) === number);
}

/** Lets others have those that were still held. */
export async function release(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  held: readonly Held[],
): Promise<void> {
  await database.query(
    `WITH ${clock("$5")},
     ${MINE}
     UPDATE ralph.leases AS held SET expires_at = NULL FROM mine
     WHERE held.project = $1 AND held.name = mine.name`,
    [project, worker, held.map(({ name }) => name), held.map(({ number }) => number), leaseMs],
  );
}

/** Makes everything that a process of the same worker left behind run out now: it will not renew anything. */
export async function giveUpAll(database: Transaction, { project, worker }: Holder): Promise<void> {
  await database.query(
    `UPDATE ralph.leases SET expires_at = '-infinity'
     WHERE project = $1 AND worker = $2 AND expires_at IS NOT NULL`,
    [project, worker],
  );
}

function duration(leaseMs: string): string {
  return `${leaseMs}::double precision * interval '1 millisecond'`;
}

/** What a worker says of itself once. */
export type WorkerIdentity = Pick<WorkerSeen, "id" | "host" | "pid" | "version" | "labels">;

/** A new process is about to report, in the place of the one before it with the same id. */
export async function arrive(database: Transaction, project: string, id: string): Promise<void> {
  await database.query("DELETE FROM ralph.workers WHERE project = $1 AND id = $2", [project, id]);
}

/** What a worker says with every beat; it comes back after somebody has deleted the row. */
export async function report(
  database: Transaction,
  project: string,
  { id, host, pid, version, labels }: WorkerIdentity,
  { lanes, isLeaving, progress }: WorkerReport,
): Promise<void> {
  await database.query(
    `INSERT INTO ralph.workers
       (project, id, host, pid, version, labels, lanes, started_at, seen_at, "is", progress)
     VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), clock_timestamp(), $8, $9)
     ON CONFLICT (project, id) DO UPDATE
     SET lanes = excluded.lanes, seen_at = excluded.seen_at, "is" = excluded."is", progress = excluded.progress`,
    [project, id, host, pid, version, labels, lanes, isLeaving ? "leaving" : "here", jsonOf(progress)],
  );
}

export async function depart(database: Transaction, project: string, id: string): Promise<void> {
  await database.query(
    `UPDATE ralph.workers SET "is" = 'gone', seen_at = clock_timestamp(), progress = '[]'
     WHERE project = $1 AND id = $2`,
    [project, id],
  );
}

/** Deletes those who have said nothing for a day. */
export async function forgetOldWorkers(database: Transaction, project: string): Promise<void> {
  await database.query(
    `DELETE FROM ralph.workers WHERE project = $1 AND seen_at < clock_timestamp() - interval '1 day'`,
    [project],
  );
}

/** Everybody who was here lately, the longest here first; also for screens that are no workers. */
export async function readWorkers(
  database: Transaction,
  project: string,
  leaseMs: number,
): Promise<readonly WorkerSeen[]> {
  return database.query<WorkerSeen>(
    `WITH ${clock("$2")}
     SELECT id, host, pid, version, labels, lanes, progress,
            floor(extract(epoch FROM started_at) * 1000)::bigint AS "startedAt",
            floor(extract(epoch FROM seen_at) * 1000)::bigint AS "seenAt",
            CASE WHEN "is" = 'gone' THEN 'gone'
                 WHEN greatest(seen_at + clock.lease, clock.patience) < clock.now THEN 'vanished'
                 ELSE "is" END AS "is",
            ARRAY(SELECT name FROM ralph.leases AS held
                  WHERE held.project = seen.project AND held.worker = seen.id AND ${isLive("held")}
                  ORDER BY name) AS holds
     FROM ralph.workers AS seen CROSS JOIN clock
     WHERE project = $1 AND seen_at >= clock.now - interval '1 day'
     ORDER BY started_at, id`,
    [project, leaseMs],
  );
}

/** jsonb takes neither NUL characters nor halves of surrogate pairs. */
function jsonOf(progress: readonly unknown[]): string {
  return JSON.stringify(progress, (_key, value: unknown) =>
    typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value,
  );
}
