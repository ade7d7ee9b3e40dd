import { shown, storyName, type StoryProblem, type StoryRule } from "./story-problem.ts";
import type { ReviewField, StoryReview } from "./story-review.ts";

/** What does not hold in a file with the review cycle, however it came about. */
export function findBrokenInvariants(stories: readonly StoryReview[], cap: number): readonly StoryProblem[] {
  return stories.flatMap((story) =>
    INVARIANTS.flatMap(({ rule, field, check }) => {
      const what = check(story, cap);
      return what === undefined
        ? []
        : [{ story: story.id, field, rule, sentence: `${storyName(story.id)}: ${what}` }];
    }),
  );
}

interface Invariant {
  readonly rule: StoryRule;
  readonly field: ReviewField;
  readonly check: (story: StoryReview, cap: number) => string | undefined;
}

const INVARIANTS: readonly Invariant[] = [
  {
    rule: "passes-means-approved",
    field: "passes",
    check: ({ passes, reviewStatus }) => {
      if (passes && reviewStatus !== "approved")
        return `passes is true, but reviewStatus is ${shown(reviewStatus)}, not "approved"`;
      if (!passes && reviewStatus === "approved")
        return 'passes is false, but reviewStatus is "approved"; an approved story passes';
      return undefined;
    },
  },
  {
    rule: "feedback-needed",
    field: "reviewFeedback",
    check: ({ reviewStatus, reviewFeedback }) =>
      reviewStatus === "changes_requested" && reviewFeedback.trim() === ""
        ? 'reviewFeedback is empty, but reviewStatus is "changes_requested"; say what has to change'
        : undefined,
  },
  {
    rule: "count-range",
    field: "reviewCount",
    check: ({ reviewCount }, cap) => {
      if (reviewCount < 0) return `reviewCount is ${reviewCount}; it must be non-negative`;
      if (reviewCount > cap + 1) return `reviewCount is ${reviewCount}; it can be at most ${cap + 1}`;
      return undefined;
    },
  },
  {
    rule: "notes-needed",
    field: "notes",
    check: ({ passes, notes }) =>
      passes && notes.trim() === "" ? "notes are empty, but passes is true; say what was done" : undefined,
  },
];
