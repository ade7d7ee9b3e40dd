import type { LogFilter } from "../../engine/ports.ts";

/** At most so many events are fetched at once, so that the raw text of a long log is never in memory as a whole. */
export const PAGE = 1_000;

/**
 * The SQL of one page of a `read`; its cost grows with what it finds, not with the length of the history. Left to
 * itself the planner walks the whole history to spare sorting a few events, so each way to look has its own form.
 */
export function readQuery(project: string, after: number, filter: LogFilter): Query {
  const values: unknown[] = [project, after, Math.min(filter.limit ?? PAGE, PAGE)];
  const value = (one: unknown): string => `$${values.push(one)}`;
  const conditions = ["project = $1", "position > $2"];
  const { types, task, iteration, iterations } = filter;
  if (task !== undefined) conditions.push(`task = ${value(keyText(task))}`);
  if (iteration !== undefined) conditions.push(`iteration = ${value(iteration)}`);
  if (iterations !== undefined)
    conditions.push(`iteration >= ${value(iterations.from)}`, `iteration <= ${value(iterations.to)}`);
  const isNarrow = task !== undefined || iteration !== undefined || iterations !== undefined;
  if (types === undefined && !isNarrow) return { sql: page(conditions), values };
  if (isNarrow) {
    if (types !== undefined) conditions.push(`type = ANY (${value(types)}::text[])`);
    const found = `SELECT ${COLUMNS} FROM ralph.events WHERE ${conditions.join(" AND ")}`;
    return { sql: `WITH found AS MATERIALIZED (${found}) SELECT * FROM found ${FIRST}`, values };
  }
  // The first of each type, of which the first of all are taken.
  const ofType = page([...conditions, "type = wanted.type"]);
  const sql = `SELECT found.* FROM unnest(${value(types)}::text[]) AS wanted (type)
    CROSS JOIN LATERAL (${ofType}) AS found ${FIRST}`;
  return { sql, values };
}

/** Text that a database can compare: NUL and halves of surrogate pairs, which it refuses, are escaped. */
export function keyText(text: string): string {
  return text.isWellFormed() && !text.includes("\0") ? text : JSON.stringify(text);
}

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const COLUMNS = "position, at, v, data";
const FIRST = "ORDER BY position LIMIT $3";

function page(conditions: readonly string[]): string {
  return `SELECT ${COLUMNS} FROM ralph.events WHERE ${conditions.join(" AND ")} ${FIRST}`;
}
