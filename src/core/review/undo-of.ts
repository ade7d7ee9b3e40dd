import type { StoryProblem } from "./story-problem.ts";
import {
  REVIEW_FIELDS,
  UNTOUCHED,
  type FieldEdit,
  type ReviewField,
  type StoryReview,
} from "./story-review.ts";

/** What takes illegal edits back. */
export interface Undo {
  readonly edits: readonly FieldEdit[];
  /** Stories that are gone and have to come back. */
  readonly deleted: readonly string[];
  /** Some of it no field of a known story mends: ids that are there twice, a story without a title. */
  readonly isBeyondFields: boolean;
}

export const NOTHING_TO_UNDO: Undo = { edits: [], deleted: [], isBeyondFields: false };

/** Only stories with a problem go back: those that were there to what they were, new ones to untouched. */
export function undoOf(
  before: readonly StoryReview[],
  after: readonly StoryReview[],
  problems: readonly StoryProblem[],
): Undo {
  const earlier = new Map(before.map((story) => [story.id, story]));
  const edits: FieldEdit[] = [];
  for (const now of after) {
    const was = earlier.get(now.id);
    if (was?.hasReviewFields === true && !now.hasReviewFields) edits.push(...fieldsBack(was));
    const own = problems.filter(({ story }) => story === now.id);
    if (own.length === 0) continue;
    const unreadable = new Set(own.filter(({ rule }) => rule === "schema").map(({ field }) => field));
    for (const field of REVIEW_FIELDS) {
      const value = was === undefined ? valueWhenNew(field, now) : was[field];
      if (value !== now[field] || unreadable.has(field)) edits.push({ story: now.id, field, value });
    }
  }
  const deleted = problems.filter(({ rule }) => rule === "deleted").map(({ story }) => story ?? "");
  return { edits, deleted, isBeyondFields: problems.some(isBeyondFields) };
}

/** Missing, they mean what they said; but a file without any of them has no review cycle. */
function fieldsBack({ id, reviewStatus, reviewCount }: StoryReview): readonly FieldEdit[] {
  return [
    { story: id, field: "reviewStatus", value: reviewStatus },
    { story: id, field: "reviewCount", value: reviewCount },
  ];
}

/** Notes may come with a story. */
function valueWhenNew(field: ReviewField, now: StoryReview): FieldEdit["value"] {
  return field === "notes" ? now.notes : UNTOUCHED[field];
}

function isBeyondFields({ story, field, rule }: StoryProblem): boolean {
  if (rule === "deleted") return false;
  return story === null || !REVIEW_FIELDS.some((known) => known === field);
}
