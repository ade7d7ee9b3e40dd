import type { Event, Outcome } from "../events.ts";
import type { TaskId } from "../plan.ts";
import type { Instant } from "../time.ts";
import type { State } from "../state.ts";

/**
 * What should be under way now. Each has a key: an effect in flight is not started twice, and one that is
 * no longer wanted is aborted.
 */
export type Effect =
  /** Append a decision, unless something about the task (or, without a task, anything) came between. */
  | (Keyed<"record"> & { readonly task: TaskId | null; readonly events: readonly Event[] })
  /** Read the source and the operator's inbox files. */
  | Keyed<"observe">
  /** From admission to the agent's exit. */
  | (Keyed<"iterate"> & { readonly task: TaskId; readonly lane: number })
  /** See at half of its time whether the agent has written anything, and tell it if not. */
  | (Keyed<"check-mid-run"> & { readonly iteration: number })
  /** Give a message of the operator's to the running agent. */
  | (Keyed<"tell-agent"> & { readonly iteration: number; readonly steer: string })
  /** Take the default of a question that nobody answered in time. */
  | (Keyed<"take-default"> & { readonly task: TaskId })
  /** Close an iteration whose engine died while the agent ran. */
  | (Keyed<"close-orphan"> & { readonly iteration: number })
  | (Keyed<"collect-evidence"> & { readonly iteration: number })
  | (Keyed<"check-gates"> & { readonly iteration: number })
  /** Run the gates with the check files as they were before the task. */
  | (Keyed<"run-old-checks"> & { readonly iteration: number })
  /** Let somebody else read the claim. */
  | (Keyed<"ask-reader"> & { readonly iteration: number; readonly agent: string })
  | (Keyed<"mark-task"> & { readonly task: TaskId })
  /** Take the unaccepted work of a task off the operator's branch. */
  | (Keyed<"set-aside"> & { readonly task: TaskId })
  /** Bring it back to where the task goes on. */
  | (Keyed<"bring-back"> & { readonly task: TaskId })
  /** Bring the accepted work of a task to the base. */
  | (Keyed<"merge-task"> & { readonly task: TaskId })
  | (Keyed<"remove-worktree"> & { readonly task: TaskId })
  | (Keyed<"publish-inbox-file"> & { readonly task: TaskId })
  | (Keyed<"withdraw-inbox-file"> & { readonly task: TaskId })
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

/** A role that one of several workers has at a time: bringing work to the base, or everything that is nobody's task. */
export type Role = "@keeper" | "@merger";

export const COORDINATOR: Role = "@keeper";
export const MERGER: Role = "@merger";

const OF_MERGER: ReadonlySet<Effect["kind"]> = new Set<Effect["kind"]>([
  "merge-task",
  "remove-worktree",
  "set-aside",
  "bring-back",
]);

/** Who of several workers does it: the id of the task that it holds, or its role. */
export function ownerOf(effect: Effect, { iterations }: State): string {
  if (effect.kind === "iterate") return effect.task;
  if (OF_MERGER.has(effect.kind)) return MERGER;
  const open =
    "iteration" in effect
      ? iterations.find(({ number }) => number === effect.iteration)
      : iterations.find(({ task }) => effect.kind === "record" && task === effect.task);
  return open?.task ?? COORDINATOR;
}
