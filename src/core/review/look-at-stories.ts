import type { Task } from "../plan/task.ts";
import { checkStories } from "./check-stories.ts";
import { readStories } from "./read-stories.ts";
import type { StoryProblem, StoryRule } from "./story-problem.ts";
import { REVIEW_FIELDS, reviewMode, type StoryReview } from "./story-review.ts";
import { undoOf, type Undo } from "./undo-of.ts";

/** What an iteration did to the stories. */
export interface StoryFindings {
  /** Against the rules; it is undone together with the verdict. */
  readonly problems: readonly StoryProblem[];
  readonly undo: Undo;
  /** The task's own story as the agent left it, as far as that was legal. */
  readonly own: StoryReview;
}

const PROBLEMS_KEPT = 20;

/** Whether a review came to a decision, its words may tell as well; and at the cap we see to the approval ourselves. */
const LEFT_TO_THE_VERDICT: readonly StoryRule[] = ["nothing-reviewed", "cap"];

/** The stories after an iteration for the story `own`, beside what the plan said of all of them before it. */
export function lookAtStories(
  file: unknown,
  plan: readonly Task[],
  own: StoryReview,
  cap: number,
): StoryFindings {
  const before = plan.flatMap(({ review }) => review ?? []);
  const { stories } = readStories(file);
  const rules = { cap, skipReview: false, story: own.id };
  const problems = checkStories(file, { mode: reviewMode([own]), before, rules }).filter(
    (problem) =>
      !LEFT_TO_THE_VERDICT.includes(problem.rule) &&
      !isHalfAStep(problem, own) &&
      !wasThere(problem, before, stories),
  );
  const isSpoilt = problems.some(({ story }) => story === own.id || story === null);
  const now = isSpoilt ? own : (stories.find(({ id }) => id === own.id) ?? own);
  return { problems: problems.slice(0, PROBLEMS_KEPT), undo: undoOf(before, stories, problems), own: now };
}

/** Its own feedback alone, without the step that belongs to it: its words may say that step. */
function isHalfAStep({ story, field, rule }: StoryProblem, own: StoryReview): boolean {
  const hasWords = reviewMode([own]) !== "implement";
  return hasWords && story === own.id && field === "reviewFeedback" && rule === "transition";
}

/** What was wrong with a story that nobody has touched is not this agent's doing. */
function wasThere(
  { story, rule }: StoryProblem,
  before: readonly StoryReview[],
  after: readonly StoryReview[],
): boolean {
  const was = before.find(({ id }) => id === story);
  const now = after.find(({ id }) => id === story);
  if (rule === "schema" || rule === "unique-ids" || was === undefined || now === undefined) return false;
  return REVIEW_FIELDS.every((field) => was[field] === now[field]);
}

/** A file that nobody can read, or work with, any more: it comes back as it was. */
export function lostStories(own: StoryReview, sentence: string): StoryFindings {
  return {
    problems: [{ story: null, field: "userStories", rule: "schema", sentence }],
    undo: { edits: [], deleted: [], isBeyondFields: true },
    own,
  };
}
