import type { Lease } from "../../engine/fleet-ports.ts";
import type { Transaction } from "./database.ts";

/** Who asks, and for how long a lease lasts without a sign of life. */
export interface Holder {
  readonly project: string;
  readonly worker: string;
  readonly leaseMs: number;
}

export type Held = Pick<Lease, "name" | "number">;

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
export function isOverdue(row: string): string {
  return `(${row}.expires_at IS NOT NULL AND NOT ${isLive(row)})`;
}

/**
 * Gives out those that nobody holds; those that somebody holds are not even locked. Numbers begin with the time, so that
 * they also grow over a database that was made anew: the git server remembers the last one. Of a row that is there, the
 * one from before is read under its lock, so that `from` is right whoever comes between.
 */
export async function claim(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  names: readonly string[],
): Promise<readonly Lease[]> {
  return database.query<Lease>(
    `WITH ${clock("$4")},
     free AS MATERIALIZED (
       SELECT wanted.name FROM unnest($3::text[]) AS wanted (name) CROSS JOIN clock
       WHERE NOT EXISTS (
         SELECT FROM ralph.leases AS held WHERE project = $1 AND held.name = wanted.name AND ${isLive("held")}
       )
     ),
     before AS MATERIALIZED (
       SELECT name, worker, expires_at FROM ralph.leases
       WHERE project = $1 AND name IN (SELECT name FROM free) ORDER BY name FOR UPDATE
     ),
     given AS (
       INSERT INTO ralph.leases AS held (project, name, number, worker, expires_at)
       SELECT $1, wanted.name, floor(extract(epoch FROM clock.now) * 1000)::bigint, $2, clock.now + clock.lease
       FROM free AS wanted LEFT JOIN before USING (name) CROSS JOIN clock
       ORDER BY wanted.name
       ON CONFLICT (project, name) DO UPDATE
       SET number = greatest(held.number + 1, excluded.number), worker = excluded.worker, expires_at = excluded.expires_at
       WHERE (SELECT NOT ${isLive("held")} FROM clock)
       RETURNING name, number
     )
     SELECT given.name, given.number, before.worker AS "from"
     FROM given LEFT JOIN before ON before.name = given.name AND before.expires_at IS NOT NULL`,
    [project, worker, names, leaseMs],
  );
}

/** Prolongs what is still held; whatever it does not name is lost. With it goes what the worker says, if anything. */
export async function renew(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  held: readonly Held[],
  said?: Saying,
): Promise<{ readonly now: number; readonly names: readonly string[] }> {
  const values = [project, worker, held.map(({ name }) => name), held.map(({ number }) => number), leaseMs];
  const [renewed] = await database.query<{ now: number; names: readonly string[] }>(
    `WITH ${clock("$5")},
     mine AS MATERIALIZED (
       SELECT held.name FROM ralph.leases AS held
       JOIN unnest($3::text[], $4::bigint[]) AS known (name, number) USING (name, number) CROSS JOIN clock
       WHERE held.project = $1 AND held.worker = $2 AND ${isLive("held")}
       ORDER BY held.name FOR UPDATE OF held
     ),
     renewed AS (
       UPDATE ralph.leases AS held SET expires_at = clock.now + clock.lease FROM mine, clock
       WHERE held.project = $1 AND held.name = mine.name RETURNING held.name
     )${said === undefined ? "" : `, said AS (${said.sql(values.length + 1)})`}
     SELECT floor(extract(epoch FROM now) * 1000)::bigint AS now, ARRAY(SELECT name FROM renewed) AS names
     FROM clock`,
    [...values, ...(said?.values ?? [])],
  );
  return renewed ?? { now: Date.now(), names: [] };
}

/** A statement about the worker `$2` of the project `$1`, whose own values begin with that number. */
export interface Saying {
  readonly sql: (first: number) => string;
  readonly values: readonly unknown[];
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

/** Lets others have them; answers the names of those that were still held. */
export async function release(
  database: Transaction,
  { project, worker, leaseMs }: Holder,
  held: readonly Held[],
): Promise<readonly string[]> {
  const released = await database.query<{ name: string }>(
    `WITH ${clock("$5")},
     mine AS MATERIALIZED (
       SELECT held.name FROM ralph.leases AS held
       JOIN unnest($3::text[], $4::bigint[]) AS known (name, number) USING (name, number) CROSS JOIN clock
       WHERE held.project = $1 AND held.worker = $2 AND ${isLive("held")}
       ORDER BY held.name FOR UPDATE OF held
     )
     UPDATE ralph.leases AS held SET expires_at = NULL FROM mine
     WHERE held.project = $1 AND held.name = mine.name RETURNING held.name`,
    [project, worker, held.map(({ name }) => name), held.map(({ number }) => number), leaseMs],
  );
  return released.map(({ name }) => name);
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
