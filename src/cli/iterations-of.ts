import { hasLog, type Project } from "../compose.ts";
import {
  iterationRecords,
  RECORD_EVENTS,
  type IterationRecord,
} from "../core/projections/iteration-record.ts";
import { withLog } from "./project-state.ts";

/** Every iteration, or those of a task, oldest first. */
export async function iterationsOf(project: Project, task?: string): Promise<readonly IterationRecord[]> {
  if (!hasLog(project)) return [];
  const filter = { types: RECORD_EVENTS, ...(task !== undefined && { task }) };
  return iterationRecords(await withLog(project, (log) => log.read(0, filter)));
}
