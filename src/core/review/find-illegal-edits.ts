import { shown, storyName, type StoryProblem, type StoryRule } from "./story-problem.ts";
import {
  AUTO_APPROVED,
  isAtCap,
  UNTOUCHED,
  type ReviewField,
  type ReviewMode,
  type ReviewRules,
  type ReviewStatus,
  type StoryBefore,
  type StoryReview,
} from "./story-review.ts";

/** One legal step of one story. */
interface Transition {
  readonly from: ReviewStatus;
  readonly to: ReviewStatus;
  readonly passes: boolean;
  readonly countGrowsBy: 0 | 1;
  readonly feedback: "free" | "needed" | "cleared";
}

/** All that an iteration may do to stories that were there before; every mode takes one story one step. */
const TRANSITIONS: Readonly<Record<ReviewMode, readonly Transition[]>> = {
  implement: [{ from: null, to: "needs_review", passes: false, countGrowsBy: 0, feedback: "free" }],
  review: [
    { from: "needs_review", to: "approved", passes: true, countGrowsBy: 1, feedback: "free" },
    { from: "needs_review", to: "changes_requested", passes: false, countGrowsBy: 1, feedback: "needed" },
  ],
  "review-fix": [
    {
      from: "changes_requested",
      to: "needs_review",
      passes: false,
      countGrowsBy: 0,
      feedback: "cleared",
    },
  ],
};

const MAY: Readonly<Record<ReviewMode, string>> = {
  implement: 'an implement iteration may only take one story from null to "needs_review"',
  review: 'a review may only take one story from "needs_review" to "approved" or "changes_requested"',
  "review-fix": 'a review-fix iteration may only take one story from "changes_requested" to "needs_review"',
};

/** What an iteration did to the stories and was not allowed to. What a snapshot does not keep is not compared. */
export function findIllegalEdits(
  mode: ReviewMode,
  before: readonly StoryBefore[],
  after: readonly StoryReview[],
  rules: ReviewRules,
): readonly StoryProblem[] {
  if (rules.skipReview) return [];
  const earlier = new Map(before.map((story) => [story.id, story]));
  const left = new Set(after.map(({ id }) => id));
  const steps: Step[] = [];
  const problems: StoryProblem[] = [];
  for (const now of after) {
    const was = earlier.get(now.id);
    if (was === undefined) problems.push(...bornTouched(now));
    else if (changedFields(was, now).length > 0) steps.push({ was, now });
  }
  const legal: Step[] = [];
  for (const step of steps) {
    const found = illegalIn(mode, step, rules);
    problems.push(...found);
    if (found.length === 0) legal.push(step);
  }
  const gone = before.filter(({ id }) => !left.has(id));
  problems.push(...tooMany(mode, legal), ...gone.map(deleted));
  if (mode === "review" && steps.length === 0)
    problems.push(...nothingReviewed(before.filter(({ id }) => left.has(id) && id === (rules.story ?? id))));
  return problems;
}

interface Step {
  readonly was: StoryBefore;
  readonly now: StoryReview;
}

function illegalIn(mode: ReviewMode, { was, now }: Step, rules: ReviewRules): readonly StoryProblem[] {
  if (rules.story !== null && rules.story !== now.id) {
    const what = `this iteration is for ${storyName(rules.story)} alone; no other story's review may change`;
    return changedFields(was, now).map((field) => problem(now.id, field, "own-story", what));
  }
  const transition = TRANSITIONS[mode].find(
    ({ from, to }) => from === was.reviewStatus && to === now.reviewStatus,
  );
  if (transition === undefined) {
    return changedFields(was, now).map((field) =>
      problem(now.id, field, "transition", `${changeOf(field, was, now)}; ${MAY[mode]}`),
    );
  }
  return [...wrongNumbers(transition, { was, now }), ...wrongWords(transition, { was, now }, rules.cap)];
}

