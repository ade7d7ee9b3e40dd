import { closest, few } from "../core/text.ts";
import { resolve } from "node:path";
import { withLog } from "./project-state.ts";
import { driverOf, hasLog, workersOf, type Project, type Queue } from "../compose.ts";
import type { State } from "../core/loop/state.ts";
import { RalphError } from "../core/ralph-error.ts";

/** Answers, unblocking, messages and resets are a person's: an agent of this repository is refused. */
export function requirePerson({ ralphDir }: Project, env: NodeJS.ProcessEnv, act: string): void {
  const { RALPH_MARKER: marker, RALPH_DIR: folder } = env;
  if (marker === undefined || folder === undefined || resolve(folder) !== resolve(ralphDir)) return;
  throw new RalphError("usage", `an agent cannot ${act}: that is for a person to do`, {
    hint: "print <promise>BLOCKED:why</promise> or <promise>DECIDE:question</promise> instead",
  });
}

/** That nothing is under way, in words. */
export function nobody({ queue }: Project): string {
  return queue === null ? "no run is active here" : "no worker is here, or no run is open";
}

/** For commands that make sense only where machines share their tasks. */
export function requireQueue({ queue }: Project, command: string): Queue {
  if (queue !== null) return queue;
  throw new RalphError("config", `ralph ${command} needs the database that the machines share`, {
    hint: 'name it: [queue] url = "postgres://USER@HOST/NAME" in .ralph/ralph.toml, or RALPH_QUEUE_URL',
  });
}

/** Somebody asked for a name that is not there; the nearest right one, and all there are. */
export function unknownName(what: string, name: string, known: readonly string[]): RalphError {
  const meant = closest(name, known);
  const question = meant === null ? "" : `. Did you mean "${meant}"?`;
  return new RalphError("usage", `there is no ${what} "${name}"${question}`, {
    hint: `known: ${known.join(", ") || "none yet"}`,
  });
}

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

/** Refuses what must not happen while anybody goes on with the project's tasks. */
export async function refuseWhileDriven(project: Project): Promise<void> {
  const workers = await workersOf(project);
  if (workers !== null) return refuseWhile(workers.filter(({ is }) => is === "here" || is === "leaving"));
  const driver = driverOf(project);
  if (driver === null) return;
  throw new RalphError(
    "already-running",
    `a run is working in this repository (pid ${driver.pid ?? "unknown"})`,
    { hint: "end it first: ralph stop" },
  );
}

/** Refuses while a worker has this task in its hands. */
export async function refuseWhileHeld(project: Project, task: string): Promise<void> {
  const workers = (await workersOf(project)) ?? [];
  refuseWhile(workers.filter(({ holds }) => holds.includes(task)));
}

function refuseWhile(workers: readonly { readonly id: string; readonly host: string }[]): void {
  if (workers.length === 0) return;
  const names = few(workers.map(({ id, host }) => `${id} on ${host}`));
  throw new RalphError("already-running", `workers of this project are at work: ${names}`, {
    hint: "end them first: Ctrl-C where they run",
  });
}
