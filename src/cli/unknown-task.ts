import { hasLog, type Project } from "../compose.ts";
import { closest } from "../core/closest.ts";
import type { State } from "../core/loop/state.ts";
import { RalphError } from "../core/ralph-error.ts";
import { withLog } from "./project-state.ts";

/** Says that nobody knows the task, and which one may have been meant. */
export async function unknownTask(
  id: string,
  state: State,
  project: Project,
  others: readonly string[] = [],
): Promise<RalphError> {
  const begun = hasLog(project)
    ? await withLog(project, (log) => log.read(0, { types: ["iteration.started"] }))
    : [];
  const ids = new Set([
    ...(state.plan?.tasks ?? []).map((task) => task.id),
    ...Object.keys(state.tasks),
    ...others,
    ...begun.flatMap((event) => (event.type === "iteration.started" ? [event.task] : [])),
  ]);
  const meant = closest(id, [...ids]);
  return new RalphError(
    "usage",
    `no run knows a task "${id}".${meant === null ? "" : ` Did you mean "${meant}"?`}`,
    { hint: "ralph status lists the tasks, ralph history the iterations" },
  );
}
