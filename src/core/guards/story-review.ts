import { reviewCapOf, reviewOf } from "../review/story-cycle.ts";
import { storySignal } from "../review/story-claim.ts";
import { isAtCap } from "../review/story-review.ts";
import type { Guard, GuardContext } from "./guard.ts";

const SENTENCES_MAX = 5;

/** Objects when the agent changed a review state that it must not change, or reviewed and did not decide. */
export const storyReview: Guard = {
  name: "story-review",
  intervention: "illegal_transition",
  looksAt: "work",
  check(context) {
    const { stories } = context.evidence;
    if (stories === undefined) return undefined;
    const sentences = stories.problems.slice(0, SENTENCES_MAX).map(({ sentence }) => sentence);
    const more = stories.problems.length > SENTENCES_MAX ? ["and more"] : [];
    return sentences.length > 0
      ? `the stories were changed against the rules, which is undone (${[...sentences, ...more].join("; ")})`
      : undecided(context);
  },
  advice: "Leave the review fields of all stories alone, and say by your promise what became of yours.",
};

function undecided(context: GuardContext): string | undefined {
  const { task, stage, report, settings } = context;
  const review = reviewOf(settings, task);
  if (stage !== "review" || review === null) return undefined;
  const signal = storySignal(context);
  if (signal?.is === "complete")
    return `it claims that every story is approved, and ${review.id}, which was to be reviewed, is not`;
  const isHeld = report.claim.is === "blocked" || report.claim.is === "undecided";
  if (signal !== null || isHeld || report.failure !== null) return undefined;
  const choices = isAtCap(review, reviewCapOf(settings))
    ? "it has to be approved now"
    : "approve it, or request changes";
  return `the review of ${review.id} ended without a decision: ${choices}`;
}
