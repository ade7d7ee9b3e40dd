import { unreachable } from "../unreachable.ts";
import type { Effect } from "./effects.ts";
import type { State } from "./state.ts";

/** A part that one of several workers plays at a time: bringing work to the base, or everything that is nobody's task. */
export type Part = "@keeper" | "@merger";

export const KEEPER: Part = "@keeper";
export const MERGER: Part = "@merger";

/** Who of several workers does it: the id of the task that it holds, or the part that it plays. */
export function ownerOf(effect: Effect, { iterations }: State): string {
  switch (effect.kind) {
    case "iterate":
      return effect.task;
    case "look-at-halftime":
    case "tell-agent":
    case "close-orphan":
    case "collect-evidence":
    case "check-gates":
      return iterations.find(({ number }) => number === effect.iteration)?.task ?? KEEPER;
    case "record":
      return iterations.find(({ task }) => task === effect.task)?.task ?? KEEPER;
    case "merge-task":
    case "remove-worktree":
      return MERGER;
    case "observe":
    case "take-default":
    case "mark-task":
    case "publish-letter":
    case "withdraw-letter":
    case "end-run":
      return KEEPER;
    default:
      return unreachable(effect);
  }
}
