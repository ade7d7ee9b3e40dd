import { driverOf, workersOf, type Project } from "../compose.ts";
import { few } from "../core/few.ts";
import { RalphError } from "../core/ralph-error.ts";

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
