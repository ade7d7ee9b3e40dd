import type { Guard } from "./guard.ts";

const APPROVAL =
  /\bREVIEW PASSED\b|(?<!\b(?:not|never|un|cannot be|can't be|isn't|is not yet|not yet)[ -]?)\bapproved?\b/i;

/** Rejects a reviewer's promise that does not say in words that it approves. */
export const approval: Guard = {
  name: "approval",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check: ({ stage, report }) =>
    stage === "reviewer" && !APPROVAL.test(report.finalText)
      ? 'a review that passes says so: "REVIEW PASSED", with its reasons'
      : undefined,
  advice:
    "If there is something to change, print <promise>CHANGES_REQUESTED:what is wrong</promise> instead.",
};
