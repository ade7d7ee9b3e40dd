import { AUTO_APPROVED, isAtCap, reviewMode, type StoryReview } from "../review/story-review.ts";

/** What an iteration in the review cycle is for, as a section of its prompt. */
export function storyWork(review: StoryReview, cap: number): string {
  return `## Your part\n${workOf(review, cap)}\n\n${FIELDS}`;
}

function workOf(review: StoryReview, cap: number): string {
  switch (reviewMode([review])) {
    case "implement":
      return "Implement this story. Another agent will then review it with fresh eyes.";
    case "review-fix":
      return `A review of this story asks for changes. Make them, all of them, and nothing else:

${review.reviewFeedback.trim()}`;
    case "review":
      return isAtCap(review, cap) ? `${REVIEW}\n\n${atCap(review)}` : REVIEW;
  }
}

const REVIEW = `Another agent has worked on this story. Review what it did with fresh eyes: read the changes (\`git log\`, \`git diff\`),
the acceptance criteria, and the code around them. Look for what does not work, is missing, is unsafe, or will not be
understood. Change no files: whatever you change is put back.`;

function atCap({ reviewCount }: StoryReview): string {
  return `This story has been reviewed ${reviewCount} times, which is as often as it may be: approve it now. Say in your words what is
still not good; its notes will say ${AUTO_APPROVED}.`;
}

const FIELDS = `The review state in the file with the stories (\`passes\`, \`reviewStatus\`, \`reviewCount\`, \`reviewFeedback\`) is written for you, from
what you print at the end. You may add stories or split what is not begun, as new stories that nobody has touched;
\`prd.md\` is not yours to edit.`;

/** How a review says what it found. */
export function reviewCompletion(review: StoryReview, promise: string, cap: number): string {
  const approval = `## Completion Requirements
${isAtCap(review, cap) ? "When you have looked at it" : "If it is good"}, say in your words why, and print this on a line of its own:

<promise>${promise}</promise>`;
  if (isAtCap(review, cap)) return approval;
  return `${approval}

If something has to be changed first, print instead, on a line of its own, everything that is wrong and where:

<promise>CHANGES_REQUESTED:what is wrong</promise>

The story then goes back to the agent that wrote it, with your words. Approve only what you have looked at.`;
}
