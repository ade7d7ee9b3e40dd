import type { Event, Outcome } from "../events.ts";
import type { TaskId } from "../plan/task.ts";
import type { Instant } from "../time.ts";

/**
 * What should be under way now. Each has a key: an effect in flight is not started twice, and one that is
 * no longer wanted is aborted.
 */
export type Effect =
  /** Append a decision, unless something about the task (or, without a task, anything) came between. */
  | (Keyed<"record"> & { readonly task: TaskId | null; readonly events: readonly Event[] })
  /** Read the source and the operator's letters. */
  | Keyed<"observe">
  /** From admission to the agent's exit. */
  | (Keyed<"iterate"> & { readonly task: TaskId; readonly lane: number })
  /** See at half of its time whether the agent has written anything, and tell it if not. */
  | (Keyed<"look-at-halftime"> & { readonly iteration: number })
  /** Give a message of the operator's to the running agent. */
  | (Keyed<"tell-agent"> & { readonly iteration: number; readonly steer: string })
  /** Take the default of a question that nobody answered in time. */
  | (Keyed<"take-default"> & { readonly task: TaskId })
  /** Close an iteration whose engine died while the agent ran. */
  | (Keyed<"close-orphan"> & { readonly iteration: number })
  | (Keyed<"collect-evidence"> & { readonly iteration: number })
  | (Keyed<"check-gates"> & { readonly iteration: number })
  | (Keyed<"mark-task"> & { readonly task: TaskId })
  /** Bring the accepted work of a task to the base. */
  | (Keyed<"merge-task"> & { readonly task: TaskId })
  | (Keyed<"remove-worktree"> & { readonly task: TaskId })
  | (Keyed<"publish-letter"> & { readonly task: TaskId })
  | (Keyed<"withdraw-letter"> & { readonly task: TaskId })
  | (Keyed<"end-run"> & { readonly outcome: Outcome; readonly reason: string });

export type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

/** Effects that touch the outside; decisions are appended by the engine itself. */
export type PerformableEffect = Exclude<Effect, { kind: "record" }>;

export interface Decision {
  readonly effects: readonly Effect[];
  /** The next moment at which time alone changes the answer. */
  readonly wakeAt: Instant | null;
}

interface Keyed<Kind extends string> {
  readonly kind: Kind;
  readonly key: string;
}
