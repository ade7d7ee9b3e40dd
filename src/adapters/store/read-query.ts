import type { LogFilter } from "../../engine/ports.ts";

/** The SQL of one `read`; its cost grows with what it finds, not with the length of the history. */
export function readQuery(project: string, after: number, filter: LogFilter): Query {
  const { types, task, iteration, iterations, limit } = filter;
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
  if (iterations !== undefined) {
    conditions.push("iteration >= ?", "iteration <= ?");
    values.push(iterations.from, iterations.to);
  }
  values.push(limit ?? -1);
  // Left to itself the planner walks the whole history to spare sorting the few events of rare types.
  const index = indexFor(filter);
  const sql = `SELECT position, at, v, data FROM events ${index === null ? "" : `INDEXED BY ${index}`}
    WHERE ${conditions.join(" AND ")} ORDER BY position LIMIT ?`;
  return { sql, values };
}

function indexFor({ types, task, iteration, iterations }: LogFilter): string | null {
  if (task !== undefined || iteration !== undefined) return null;
  if (iterations !== undefined) return "events_by_iteration";
  return types === undefined ? null : "events_by_type";
}

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}
