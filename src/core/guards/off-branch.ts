import type { Guard } from "./guard.ts";

/** Rejects "complete" when the work was left on another branch. */
export const offBranch: Guard = {
  name: "off-branch",
  intervention: "evidence_validation_failed",
  looksAt: "claim",
  check: ({ evidence }) =>
    evidence.strayedTo === null
      ? undefined
      : `the work is at ${evidence.strayedTo}, which does not continue the branch that was checked out`,
};
