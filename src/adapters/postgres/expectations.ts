import { RalphError } from "../../core/ralph-error.ts";
import type { Instant } from "../../core/time.ts";
import type { SharedExpectation } from "../../engine/fleet-ports.ts";
import type { Transaction } from "./database.ts";
import { keyText } from "./read-query.ts";

/** One lock for all projects: who admits a call has counted those of everybody. */
const CALLS_LOCK = 7_325_117;

/** Asked while the project's row is locked; what it has looked at stays so until the end of the transaction. */
export async function isMet(
  transaction: Transaction,
  project: string,
  expected: SharedExpectation,
  last: number,
): Promise<boolean> {
  const { position, task, calls } = expected;
  if (position !== undefined && position !== last) return false;
  if (task !== undefined && task.position !== (await lastPositionOf(transaction, project, task.id)))
    return false;
  if (calls === undefined) return true;
  await transaction.query("SELECT pg_advisory_xact_lock($1)", [CALLS_LOCK]);
  return (await callsSince(transaction, calls.since)) < calls.below;
}

/** Of all projects. */
export async function callsSince(transaction: Transaction, since: Instant): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    `SELECT count(*) AS count FROM ralph.events WHERE type = 'iteration.started'
       AND at >= greatest($1, (SELECT max(at) + 1 FROM ralph.events WHERE type = 'calls.reset'))`,
    [since],
  );
  return row?.count ?? 0;
}

export interface LeaseRow {
  readonly name: string;
  readonly number: number;
}

/** Each has to be the last one that was given out under its name. */
export function requireHeld(leases: readonly LeaseRow[], found: readonly LeaseRow[]): void {
  const numbers = new Map(found.map(({ name, number }) => [name, number]));
  const lost = leases.find(({ name, number }) => numbers.get(name) !== number);
  if (lost !== undefined)
    throw new RalphError("lease-lost", `another worker has taken over ${lost.name}; nothing was recorded`);
}

/** So that nobody is given one of them before we have written. */
export async function holdLeases(
  transaction: Transaction,
  project: string,
  leases: readonly LeaseRow[],
): Promise<void> {
  if (leases.length === 0) return;
  const names = leases.map(({ name }) => name);
  const [row] = await transaction.query<{ leases: readonly LeaseRow[] }>(
    `SELECT ${LEASES_LOCKED} AS leases`,
    [project, names],
  );
  requireHeld(leases, row?.leases ?? []);
}

/** SQL for the leases of the project `$1` that have one of the names `$2`, as JSON. */
export const LEASES = leasesWhere("");
export const LEASES_LOCKED = leasesWhere("ORDER BY name FOR SHARE");

function leasesWhere(end: string): string {
  const rows = `SELECT name, number FROM ralph.leases WHERE project = $1 AND name = ANY ($2::text[]) ${end}`;
  return `(SELECT coalesce(json_agg(lease), '[]') FROM (${rows}) AS lease)`;
}

async function lastPositionOf(transaction: Transaction, project: string, task: string): Promise<number> {
  const [row] = await transaction.query<{ position: number | null }>(
    "SELECT max(position) AS position FROM ralph.events WHERE project = $1 AND task = $2",
    [project, keyText(task)],
  );
  return row?.position ?? 0;
}
