import type { WorkerReport, WorkerSeen } from "../../engine/fleet-ports.ts";
import type { Transaction } from "./database.ts";
import { clock, isLive, type Saying } from "./leases.ts";

/** What a worker says of itself once. */
export interface WorkerIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly labels: readonly string[];
}

/** A new process is here, in the place of the one before it with the same id. */
export async function arrive(database: Transaction, project: string, worker: WorkerIdentity): Promise<void> {
  const { id, host, pid, version, labels } = worker;
  await database.query(
    `INSERT INTO ralph.workers AS seen
       (project, id, host, pid, version, labels, lanes, started_at, seen_at, "is", progress)
     VALUES ($1, $2, $3, $4, $5, $6, 0, clock_timestamp(), clock_timestamp(), 'here', '[]')
     ON CONFLICT (project, id) DO UPDATE
     SET host = excluded.host, pid = excluded.pid, version = excluded.version, labels = excluded.labels, lanes = 0,
         started_at = excluded.started_at, seen_at = excluded.seen_at, "is" = 'here', progress = '[]'`,
    [project, id, host, pid, version, labels],
  );
}

/**
 * What a worker says with every beat. It comes back also when somebody has deleted the row, as of a worker that was asleep
 * for days.
 */
export function reportOf(
  { host, pid, version, labels }: WorkerIdentity,
  { lanes, isLeaving, progress }: WorkerReport,
): Saying {
  const values = [host, pid, version, labels, lanes, isLeaving ? "leaving" : "here", jsonOf(progress)];
  const types = ["text", "integer", "text", "text[]", "integer", "text", "jsonb"];
  const sql = (first: number): string => {
    const [ownHost, ownPid, ...rest] = types.map((type, index) => `$${first + index}::${type}`);
    const [ownVersion, ownLabels, ownLanes, is, doing] = rest;
    return `INSERT INTO ralph.workers AS seen
       (project, id, host, pid, version, labels, lanes, started_at, seen_at, "is", progress)
     VALUES ($1, $2, ${ownHost}, ${ownPid}, ${ownVersion}, ${ownLabels}, ${ownLanes},
             clock_timestamp(), clock_timestamp(), ${is}, ${doing})
     ON CONFLICT (project, id) DO UPDATE
     SET lanes = excluded.lanes, seen_at = excluded.seen_at, "is" = excluded."is", progress = excluded.progress`;
  };
  return { sql, values };
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
