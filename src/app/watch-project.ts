import { setTimeout as sleep } from "node:timers/promises";
import { isAtWork, workerRow, type WorkerRow } from "../core/views/status.ts";
import type { Recorded } from "../core/events.ts";
import { hourOf } from "../core/loop/brakes.ts";
import { EMPTY_STATE, type State } from "../core/state.ts";
import { overviewOf, type LogLine, type Overview, type LiveProgress } from "../core/views/overview.ts";
import type { Instant } from "../core/time.ts";
import type { Acted } from "../core/loop/operator-act.ts";
import type { ProjectAct } from "./operator.ts";
import { followLog, type Followed } from "../engine/follow-log.ts";
import type { Log } from "../engine/ports.ts";
import type { WorkerSeen } from "../engine/fleet-ports.ts";

/** What a screen needs from the outside. */
export interface ScreenPorts {
  /** The name of its folder. */
  readonly project: string;
  readonly mayAct: boolean;
  /** Does what a person wants. */
  act(act: ProjectAct): Promise<Acted>;
  /** Whether what this worker's agents print lies on another machine. */
  isElsewhere(worker: string): boolean;
  /** Null until the first run. */
  log(): Promise<Log | null>;
  /** As of now. */
  driving(): Promise<Driving>;
  /** What a person is told about one fact. */
  lines(event: Recorded, state: State): readonly string[];
  now(): Instant;
}

/** Where the work of a task is, and between which commits. */
export interface TaskWork {
  readonly is: "accepted" | "aside" | "under way";
  readonly where: string;
  readonly root: string;
  /** Oldest first; null at the end is the work tree. */
  readonly ranges: readonly { readonly from: string | null; readonly to: string | null }[];
}

/** A project as a screen sees it. */
export interface WatchedProject {
  readonly state: State;
  /** As of the last time. */
  readonly driving: Driving;
  overview(): Overview;
  /** What came since the last time. */
  catchUp(): Promise<readonly Recorded[]>;
}

const TAIL_LINES = 200;
const TAIL_EVENTS = 400;

export async function watchProject(ports: ScreenPorts): Promise<WatchedProject> {
  let followed: Followed | null = null;
  /** What is followed, and when it began: after a reset the same log begins anew. */
  let source: { readonly log: Log; readonly begun: Instant | null } | null = null;
  let driving: Driving = { isDriven: false, progress: [], workers: null };
  let calls = 0;
  let hour: Instant | null = null;
  /** The last lines of what happened. */
  let tail: readonly LogLine[] = [];
  const addLines = (event: Recorded, state: State): void => {
    const { position, at } = event;
    const texts = ports.lines(event, state).filter((text) => text.trim() !== "");
    tail = [...tail, ...texts.map((text) => ({ position, at, text }))].slice(-TAIL_LINES);
  };
  const begin = async (log: Log): Promise<Followed> => {
    const begun = await followLog(log);
    const { state } = begun;
    for (const event of await log.read(Math.max(0, state.position - TAIL_EVENTS))) addLines(event, state);
    return begun;
  };
  const watched: WatchedProject = {
    get state() {
      return followed?.state ?? EMPTY_STATE;
    },
    get driving() {
      return driving;
    },
    overview: () =>
      overviewOf(watched.state, {
        project: ports.project,
        now: ports.now(),
        mayAct: ports.mayAct,
        ...driving,
        tail,
        calls,
      }),
    async catchUp() {
      driving = await ports.driving();
      const log = await ports.log();
      const begun = (await log?.read(0, { limit: 1 }))?.[0]?.at ?? null;
      const isSame = log === source?.log && (source.begun === null || source.begun === begun);
      if (source !== null && !isSame) {
        followed = null;
        calls = 0;
        tail = [];
      }
      source = log === null ? null : { log, begun };
      if (log === null) return [];
      const isNew = followed === null;
      followed ??= await begin(log);
      const news = await followed.catchUp();
      for (const { event, state } of news) addLines(event, state);
      const { since } = hourOf(ports.now());
      if (isNew || news.length > 0 || since !== hour) calls = await log.countCalls(since);
      hour = since;
      return news.map(({ event }) => event);
    },
  };
  await watched.catchUp();
  return watched;
}

/** Who goes on with a project's tasks, and how far they are. */
export interface Driving {
  readonly isDriven: boolean;
  readonly progress: readonly LiveProgress[];
  /** Null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
}

/** `progressOf`: what is in a worker's report, as far as it can be read. */
export function drivenByWorkers(
  seen: readonly WorkerSeen[],
  progressOf: (rows: readonly unknown[]) => readonly LiveProgress[],
): Driving {
  const atWork = seen.filter(isAtWork);
  return {
    isDriven: atWork.length > 0,
    progress: atWork.flatMap(({ progress }) => progressOf(progress)),
    workers: seen.map(workerRow),
  };
}

/** Looks again and again, the next time only when the last look is over, until the signal says stop. */
export async function lookEvery(ms: number, signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look();
    await sleep(ms, undefined, { signal }).catch(() => {});
  }
}
