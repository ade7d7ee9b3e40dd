import { driverOf, writeStatusFile, type Project } from "../compose.ts";
import { projectStatus } from "../core/projections/status.ts";
import { readStateAndCalls } from "./project-state.ts";

/**
 * Keeps `status.json` in step with what a person did while no run is on; a run keeps it by itself. What others do
 * elsewhere would not be in it, so there is none of what a queue knows.
 */
export async function refreshStatus(project: Project): Promise<void> {
  if (project.queue !== null || driverOf(project) !== null) return;
  const now = Date.now();
  const { state, calls } = await readStateAndCalls(project, now);
  writeStatusFile(project.ralphDir, projectStatus(state, false, { calls, now }));
}
