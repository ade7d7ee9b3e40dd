import { few } from "../few.ts";
import { isReading } from "../stages/stages.ts";
import type { Guard } from "./guard.ts";

/** Objects when the agent changed what it must not change; the files have been put back by then. */
export const protectedPaths: Guard = {
  name: "protected-paths",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  check({ evidence, stage }) {
    if (evidence.putBack.length === 0) return undefined;
    return isReading(stage)
      ? `a ${stage} changes no files, and ${few(evidence.putBack)} had to be put back as before`
      : `protected files were changed (${few(evidence.putBack)}); they have been put back as they were`;
  },
};
