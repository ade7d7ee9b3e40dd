import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventOf, Recorded } from "../core/events.ts";
import type { IterationRow } from "../core/projections/iteration-row.ts";
import { RUN_LIST_EVENTS, runList, type RunEntry } from "../core/projections/run-list.ts";
import { TIMELINE_EVENTS, timelineOf, type Timeline } from "../core/projections/timeline.ts";
import type { Log } from "../engine/ports.ts";

const PAGE = 500;

/** All runs, the newest first. */
export async function readRuns(log: Log, rows: readonly IterationRow[]): Promise<readonly RunEntry[]> {
  return runList(await log.read(0, { types: RUN_LIST_EVENTS }), rows);
}

/** How a run was started; undefined when there is no such run. */
export async function readStart(log: Log, run: string): Promise<Started | undefined> {
  const starts = await log.read(0, { types: ["run.started"] });
  return starts.find((event): event is Started => event.type === "run.started" && event.run === run);
}

type Started = Recorded<EventOf<"run.started">>;

/** Of one run, however long it is, without holding others up. */
export async function readTimeline(log: Log, run: string): Promise<Timeline | null> {
  const start = await readStart(log, run);
  if (start === undefined) return null;
  const worktrees = await log.read(0, { types: ["worktree.opened", "worktree.removed"] });
  const events = worktrees.filter(({ position }) => position < start.position);
  for (let after = start.position - 1; ;) {
    const page = await log.read(after, { limit: PAGE });
    for (const event of page) if (IS_DRAWN.has(event.type)) events.push(event);
    const last = page.at(-1);
    const isOver = page.some((event) => event.type === "run.ended" && event.run === run);
    if (last === undefined || page.length < PAGE || isOver) return timelineOf(events, run);
    after = last.position;
    await nextTurn();
  }
}

const IS_DRAWN: ReadonlySet<string> = new Set(TIMELINE_EVENTS);
