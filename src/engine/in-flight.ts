import type { EffectOf, PerformableEffect } from "../core/loop/effects.ts";
import type { Journal } from "./journal.ts";
import type { Performing } from "./open-iteration.ts";
import { CANCELLED, type Ports } from "./ports.ts";
import { askReader } from "./effects/ask-reader.ts";
import { checkGates, runOldChecks, collectEvidence, checkMidRun } from "./effects/collect-evidence.ts";
import { closeOrphan, iterate, tellAgent } from "./effects/iterate.ts";
import { endRun, publishInboxFile, withdrawInboxFile, observe, takeDefault } from "./look-around.ts";
import { markTask, mergeTask, removeWorktree } from "./effects/merge-task.ts";
import { bringBack, setAside } from "./effects/set-aside.ts";

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
