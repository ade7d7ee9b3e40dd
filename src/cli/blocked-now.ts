import type { Project } from "../compose.ts";
import type { Recorded } from "../core/events.ts";
import type { State } from "../core/loop/state.ts";
import { blockedIds, blockedTasks, type BlockedTask } from "../core/projections/blocked.ts";
import { iterationRecords, RECORD_EVENTS } from "../core/projections/iteration-record.ts";
import { withLog } from "./project-state.ts";

/** The tasks that are blocked, with what the log knows of their iterations. */
export async function blockedNow(project: Project, state: State): Promise<readonly BlockedTask[]> {
  const ids = blockedIds(state);
  if (ids.length === 0) return [];
  return withLog(project, async (log) => {
    const events: Recorded[] = [];
    for (const task of ids) events.push(...(await log.read(0, { task, types: RECORD_EVENTS })));
    return blockedTasks(state, iterationRecords(events));
  });
}
