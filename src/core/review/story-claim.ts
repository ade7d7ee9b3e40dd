import type { Task } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import type { Settings } from "../settings.ts";
import { reviewCapOf, reviewOf } from "./story-cycle.ts";
import {
  isAtCap,
  REVIEW_FIELDS,
  reviewMode,
  withEdits,
  type FieldEdit,
  type StoryReview,
} from "./story-review.ts";
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
  if (reviewMode([review]) !== "review") return claim.is === "complete" ? { is: "complete" } : byEdit;
  const completion = task?.promise ?? settings.promise.completion;
  const byWords: ReviewSignal | null =
    claim.is === "complete" ? { is: "approved" } : readReviewSignal(promise, completion);
  // An objection in words outweighs an approval in the file.
  return byWords?.is === "changes-requested" ? byWords : (byEdit ?? byWords);
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
  if (signal?.is !== "changes-requested" || review === null) return null;
  return isAtCap(review, reviewCapOf(settled.settings)) ? null : signal.feedback;
}

/** What the fields of its story are to be when the signal counts. */
export function editsBySignal(settled: StoryCase): readonly FieldEdit[] {
  const { task, report, evidence, settings } = settled;
  const review = reviewOf(settings, task);
  const signal = storySignal(settled);
  if (review === null || signal === null) return [];
  const now = evidence.stories?.own ?? review;
  const said = { cap: reviewCapOf(settings), words: report.finalText };
  const edits = transitionBySignal(reviewMode([review]), { ...review, notes: now.notes }, signal, said);
  // What a reviewer wrote beside its approval stays; whatever else it wrote does not.
  const free = signal.is === "approved" ? { reviewFeedback: now.reviewFeedback } : {};
  const target = withEdits({ ...review, notes: now.notes, ...free }, edits);
  const others = REVIEW_FIELDS.filter(
    (field) =>
      edits.every((edit) => edit.field !== field) &&
      (target[field] !== now[field] || target[field] !== review[field]),
  );
  return [...edits, ...others.map((field) => ({ story: review.id, field, value: target[field] }))];
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
