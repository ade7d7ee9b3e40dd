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
  const { position, task, calls, leases = [] } = expected;
  if (leases.length > 0) await holdLeases(transaction, project, leases);
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

/** Locked as well, so that nobody is given one of them before we have written. */
async function holdLeases(
  transaction: Transaction,
  project: string,
  leases: NonNullable<SharedExpectation["leases"]>,
): Promise<void> {
  const rows = await transaction.query<{ name: string; number: number }>(
    "SELECT name, number FROM ralph.leases WHERE project = $1 AND name = ANY ($2) ORDER BY name FOR SHARE",
    [project, leases.map(({ name }) => name)],
  );
  const numbers = new Map(rows.map(({ name, number }) => [name, number]));
  const lost = leases.find(({ name, number }) => numbers.get(name) !== number);
  if (lost !== undefined)
    throw new RalphError("lease-lost", `another worker has taken over ${lost.name}; nothing was recorded`);
}

async function lastPositionOf(transaction: Transaction, project: string, task: string): Promise<number> {
  const [row] = await transaction.query<{ position: number | null }>(
    "SELECT max(position) AS position FROM ralph.events WHERE project = $1 AND task = $2",
    [project, keyText(task)],
  );
  return row?.position ?? 0;
}
