import { iterationRecords, RECORD_EVENTS, type IterationRecord } from "../core/projections/history.ts";
import { latestState } from "../engine/operator.ts";
import { once } from "node:events";
import { driverOf, hasLog, openLog, workersOf, writeStatusFile, type Project } from "../compose.ts";
import type { Recorded } from "../core/events.ts";
import { hourOf } from "../core/limits/budget.ts";
import { EMPTY_STATE, type State } from "../core/loop/state.ts";
import {
  projectStatus,
  type Status,
  isAtWork,
  workerJson,
  type WorkerRow,
  workerRow,
} from "../core/projections/status.ts";
import type { Commands } from "../core/settings.ts";
import type { Instant } from "../core/time.ts";
import type { Log, LogFilter } from "../engine/ports.ts";

/** The state as recorded, for commands that only look; creates nothing. */
export async function readState(project: Project): Promise<State> {
  if (!hasLog(project)) return EMPTY_STATE;
  return withLog(project, latestState);
}

/** The state, and how many calls of this hour are used up by everybody who shares the store. */
export async function readStateAndCalls(
  project: Project,
  now: Instant,
): Promise<{ readonly state: State; readonly calls: number }> {
  if (!hasLog(project)) return { state: EMPTY_STATE, calls: 0 };
  return withLog(project, async (log) => ({
    state: await latestState(log),
    calls: await log.countCalls(hourOf(now).since),
  }));
}

/** Opens the log for as long as the work takes. */
export async function withLog<Result>(
  project: Project,
  work: (log: Log) => Promise<Result>,
  commands?: Commands,
  say: (text: string) => unknown = (text) => process.stderr.write(text),
): Promise<Result> {
  const { log, notice } = await openLog(project, process.env, commands);
  if (notice !== null) say(`ralph: ${notice}\n`);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Every iteration, or those of a task, oldest first. */
export async function iterationsOf(project: Project, task?: string): Promise<readonly IterationRecord[]> {
  if (!hasLog(project)) return [];
  const filter = { types: RECORD_EVENTS, ...(task !== undefined && { task }) };
  return iterationRecords(await withLog(project, (log) => log.read(0, filter)));
}

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

interface StatusNow {
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

const PAGE = 200;

/** Events oldest first, never more than a page of them in memory. */
export async function* eventsInPages(log: Log, filter: LogFilter = {}): AsyncGenerator<Recorded> {
  let after = 0;
  for (;;) {
    const page = await log.read(after, { ...filter, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.position;
  }
}

/** Waits for a slow reader; false when there is nobody who reads any more. */
export async function untilDrained(stream: NodeJS.WriteStream): Promise<boolean> {
  if (!stream.writableNeedDrain) return !stream.errored;
  try {
    await once(stream, "drain");
    return true;
  } catch {
    return false; // told by the stream's own handler, if it needs telling
  }
}
