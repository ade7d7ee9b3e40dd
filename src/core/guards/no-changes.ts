import type { ReviewMode } from "../review/story-review.ts";
import { isReading } from "../stages/stages.ts";
import type { Guard } from "./guard.ts";

/** Rejects "complete" when nothing has changed since the task began. */
export const noChanges: Guard = {
  name: "no-changes",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check({ evidence, stage, hasWorkedBefore }) {
    if (isReading(stage)) return undefined;
    if (evidence.changedSinceTaskBegan.files === 0) return "no file has changed since the task began";
    const isIdleFix = stage === ("review-fix" satisfies ReviewMode) && !hasWorkedBefore;
    return isIdleFix && evidence.changed.files === 0
      ? "no file has changed since the review asked for changes"
      : undefined;
  },
};
