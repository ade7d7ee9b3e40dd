import { driverOf, workersOf, type Project } from "../compose.ts";
import { projectStatus, type Status } from "../core/projections/status.ts";
import { isAtWork, workerJson, type WorkerRow } from "../core/projections/workers.ts";
import type { State } from "../core/loop/state.ts";
import type { Instant } from "../core/time.ts";
import { workerRow } from "../engine/driving.ts";
import { readStateAndCalls } from "./project-state.ts";

export interface StatusNow {
  readonly state: State;
  readonly isDriven: boolean;
  readonly status: Status;
  /** Null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
}

/** Where the run and its tasks stand. */
export async function statusNow(project: Project, now: Instant): Promise<StatusNow> {
  const { state, calls } = await readStateAndCalls(project, now);
  const workers = (await workersOf(project))?.map(workerRow) ?? null;
  const isDriven = workers === null ? driverOf(project) !== null : workers.some(isAtWork);
  return { state, isDriven, workers, status: projectStatus(state, isDriven, { calls, now }) };
}

/** As `ralph status --json` prints it. */
export function statusJson({ status, workers }: StatusNow): Status {
  return workers === null ? status : Object.assign({}, status, { workers: workers.map(workerJson) });
}
