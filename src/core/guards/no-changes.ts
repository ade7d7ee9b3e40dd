import { isReading } from "../stages/stages.ts";
import type { Guard } from "./guard.ts";

/** Rejects "complete" when nothing has changed since the task began. */
export const noChanges: Guard = {
  name: "no-changes",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check: ({ evidence, stage }) =>
    !isReading(stage) && evidence.changedSinceTaskBegan.files === 0
      ? "no file has changed since the task began"
      : undefined,
};
