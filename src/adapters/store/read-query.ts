import type { LogFilter } from "../../engine/ports.ts";

/** The SQL of one `read`; its cost grows with what it finds, not with the length of the history. */
export function readQuery(project: string, after: number, filter: LogFilter): Query {
  const { types, task, iteration, limit } = filter;
  const conditions = ["project = ?", "position > ?"];
  const values: unknown[] = [project, after];
  if (types !== undefined) {
    conditions.push(`type IN (${types.map(() => "?").join(", ")})`);
    values.push(...types);
  }
  if (task !== undefined) {
    conditions.push("task = ?");
    values.push(task);
  }
  if (iteration !== undefined) {
    conditions.push("iteration = ?");
    values.push(iteration);
  }
  values.push(limit ?? -1);
  // Left to itself the planner walks the whole history to spare sorting the few events of rare types.
  const byType = types !== undefined && task === undefined && iteration === undefined;
  const sql = `SELECT position, at, v, data FROM events ${byType ? "INDEXED BY events_by_type" : ""}
    WHERE ${conditions.join(" AND ")} ORDER BY position LIMIT ?`;
  return { sql, values };
}

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}
