import type { PerformableEffect } from "../core/loop/effects.ts";
import { unreachable } from "../core/unreachable.ts";
import { checkGates } from "./effects/check-gates.ts";
import { closeOrphan } from "./effects/close-orphan.ts";
import { collectEvidence } from "./effects/collect-evidence.ts";
import { endRun } from "./effects/end-run.ts";
import { iterate } from "./effects/iterate.ts";
import { publishLetter, withdrawLetter } from "./effects/letters.ts";
import { lookAtHalftime } from "./effects/look-at-halftime.ts";
import { markTask } from "./effects/mark-task.ts";
import { mergeTask } from "./effects/merge-task.ts";
import { observe } from "./effects/observe.ts";
import { removeWorktree } from "./effects/remove-worktree.ts";
import { takeDefault } from "./effects/take-default.ts";
import { tellAgent } from "./effects/tell-agent.ts";
import type { Journal } from "./journal.ts";
import type { Ports } from "./ports.ts";

/** Performs one effect and records what happened. Every effect is safe to repeat after a crash. */
export async function perform(
  effect: PerformableEffect,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  switch (effect.kind) {
    case "observe":
      return observe(ports, journal);
    case "iterate":
      return iterate(effect, ports, journal, signal);
    case "look-at-halftime":
      return lookAtHalftime(effect, ports, journal);
    case "tell-agent":
      return tellAgent(effect, ports, journal);
    case "take-default":
      return takeDefault(effect, ports, journal);
    case "close-orphan":
      return closeOrphan(effect, ports, journal);
    case "collect-evidence":
      return collectEvidence(effect, ports, journal);
    case "check-gates":
      return checkGates(effect, ports, journal, signal);
    case "mark-task":
      return markTask(effect, ports, journal);
    case "merge-task":
      return mergeTask(effect, ports, journal, signal);
    case "remove-worktree":
      return removeWorktree(effect, ports, journal);
    case "publish-letter":
      return publishLetter(effect, ports, journal);
    case "withdraw-letter":
      return withdrawLetter(effect, ports, journal);
    case "end-run":
      return endRun(effect, ports, journal);
    default:
      return unreachable(effect);
  }
}
