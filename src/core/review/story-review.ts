/** Where a story of a `tasks.json` stands in the review cycle. */
export interface StoryReview extends StoryBefore {
  readonly reviewFeedback: string;
  readonly notes: string;
  readonly hasReviewFields: boolean;
}

/** What is known of a story as it was before the iteration. */
export interface StoryBefore {
  readonly id: string;
  readonly passes: boolean;
  readonly reviewStatus: ReviewStatus;
  readonly reviewCount: number;
  /** A snapshot keeps neither this nor the next. */
  readonly reviewFeedback?: string;
  /** The file gives it a `reviewStatus` or a `reviewCount`, be it null. */
  readonly hasReviewFields?: boolean;
}

export type ReviewStatus = null | "needs_review" | "changes_requested" | "approved";

/** What an iteration may be for, the most urgent first. */
export const REVIEW_MODES = ["review-fix", "review", "implement"] as const;

export type ReviewMode = (typeof REVIEW_MODES)[number];

/** Every story's state before the iteration, by its id, as it stands in the file of the active run. */
export type Snapshot = Readonly<Record<string, Pick<StoryReview, "passes" | "reviewStatus" | "reviewCount">>>;

export interface ReviewRules {
  /** A story that comes to its review with so many behind it is approved. */
  readonly cap: number;
  readonly skipReview: boolean;
  /** The only story that the iteration may take further; null when it may be any. */
  readonly story: string | null;
}

/** The fields that belong to the review cycle, and what they are in a story that nobody has touched. */
export const UNTOUCHED = {
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
} as const;

export type ReviewField = keyof typeof UNTOUCHED;

export const REVIEW_FIELDS = Object.keys(UNTOUCHED) as readonly ReviewField[];

/** One field of one story, and what it is to be. */
export interface FieldEdit {
  readonly story: string;
  readonly field: ReviewField;
  readonly value: string | number | boolean | null;
}

/** The story as the file has it after these edits. */
export function withEdits(story: StoryReview, edits: readonly FieldEdit[]): StoryReview {
  const values = Object.fromEntries(edits.map(({ field, value }) => [field, value]));
  const hasFields = story.hasReviewFields || "reviewStatus" in values || "reviewCount" in values;
  return { ...story, ...values, hasReviewFields: hasFields };
}

/** The promise by which a review approves. */
export const APPROVED = "APPROVED";

/** What a story that was approved without being good enough for its reviewers says in its notes. */
export const AUTO_APPROVED = "[AUTO-APPROVED AT CAP]";

export function hasReviewFields(stories: readonly StoryReview[]): boolean {
  return stories.some((story) => story.hasReviewFields);
}

/** What the next iteration is for. */
export function reviewMode(stories: readonly Pick<StoryReview, "reviewStatus">[]): ReviewMode {
  if (stories.some(({ reviewStatus }) => reviewStatus === "changes_requested")) return "review-fix";
  return stories.some(({ reviewStatus }) => reviewStatus === "needs_review") ? "review" : "implement";
}

export function snapshotOf(stories: readonly StoryReview[]): Snapshot {
  return Object.fromEntries(
    stories.map(({ id, passes, reviewStatus, reviewCount }) => [id, { passes, reviewStatus, reviewCount }]),
  );
}

export function isAtCap(story: Pick<StoryReview, "reviewCount">, cap: number): boolean {
  return story.reviewCount >= cap;
}
