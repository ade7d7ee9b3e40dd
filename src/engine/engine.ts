import { randomUUID } from "node:crypto";
import { decide } from "../core/loop/decide.ts";
import type { Decision, EffectOf, PerformableEffect } from "../core/loop/effects.ts";
import { type State, isOpen, type RunState, markersOf } from "../core/state.ts";
import { isCancelled } from "../core/loop/task-status.ts";
import type { Journal } from "./journal.ts";
import {
  endRun,
  lookAround,
  observe,
  publishInboxFile,
  takeDefault,
  withdrawInboxFile,
  type Performing,
} from "./look-around.ts";
import { CANCELLED, type Clock, type Ports } from "./ports.ts";
import { sameSource } from "../core/plan.ts";
import type { Settings } from "../core/settings.ts";
import { askReader } from "./effects/ask-reader.ts";
import { checkGates, checkMidRun, collectEvidence, runOldChecks } from "./effects/collect-evidence.ts";
import { baselineMarker, closeOrphan, iterate, tellAgent } from "./effects/iterate.ts";
import { markTask, mergeMarker, mergeTask, removeWorktree } from "./effects/merge-task.ts";
import { bringBack, finishMoves, setAside } from "./effects/set-aside.ts";

/** A reason of our own: without one an error object is made, trace and all, at every turn of the loop. */
export const OVER = "over";

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
        // While a run only waits, nobody else looks whether a person has given it something to do.
        const news = await lookAround(ports, journal.state);
        if (news.length > 0) {
          await journal.record(...news);
          continue;
        }
      }
      const { wakeAt } = decision;
      const untilWake = wakeAt === null ? tickMs : Math.max(0, wakeAt - ports.clock.now());
      await waitForNews(ports.clock, Math.min(tickMs, untilWake), [woken, inFlight.nextSettled()]);
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

/** Timers sleep when the machine does, so the wall clock is asked again at every tick. */
export async function waitForNews(
  clock: Clock,
  tickMs: number,
  news: readonly Promise<void>[],
): Promise<void> {
  const tick = new AbortController();
  await Promise.race([...news, clock.sleep(tickMs, tick.signal)]);
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

interface Running {
  readonly effect: PerformableEffect;
  readonly abort: AbortController;
  readonly settled: Promise<void>;
}

export interface Handling {
  /** An effect that is not wanted any more: whether it is ended at once, and not asked first. */
  readonly isUrgent: (effect: PerformableEffect) => boolean;
  /** Whether somebody takes care of a failure; otherwise it ends the engine. */
  readonly isHandled?: (effect: PerformableEffect, error: unknown) => boolean;
}

/** The effects under way, by key. */
export class InFlight {
  readonly #ports: Ports;
  readonly #journal: Journal;
  readonly #handling: Handling;
  readonly #running = new Map<string, Running>();
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  constructor(ports: Ports, journal: Journal, handling: Handling) {
    this.#ports = ports;
    this.#journal = journal;
    this.#handling = handling;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0;
  }

  get effects(): readonly PerformableEffect[] {
    return [...this.#running.values()].map(({ effect }) => effect);
  }

  startMissing(wanted: readonly PerformableEffect[]): void {
    for (const effect of wanted) {
      if (this.#running.has(effect.key) || this.#mustWait(effect)) continue;
      const abort = new AbortController();
      this.#running.set(effect.key, { effect, abort, settled: this.#run(effect, abort.signal) });
    }
  }

  abortUnwanted(wanted: readonly PerformableEffect[]): void {
    const keys = new Set(wanted.map((effect) => effect.key));
    for (const [key, { abort, effect }] of this.#running)
      if (!keys.has(key)) abort.abort(this.#reasonFor(effect));
  }

  /** Leaves nothing running behind a failure. */
  abortAll(): Promise<void> {
    return this.end(() => true);
  }

  /** Aborts these, and waits until they are over. */
  async end(isMeant: (effect: PerformableEffect) => boolean): Promise<void> {
    const meant = [...this.#running.values()].filter(({ effect }) => isMeant(effect));
    for (const { abort, effect } of meant) abort.abort(this.#reasonFor(effect));
    await Promise.all(meant.map(({ settled }) => settled));
  }

  nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  rethrowFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Merges go one at a time, also while one ends that is no longer wanted. */
  #mustWait({ kind }: PerformableEffect): boolean {
    return kind === "merge-task" && this.effects.some((running) => running.kind === kind);
  }

  #reasonFor(effect: PerformableEffect): string {
    return this.#handling.isUrgent(effect) ? CANCELLED : "no longer wanted";
  }

  async #run(effect: PerformableEffect, signal: AbortSignal): Promise<void> {
    const before = this.#journal.state.position;
    try {
      await perform(effect.kind, effect, { ports: this.#ports, journal: this.#journal, signal });
      if (this.#journal.state.position === before) await this.#journal.catchUp();
      if (this.#journal.state.position === before && !signal.aborted) {
        throw new Error(
          `the effect ${effect.key} ended without recording anything; it would be repeated for ever`,
        );
      }
    } catch (error) {
      if (this.#handling.isHandled?.(effect, error) !== true) this.#failure ??= { error };
    } finally {
      this.#running.delete(effect.key);
      this.#wake();
    }
  }
}

type Effects = { readonly [Kind in PerformableEffect["kind"]]: EffectOf<Kind> };

/** Each performs one effect and records what happened. Every effect is safe to repeat after a crash. */
const PERFORM: {
  readonly [Kind in keyof Effects]: (effect: Effects[Kind], performing: Performing) => Promise<void>;
} = {
  observe,
  iterate,
  "check-mid-run": checkMidRun,
  "tell-agent": tellAgent,
  "take-default": takeDefault,
  "close-orphan": closeOrphan,
  "collect-evidence": collectEvidence,
  "check-gates": checkGates,
  "run-old-checks": runOldChecks,
  "ask-reader": askReader,
  "mark-task": markTask,
  "set-aside": setAside,
  "bring-back": bringBack,
  "merge-task": mergeTask,
  "remove-worktree": removeWorktree,
  "publish-inbox-file": publishInboxFile,
  "withdraw-inbox-file": withdrawInboxFile,
  "end-run": endRun,
};

function perform<Kind extends keyof Effects>(
  kind: Kind,
  effect: Effects[Kind],
  performing: Performing,
): Promise<void> {
  return PERFORM[kind](effect, performing);
}
