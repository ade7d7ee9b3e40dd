import { randomUUID } from "node:crypto";
import { decide } from "../core/loop/decide.ts";
import type { Decision, PerformableEffect } from "../core/loop/effects.ts";
import { type State, isOpen, type RunState, markersOf } from "../core/state.ts";
import { isCancelled } from "../core/loop/task-status.ts";
import { InFlight } from "./in-flight.ts";
import type { Journal } from "./journal.ts";
import { lookAround } from "./look-around.ts";
import type { Clock, Ports } from "./ports.ts";
import { sameSource } from "../core/plan.ts";
import type { Settings } from "../core/settings.ts";
import { baselineMarker } from "./effects/iterate.ts";
import { mergeMarker } from "./effects/merge-task.ts";
import { finishMoves } from "./effects/set-aside.ts";

/** A reason of our own: without one an error object is made, trace and all, at every turn of the loop. */
const OVER = "over";

/** How often the wall clock and others' facts are looked at while nothing of ours happens. */
const TICK_MS = 1_000;

/**
 * Decides, performs, records, until there is nothing left to do. Start, resume and restart are the same
 * path: the state says what should be under way.
 */
export async function runEngine(ports: Ports, journal: Journal, tickMs = TICK_MS): Promise<State> {
  const isUrgent = (effect: PerformableEffect): boolean =>
    effect.kind === "iterate" && isCancelled(journal.state, effect.task);
  const inFlight = new InFlight(ports, journal, { isUrgent });
  try {
    for (;;) {
      const woken = journal.nextRecord();
      await journal.catchUp();
      const seen = journal.state;
      const decision = decide(seen, ports.clock.now());
      if (await recordDecisions(journal, seen, decision, inFlight)) continue;
      const wanted = decision.effects.filter((effect) => effect.kind !== "record");
      inFlight.abortUnwanted(wanted);
      inFlight.startMissing(wanted);
      if (inFlight.isEmpty) {
        if (decision.wakeAt === null) return journal.state;
        if (await sawNews(ports, journal)) continue;
      }
      await waitForNews(ports.clock, decision, tickMs, [woken, inFlight.nextSettled()]);
      inFlight.rethrowFailure();
    }
  } finally {
    await inFlight.abortAll();
  }
}

/**
 * Decisions are facts too: they are appended at once, and then everything is looked at anew. A verdict waits until gates and
 * readers of its iteration have ended: after it, nobody would look for their processes.
 */
async function recordDecisions(
  journal: Journal,
  seen: State,
  decision: Decision,
  { effects }: InFlight,
): Promise<boolean> {
  const looking = effects.flatMap((effect) => ("iteration" in effect ? `verdict:${effect.iteration}` : []));
  const decisions = decision.effects
    .filter((effect) => effect.kind === "record")
    .filter(({ key }) => !looking.includes(key));
  for (const { events, task } of decisions) await journal.recordIfCurrent(events, task, seen);
  return decisions.length > 0;
}

/** While a run only waits, nobody else looks whether a person has given it something to do. */
async function sawNews(ports: Ports, journal: Journal): Promise<boolean> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) await journal.record(...news);
  return news.length > 0;
}

/** Timers sleep when the machine does, so the wall clock is asked again at every tick. */
async function waitForNews(
  clock: Clock,
  { wakeAt }: Decision,
  tickMs: number,
  news: Promise<void>[],
): Promise<void> {
  const untilWake = wakeAt === null ? tickMs : Math.max(0, wakeAt - clock.now());
  const tick = new AbortController();
  await Promise.race([...news, clock.sleep(Math.min(tickMs, untilWake), tick.signal)]);
  tick.abort(OVER);
}

/**
 * Opens a run: a run of the same source whose process died goes on with its counters; a run of another
 * source that died is closed first. Only the holder of the project's lock may call this.
 */
export async function startRun(
  journal: Journal,
  settings: Settings,
  pid: number,
  version: string,
  head: string | null,
): Promise<"started" | "resumed"> {
  await journal.catchUp();
  const { run } = journal.state;
  if (isOpen(run) && sameSource(run.settings.source, settings.source)) {
    await journal.record({
      type: "run.resumed",
      run: run.id,
      settings: withSameGates(run, settings),
      pid,
      head,
    });
    return "resumed";
  }
  if (isOpen(run)) {
    await journal.record({
      type: "run.ended",
      run: run.id,
      outcome: "stopped",
      reason: "its process died; another run was started",
    });
  }
  await journal.record({ type: "run.started", run: randomUUID(), settings, pid, version, head });
  return "started";
}

/** What gates rest on is what it was when the run started, not what a killed agent may have made of it. */
function withSameGates({ settings: before }: RunState, settings: Settings): Settings {
  const isSame = JSON.stringify(before.gates) === JSON.stringify(settings.gates);
  return isSame ? { ...settings, protect: before.protect } : settings;
}

/**
 * Clears away what a dead engine left behind: agents, gates and git processes that still carry the marker of an
 * open iteration, locks they held, files they had half written. The facts about it are recorded by the loop itself.
 */
export async function recover(ports: Ports, state: State): Promise<void> {
  // Work that comes back is tried out in a checkout of its own.
  const isBeside = Object.values(state.tasks).some(
    (task) => task.worktree !== null || task.work?.is === "aside",
  );
  const { run } = state;
  if (isOpen(run)) {
    const unbegun = Object.values(state.tasks).filter(({ workBase }) => workBase === null);
    const measuring = new Set(unbegun.map((task) => baselineMarker(run, task)));
    for (const marker of measuring) await ports.agents.sweep(marker);
    if (isBeside) await ports.agents.sweep(mergeMarker(run));
  }
  for (const marker of state.iterations.flatMap(markersOf)) await ports.agents.sweep(marker);
  // A reader has a checkout of its own, also where the work is done in place.
  if (isBeside || state.iterations.some((open) => markersOf(open).length > 1))
    await ports.parallel?.worktrees.clearLeftovers();
  if (isOpen(run) || state.iterations.length > 0) await ports.workspace.clearLeftovers();
  await finishMoves(ports, state);
}
