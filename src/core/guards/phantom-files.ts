import { few } from "../few.ts";
import { isReading } from "../stages/stages.ts";
import type { Guard } from "./guard.ts";

/** Rejects "complete" when the agent names files as written that it did not write. */
export const phantomFiles: Guard = {
  name: "phantom-files",
  intervention: "evidence_validation_failed",
  looksAt: "words",
  check: ({ evidence, stage }) =>
    evidence.phantoms.length === 0 || isReading(stage)
      ? undefined
      : `files are named as written that are not among the changes: ${few(evidence.phantoms)}`,
  advice: "Write them, or do not name them.",
};
