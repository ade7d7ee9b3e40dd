import type { Task } from "../plan/task.ts";
import {
  AUTO_APPROVED,
  hasReviewFields,
  isAtCap,
  readStories,
  REVIEW_FIELDS,
  type ReviewField,
  type ReviewMode,
  reviewMode,
  type ReviewRules,
  type ReviewStatus,
  shown,
  type StoryBefore,
  storyName,
  type StoryProblem,
  type StoryReview,
  type StoryRule,
  UNTOUCHED,
} from "./story-review.ts";

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

/** What an iteration did to the stories. */
export interface StoryFindings {
  /** Against the rules; it is undone. */
  readonly problems: readonly StoryProblem[];
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
  return { problems: problems.slice(0, PROBLEMS_KEPT), own: now };
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
  return { problems: [{ story: null, field: "userStories", rule: "schema", sentence }], own };
}
