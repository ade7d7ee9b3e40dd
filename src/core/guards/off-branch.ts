import type { Guard } from "./guard.ts";

/** Rejects "complete" when the work was left on another branch. */
export const offBranch: Guard = {
  name: "off-branch",
  intervention: "evidence_validation_failed",
  check: ({ evidence }) =>
    evidence.strayedTo === null
      ? undefined
      : `You left the branch you were started on; your work is at ${evidence.strayedTo} and does not continue it. Work on the branch that is checked out when you start.`,
};
