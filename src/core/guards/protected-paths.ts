import { few } from "../few.ts";
import type { Guard } from "./guard.ts";

/** Objects when the agent changed what it must not change; the files have been put back by then. */
export const protectedPaths: Guard = {
  name: "protected-paths",
  intervention: "evidence_validation_failed",
  looksAt: "work",
  check: ({ evidence }) =>
    evidence.putBack.length === 0
      ? undefined
      : `protected files were changed (${few(evidence.putBack)}); they have been put back as they were`,
};