function wrongNumbers({ to, passes, countGrowsBy }: Transition, { was, now }: Step): readonly StoryProblem[] {
  const problems: StoryProblem[] = [];
  if (now.passes !== passes) {
    const what = `passes is ${now.passes}; with reviewStatus ${shown(to)} it must be ${passes}`;
    problems.push(problem(now.id, "passes", "transition", what));
  }
  if (now.reviewCount !== was.reviewCount + countGrowsBy) {
    const wanted = countGrowsBy === 0 ? "only a review changes it" : "a review adds exactly 1";
    const what = `${changeOf("reviewCount", was, now)}; ${wanted}`;
    problems.push(problem(now.id, "reviewCount", "count-step", what));
  }
  return problems;
}

function wrongWords({ to, feedback }: Transition, { was, now }: Step, cap: number): readonly StoryProblem[] {
  const isSaid = now.reviewFeedback.trim() !== "";
  const problems: StoryProblem[] = [];
  if (feedback === "needed" && !isSaid) {
    const what = "reviewFeedback is empty; a review that requests changes says which";
    problems.push(problem(now.id, "reviewFeedback", "feedback-needed", what));
  }
  if (feedback === "cleared" && isSaid) {
    const what = "reviewFeedback is still there; clear it when you hand the story back to review";
    problems.push(problem(now.id, "reviewFeedback", "feedback-cleared", what));
  }
  if (was.reviewStatus !== "needs_review" || !isAtCap(was, cap)) return problems;
  const demand = `after ${was.reviewCount} reviews (the cap is ${cap}) it is approved with ${AUTO_APPROVED} in its notes`;
  if (to === "changes_requested")
    problems.push(problem(now.id, "reviewStatus", "cap", `reviewStatus is ${shown(to)}; ${demand}`));
  else if (!now.notes.includes(AUTO_APPROVED))
    problems.push(problem(now.id, "notes", "cap", `notes lack ${AUTO_APPROVED}; ${demand}`));
  return problems;
}

const BORN = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;

function bornTouched(now: StoryReview): readonly StoryProblem[] {
  return BORN.filter((field) => now[field] !== UNTOUCHED[field]).map((field) => {
    const what = `${field} is ${shown(now[field])}; a new story starts with ${shown(UNTOUCHED[field])}`;
    return problem(now.id, field, "new-story", what);
  });
}

/** Each is legal alone, so nobody can say which was meant. */
function tooMany(mode: ReviewMode, steps: readonly Step[]): readonly StoryProblem[] {
  if (steps.length < 2) return [];
  return steps.map(({ was, now }) => {
    const what = `${changeOf("reviewStatus", was, now)}, one of multiple stories; ${MAY[mode]}`;
    return problem(now.id, "reviewStatus", "one-story", what);
  });
}

function deleted({ id }: StoryBefore): StoryProblem {
  return problem(id, "id", "deleted", "the story with this id is gone; no iteration may remove a story");
}

function nothingReviewed(stories: readonly StoryBefore[]): readonly StoryProblem[] {
  const story = stories.find(({ reviewStatus }) => reviewStatus === "needs_review");
  if (story === undefined) return [];
  const what = 'reviewStatus is still "needs_review"; a review ends with "approved" or "changes_requested"';
  return [problem(story.id, "reviewStatus", "nothing-reviewed", what)];
}

const COMPARED = ["reviewStatus", "passes", "reviewCount"] as const;

function changedFields(was: StoryBefore, now: StoryReview): readonly ReviewField[] {
  const changed: ReviewField[] = COMPARED.filter((field) => was[field] !== now[field]);
  const { reviewFeedback } = was;
  if (reviewFeedback !== undefined && reviewFeedback !== now.reviewFeedback) changed.push("reviewFeedback");
  return changed;
}

function changeOf(field: ReviewField, was: StoryBefore, now: StoryReview): string {
  if (field === "reviewFeedback" || field === "notes") return `${field} changed`;
  return was[field] === now[field]
    ? `${field} stays ${shown(now[field])}`
    : `${field} went from ${shown(was[field])} to ${shown(now[field])}`;
}

function problem(story: string, field: ReviewField | "id", rule: StoryRule, what: string): StoryProblem {
  return { story, field, rule, sentence: `${storyName(story)}: ${what}` };
}
