import { iterationRecords, RECORD_EVENTS } from "../core/projections/history.ts";
import { blockedIds, whatToDo, type BlockedTask, blockedTasks } from "../core/projections/inbox.ts";
import { columns, shortened } from "./print/style.ts";
import { withLog } from "./project-state.ts";
import type { Project } from "../compose.ts";
import type { Recorded } from "../core/events.ts";
import type { State } from "../core/loop/state.ts";

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

export const TITLE_LENGTH = 40;
export const WHY_LENGTH = 100;

/** Each blocked task, why, what would help, and below it what to type. */
export function suggestionLines(tasks: readonly BlockedTask[]): readonly string[] {
  const heads = columns(
    tasks.map(({ id, title, why, suggestion }) => [
      id,
      shortened(title, TITLE_LENGTH),
      shortened(why, WHY_LENGTH),
      suggestion,
    ]),
  );
  const indent = " ".repeat(Math.max(0, ...tasks.map(({ id }) => id.length)) + 2);
  return tasks.flatMap((task, at) => [heads[at] ?? "", `${indent}→ ${whatToDo(task)}`]);
}
