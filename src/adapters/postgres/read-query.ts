import type { LogFilter } from "../../engine/ports.ts";

/** At most so many events are fetched at once, so that the raw text of a long log is never in memory as a whole. */
const PAGE = 1_000;

export interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Fewer than so many rows: there are no more. */
  readonly limit: number;
}

/**
 * The SQL of one page of a `read`; its cost grows with what it finds, not with the length of the history. Left to
 * itself the planner walks the whole history to spare sorting a few events, so each way to look has its own form.
 */
export function readQuery(project: string, after: number, filter: LogFilter): Query {
  const { types, task, iteration, iterations } = filter;
  // What has to be sorted is fetched as a whole: a page of it would cost as much.
  const limit = Math.min(filter.limit ?? Infinity, iterations === undefined ? PAGE : Infinity);
  const values: unknown[] = [project, after, Number.isFinite(limit) ? limit : null];
  const value = (one: unknown): string => `$${values.push(one)}`;
  const conditions = ["project = $1", "position > $2"];
  if (task !== undefined) conditions.push(`task = ${value(keyText(task))}`);
  if (iteration !== undefined) conditions.push(`iteration = ${value(iteration)}`);
  if (iterations !== undefined)
    conditions.push(`iteration >= ${value(iterations.from)}`, `iteration <= ${value(iterations.to)}`);
  if (types !== undefined) {
    const wanted = `${value(types)}::text[]`;
    if (task === undefined && iteration === undefined && iterations === undefined)
      return { sql: firstOfTypes(conditions, wanted), values, limit };
    conditions.push(`type = ANY (${wanted})`);
  }
  const found = `SELECT position, at, v, data FROM ralph.events WHERE ${conditions.join(" AND ")}`;
  if (iterations === undefined) return { sql: `${found} ${FIRST}`, values, limit };
  return { sql: `WITH found AS MATERIALIZED (${found}) SELECT * FROM found ${FIRST}`, values, limit };
}

/** Text that a database can compare: NUL and halves of surrogate pairs, which it refuses, are escaped. */
export function keyText(text: string): string {
  return text.isWellFormed() && !text.includes("\0") ? text : JSON.stringify(text);
}

const FIRST = "ORDER BY position LIMIT $3";

/** The first of each type, of which the first of all are taken. */
function firstOfTypes(conditions: readonly string[], wanted: string): string {
  return `SELECT found.* FROM unnest(${wanted}) AS wanted (type)
    CROSS JOIN LATERAL (
      SELECT position, at, v, data FROM ralph.events
      WHERE ${conditions.join(" AND ")} AND type = wanted.type ${FIRST}
    ) AS found ${FIRST}`;
}
