import { findBrokenInvariants } from "./find-broken-invariants.ts";
import { findIllegalEdits } from "./find-illegal-edits.ts";
import { readStories } from "./read-stories.ts";
import type { StoryProblem } from "./story-problem.ts";
import { hasReviewFields, type ReviewMode, type ReviewRules, type StoryBefore } from "./story-review.ts";

export interface StoryCheck {
  /** Null when nobody knows; then transitions are not checked. */
  readonly mode: ReviewMode | null;
  readonly before: readonly StoryBefore[] | null;
  readonly rules: ReviewRules;
}

/** All that is wrong with a `tasks.json`: its form, what must hold at any time, and what the iteration did. */
export function checkStories(file: unknown, { mode, before, rules }: StoryCheck): readonly StoryProblem[] {
  const { stories, problems } = readStories(file);
  // Who deletes the fields does not get rid of the rules.
  const isReviewed = hasReviewFields(stories) || (before ?? []).some(wasReviewed);
  if (rules.skipReview || !isReviewed) return problems;
  const illegal = mode === null || before === null ? [] : findIllegalEdits(mode, before, stories, rules);
  const unreadable = new Set(problems.map(({ story }) => story));
  const others = [...illegal, ...findBrokenInvariants(stories, rules.cap)];
  return oncePerField([...problems, ...others.filter(({ story }) => !unreadable.has(story))]);
}

function wasReviewed({
  reviewStatus,
  reviewCount,
  hasReviewFields: hasFields = false,
}: StoryBefore): boolean {
  return hasFields || reviewStatus !== null || reviewCount !== 0;
}

function oncePerField(problems: readonly StoryProblem[]): readonly StoryProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ story, field }) => {
    const key = JSON.stringify([story, field]);
    return !seen.has(key) && seen.add(key);
  });
}
