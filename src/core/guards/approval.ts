import type { Guard } from "./guard.ts";

const CLAUSES = /[.!;,:\n–—]+/;
const PASSED = /\bREVIEW PASSED\b/i;
const APPROVED = /\bapproved\b(?!\s*\?)/i;
/** Words shortly before it that make it something else. */
const NOT_SO =
  /\b(?:not|never|no|none|nothing|nobody|cannot|can't|don't|doesn't|isn't|wasn't|won't|before|until|unless|if|once|should|would|could)\b|n't\b/i;

/** Rejects a reviewer's promise that does not say in words that it approves. */
export const approval: Guard = {
  name: "approval",
  intervention: "false_completion_detected",
  looksAt: "claim",
  check: ({ stage, report }) =>
    stage === "reviewer" && !report.finalText.split(CLAUSES).some(approves)
      ? 'a review that passes says so: "REVIEW PASSED", with its reasons'
      : undefined,
  advice:
    "If there is something to change, print <promise>CHANGES_REQUESTED:what is wrong</promise> instead.",
};

const WORDS_BEFORE = 4;

function approves(clause: string): boolean {
  const said = PASSED.exec(clause) ?? APPROVED.exec(clause);
  if (said === null) return false;
  const before = clause.slice(0, said.index).trim().split(/\s+/).slice(-WORDS_BEFORE);
  return !NOT_SO.test(before.join(" "));
}
