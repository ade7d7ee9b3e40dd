import {
  APPROVED,
  AUTO_APPROVED,
  isAtCap,
  type FieldEdit,
  type ReviewField,
  type ReviewMode,
  type StoryReview,
} from "./story-review.ts";

/** How an agent says what becomes of the story, when it leaves the file alone. */
export type ReviewSignal =
  | { readonly is: "complete" }
  | { readonly is: "approved" }
  | { readonly is: "changes-requested"; readonly feedback: string };

/** Reads the text of a promise; null for one that says nothing about a review. */
export function readReviewSignal(promise: string | null, completion: string): ReviewSignal | null {
  const text = promise?.trim() ?? "";
  if (text === APPROVED) return { is: "approved" };
  if (text.startsWith(CHANGES_REQUESTED)) {
    const feedback = text.slice(CHANGES_REQUESTED.length).trim();
    return feedback === "" ? null : { is: "changes-requested", feedback };
  }
  return text !== "" && text === completion.trim() ? { is: "complete" } : null;
}

const CHANGES_REQUESTED = "CHANGES_REQUESTED:";

/**
 * What we write into the file for an agent that only gave its signal; nothing when the signal does not fit. `words`
 * are the reviewer's, for notes that are empty.
 */
export function transitionBySignal(
  mode: ReviewMode,
  story: StoryReview,
  signal: ReviewSignal,
  { cap, words }: { readonly cap: number; readonly words: string },
): readonly FieldEdit[] {
  const edits = (values: Partial<Record<ReviewField, FieldEdit["value"]>>): readonly FieldEdit[] =>
    Object.entries(values).map(([field, value]) => ({ story: story.id, field: field as ReviewField, value }));
  if (mode !== "review") {
    if (signal.is !== "complete" || !isBegun(mode, story)) return [];
    return edits({ reviewStatus: "needs_review", ...(mode === "review-fix" && { reviewFeedback: "" }) });
  }
  if (signal.is === "complete" || story.reviewStatus !== "needs_review") return [];
  const reviewCount = story.reviewCount + 1;
  if (signal.is === "changes-requested" && !isAtCap(story, cap))
    return edits({ reviewStatus: "changes_requested", reviewCount, reviewFeedback: signal.feedback });
  const said = signal.is === "approved" ? words : signal.feedback;
  const notes = approvalNotes(story, said, isAtCap(story, cap));
  return edits({
    reviewStatus: "approved",
    passes: true,
    reviewCount,
    ...(notes !== story.notes && { notes }),
    // What it was approved in spite of.
    ...(signal.is === "changes-requested" && { reviewFeedback: signal.feedback }),
  });
}

/** Whoever takes `passes` from an approved story opens it again. */
function isBegun(mode: ReviewMode, { reviewStatus, passes }: StoryReview): boolean {
  if (mode === "review-fix") return reviewStatus === "changes_requested";
  return reviewStatus === null || (reviewStatus === "approved" && !passes);
}

function approvalNotes({ notes }: StoryReview, words: string, isForced: boolean): string {
  const said = words.replaceAll(PROMISE, "").trim().slice(0, NOTES_LENGTH_MAX);
  const own = notes.trim() === "" ? said || "Approved in review." : notes;
  return isForced && !own.includes(AUTO_APPROVED) ? `${own} ${AUTO_APPROVED}` : own;
}

const PROMISE = /<promise>[^<]{0,4000}<\/promise>/g;
const NOTES_LENGTH_MAX = 2_000;
