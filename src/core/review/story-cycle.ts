import type { Task } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import type { StoryReview } from "./story-review.ts";

/** How often a task may be sent back, or a story reviewed, unless the operator says otherwise. */
export const REVIEW_CAP = 5;

export function reviewCapOf({ reviewCap }: Pick<Settings, "reviewCap">): number {
  return reviewCap ?? REVIEW_CAP;
}

/** The review state of a task whose source has the review cycle; null where there is none, or it is skipped. */
export function reviewOf(settings: Pick<Settings, "skipReview">, task: Task | undefined): StoryReview | null {
  return settings.skipReview === true ? null : (task?.review ?? null);
}
