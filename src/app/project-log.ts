import { existsSync } from "node:fs";
import { mendIfDamaged } from "../adapters/store/mend-database.ts";
import { projectId } from "../adapters/store/project-id.ts";
import { lateRedactingLog, redactingLog } from "../adapters/store/redacting-log.ts";
import { openSqliteLog } from "../adapters/store/sqlite-log.ts";
import { RalphError } from "../core/errors.ts";
import type { Recorded } from "../core/events.ts";
import { hourOf } from "../core/loop/brakes.ts";
import type { Commands } from "../core/settings.ts";
import type { TaskId } from "../core/plan.ts";
import { EMPTY_STATE, type State } from "../core/state.ts";
import { closest, few } from "../core/text.ts";
import type { Instant } from "../core/time.ts";
import { iterationRecords, RECORD_EVENTS, type IterationRecord } from "../core/views/iteration-record.ts";
import { blockedIds, blockedTasks, type BlockedTask } from "../core/views/inbox.ts";
import { isAtWork, projectStatus, type Status, workerJson, workerRow } from "../core/views/status.ts";
import { latestState } from "../engine/follow-log.ts";
import type { Log, LogFilter } from "../engine/ports.ts";
import { driverOf, type Project, redactorOf, workersOf } from "./project.ts";

/**
 * The project's log, on this machine or in the database that machines share. No secret of the environment or the
 * commands passes through it, nor of the configuration where no commands are given.
 */
export async function openLog(project: Project, commands?: Commands): Promise<Log> {
  const redactor = (): Promise<(text: string) => string> => redactorOf(project, commands);
  if (project.queue !== null) {
    const { openSharedLog } = await import("./shared-log.ts");
    return openSharedLog(project.root, project.queue, await redactor());
  }
  const { log, notice } = openSqliteLog(project.stateFile, projectId(project.stateFolder));
  if (notice !== null) project.say(notice);
  return commands === undefined ? lateRedactingLog(log, redactor) : redactingLog(log, await redactor());
}

/** Opens the log for as long as the work takes. */
export async function withLog<Result>(
  project: Project,
  work: (log: Log) => Promise<Result>,
  commands?: Commands,
): Promise<Result> {
  const log = await openLog(project, commands);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** Checks the whole log on this machine, and replaces a damaged one by a new one; answers what to tell. */
export function mendLog({ stateFile }: Project): string | null {
  return mendIfDamaged(stateFile, Date.now);
}

/** Whether any run was recorded, as far as one can know without opening the log. Creates nothing. */
export function hasLog({ queue, stateFile }: Project): boolean {
  return queue !== null || existsSync(stateFile);
}

/** Reads recorded events, oldest first. Creates nothing. */
export async function readEvents(
  project: Project,
  filter: LogFilter,
  after = 0,
): Promise<readonly Recorded[]> {
  return hasLog(project) ? withLog(project, (log) => log.read(after, filter)) : [];
}

/** The state as recorded, for commands that only look. Creates nothing. */
export async function readState(project: Project): Promise<State> {
  return hasLog(project) ? withLog(project, latestState) : EMPTY_STATE;
}

/** Every iteration, or those of a task, oldest first. */
export async function iterationsOf(project: Project, task?: string): Promise<readonly IterationRecord[]> {
  const filter = { types: RECORD_EVENTS, ...(task !== undefined && { task }) };
  return iterationRecords(await readEvents(project, filter));
}

/** The blocked tasks of a state, with what the log knew of their iterations by then. */
export async function blockedIn(state: State, log: Log): Promise<readonly BlockedTask[]> {
  const events: Recorded[] = [];
  for (const task of blockedIds(state)) events.push(...(await log.read(0, { task, types: RECORD_EVENTS })));
  return blockedTasks(state, iterationRecords(events.filter(({ position }) => position <= state.position)));
}

export async function blockedNow(project: Project, state: State): Promise<readonly BlockedTask[]> {
  return blockedIds(state).length === 0 ? [] : withLog(project, (log) => blockedIn(state, log));
}

/** The id that a person means, who may leave out its end where that is unique; null: none begins so. */
export function meantId(asked: string, ids: readonly TaskId[]): TaskId | null {
  if (ids.includes(asked)) return asked;
  const begun = asked === "" ? [] : [...new Set(ids)].filter((id) => id.startsWith(asked));
  if (begun.length < 2) return begun[0] ?? null;
  throw new RalphError("usage", `"${asked}" may be ${few(begun, 5)}`, { hint: "say more of the id" });
}

/** The same among all tasks: those of the run and of the list, else those that were worked on at any time. */
export async function meantTask(asked: string, state: State, project: Project): Promise<TaskId> {
  const known = [...(state.plan?.tasks ?? []).map(({ id }) => id), ...Object.keys(state.tasks)];
  if (known.includes(asked)) return asked;
  const { listedTasks } = await import("./operator.ts");
  const ids = [...known, ...(await listedTasks(project))];
  const meant = meantId(asked, ids);
  if (meant !== null) return meant;
  const begun = (await readEvents(project, { types: ["iteration.started"] })).flatMap((event) =>
    event.type === "iteration.started" ? [event.task] : [],
  );
  return meantId(asked, begun) ?? Promise.reject(unknownTask(asked, [...ids, ...begun]));
}

/** Says that there is no such task, and which one may have been meant. */
export function unknownTask(id: string, known: readonly TaskId[]): RalphError {
  const meant = closest(id, known);
  return new RalphError(
    "usage",
    `there is no task "${id}".${meant === null ? "" : ` Did you mean "${meant}"?`}`,
    { hint: "ralph tasks lists them; ralph history the iterations" },
  );
}

/** Where the run and its tasks stand. */
export async function statusNow(project: Project, now: Instant) {
  const read = async (log: Log) => [await latestState(log), await log.countCalls(hourOf(now).since)] as const;
  const [state, calls] = hasLog(project) ? await withLog(project, read) : [EMPTY_STATE, 0];
  // Null where one machine works alone.
  const workers = (await workersOf(project))?.map(workerRow) ?? null;
  const isDriven = workers === null ? driverOf(project) !== null : workers.some(isAtWork);
  return { state, isDriven, workers, status: projectStatus(state, isDriven, { calls, now }) };
}

/** As `ralph status --json` prints it. */
export function statusJson({ status, workers }: Awaited<ReturnType<typeof statusNow>>): Status {
  return workers === null ? status : Object.assign({}, status, { workers: workers.map(workerJson) });
}

/**
 * Keeps `status.json` in step with what a person did while no run is on; a run keeps it by itself. With a queue there
 * is no such file: what workers do elsewhere would be missing from it.
 */
export async function refreshStatus(project: Project): Promise<void> {
  if (project.queue !== null || driverOf(project) !== null) return;
  const { writeStatusFile } = await import("../adapters/files/views.ts");
  writeStatusFile(project.ralphDir, (await statusNow(project, Date.now())).status);
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
