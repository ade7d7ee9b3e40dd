import type { Task } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import type { Settings } from "../settings.ts";
import { reviewCapOf, reviewOf } from "./story-cycle.ts";
import { isAtCap, reviewMode, type FieldEdit, type StoryReview } from "./story-review.ts";
import { readReviewSignal, transitionBySignal, type ReviewSignal } from "./transition-by-signal.ts";

/** What an iteration in the review cycle rests on. */
export interface StoryCase {
  readonly task: Task | undefined;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly settings: Settings;
}

/**
 * What the agent says has become of its story: by its edit of the file, or by its words. Null outside the review
 * cycle, and when it says nothing.
 */
export function storySignal({ task, report, evidence, settings }: StoryCase): ReviewSignal | null {
  const review = reviewOf(settings, task);
  const { claim, failure, ending, promise = null } = report;
  if (review === null || failure !== null || claim.is === "blocked" || claim.is === "undecided") return null;
  if (ending.is === "interrupted" || ending.is === "stopped") return null;
  const byEdit = signalByEdit(review, evidence.stories?.own ?? review);
  if (byEdit !== null) return byEdit;
  const completion = task?.promise ?? settings.promise.completion;
  if (reviewMode([review]) !== "review") return claim.is === "complete" ? { is: "complete" } : null;
  return claim.is === "complete" ? { is: "approved" } : readReviewSignal(promise, completion);
}

function signalByEdit(was: StoryReview, now: StoryReview): ReviewSignal | null {
  if (was.reviewStatus === now.reviewStatus) return null;
  switch (now.reviewStatus) {
    case "needs_review":
      return { is: "complete" };
    case "approved":
      return { is: "approved" };
    case "changes_requested":
      return { is: "changes-requested", feedback: now.reviewFeedback };
    default:
      return null;
  }
}

/** What a review wants changed, in its words; at the cap nothing is sent back any more. */
export function storyObjection(settled: StoryCase): string | null {
  const signal = storySignal(settled);
  const review = reviewOf(settled.settings, settled.task);
  const hasForged = (settled.evidence.stories?.problems.length ?? 0) > 0;
  if (signal?.is !== "changes-requested" || review === null || hasForged) return null;
  return isAtCap(review, reviewCapOf(settled.settings)) ? null : signal.feedback;
}

/** What the fields of its story are to be when the signal counts. */
export function editsBySignal(settled: StoryCase): readonly FieldEdit[] {
  const { task, report, evidence, settings } = settled;
  const review = reviewOf(settings, task);
  const signal = storySignal(settled);
  if (review === null || signal === null) return [];
  const notes = evidence.stories?.own.notes ?? review.notes;
  const said = { cap: reviewCapOf(settings), words: report.finalText };
  return transitionBySignal(reviewMode([review]), { ...review, notes }, signal, said);
}

/** What takes back the agent's own edit of its story, when it does not count. */
export function editsBack({ task, evidence, settings }: StoryCase): readonly FieldEdit[] {
  const was = reviewOf(settings, task);
  const now = evidence.stories?.own;
  if (was === null || now === undefined) return [];
  return TAKEN_BACK.filter((field) => was[field] !== now[field]).map((field) => ({
    story: was.id,
    field,
    value: was[field],
  }));
}

/** Notes may stay: they say what was done. */
const TAKEN_BACK = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;
