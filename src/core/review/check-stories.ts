import type { Task } from "../plan.ts";
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
  return stories.flatMap(({ id, passes, reviewStatus, reviewFeedback, reviewCount, notes }) => {
    const isApproved = reviewStatus === "approved";
    return problemsOf(id, [
      [
        passes && !isApproved,
        "passes",
        "passes-means-approved",
        `passes is true, but reviewStatus is ${shown(reviewStatus)}, not "approved"`,
      ],
      [
        !passes && isApproved,
        "passes",
        "passes-means-approved",
        'passes is false, but reviewStatus is "approved"; an approved story passes',
      ],
      [
        reviewStatus === "changes_requested" && reviewFeedback.trim() === "",
        "reviewFeedback",
        "feedback-needed",
        'reviewFeedback is empty, but reviewStatus is "changes_requested"; say what has to change',
      ],
      [
        reviewCount < 0,
        "reviewCount",
        "count-range",
        `reviewCount is ${reviewCount}; it must be non-negative`,
      ],
      [
        reviewCount > cap + 1,
        "reviewCount",
        "count-range",
        `reviewCount is ${reviewCount}; it can be at most ${cap + 1}`,
      ],
      [
        passes && notes.trim() === "",
        "notes",
        "notes-needed",
        "notes are empty, but passes is true; say what was done",
      ],
    ]);
  });
}

type Check = readonly [isWrong: boolean, field: ReviewField | "id", rule: StoryRule, what: string];

function problemsOf(story: string, checks: readonly Check[]): readonly StoryProblem[] {
  return checks.flatMap(([isWrong, field, rule, what]) =>
    isWrong ? [{ story, field, rule, sentence: `${storyName(story)}: ${what}` }] : [],
  );
}

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
  const steps = after.flatMap((now): readonly Step[] => {
    const was = earlier.get(now.id);
    return was !== undefined && changedFields(was, now).length > 0 ? [{ was, now }] : [];
  });
  const illegal = steps.map((step) => illegalIn(mode, step, rules));
  const legal = steps.filter((_step, index) => illegal[index]?.length === 0);
  const still = before.filter(({ id }) => left.has(id) && id === (rules.story ?? id));
  return [
    ...after.filter(({ id }) => !earlier.has(id)).flatMap(bornTouched),
    ...illegal.flat(),
    ...tooMany(mode, legal),
    ...before.filter(({ id }) => !left.has(id)).flatMap(deleted),
    ...(mode === "review" && steps.length === 0 ? nothingReviewed(still) : []),
  ];
}

interface Step {
  readonly was: StoryBefore;
  readonly now: StoryReview;
}

function illegalIn(mode: ReviewMode, step: Step, rules: ReviewRules): readonly StoryProblem[] {
  const { was, now } = step;
  const all = (rule: StoryRule, whatOf: (field: ReviewField) => string): readonly StoryProblem[] =>
    problemsOf(
      now.id,
      changedFields(was, now).map((field) => [true, field, rule, whatOf(field)]),
    );
  if (rules.story !== null && rules.story !== now.id) {
    const what = `this iteration is for ${storyName(rules.story)} alone; no other story's review may change`;
    return all("own-story", () => what);
  }
  const transition = TRANSITIONS[mode].find(
    ({ from, to }) => from === was.reviewStatus && to === now.reviewStatus,
  );
  if (transition === undefined)
    return all("transition", (field) => `${changeOf(field, was, now)}; ${MAY[mode]}`);
  return wrongIn(transition, step, rules.cap);
}

function wrongIn(
  { to, passes, countGrowsBy, feedback }: Transition,
  { was, now }: Step,
  cap: number,
): readonly StoryProblem[] {
  const isSaid = now.reviewFeedback.trim() !== "";
  const isLast = was.reviewStatus === "needs_review" && isAtCap(was, cap);
  const wantedCount = countGrowsBy === 0 ? "only a review changes it" : "a review adds exactly 1";
  const demand = `after ${was.reviewCount} reviews (the cap is ${cap}) it is approved with ${AUTO_APPROVED} in its notes`;
  return problemsOf(now.id, [
    [
      now.passes !== passes,
      "passes",
      "transition",
      `passes is ${now.passes}; with reviewStatus ${shown(to)} it must be ${passes}`,
    ],
    [
      now.reviewCount !== was.reviewCount + countGrowsBy,
      "reviewCount",
      "count-step",
      `${changeOf("reviewCount", was, now)}; ${wantedCount}`,
    ],
    [
      feedback === "needed" && !isSaid,
      "reviewFeedback",
      "feedback-needed",
      "reviewFeedback is empty; a review that requests changes says which",
    ],
    [
      feedback === "cleared" && isSaid,
      "reviewFeedback",
      "feedback-cleared",
      "reviewFeedback is still there; clear it when you hand the story back to review",
    ],
    [isLast && to === "changes_requested", "reviewStatus", "cap", `reviewStatus is ${shown(to)}; ${demand}`],
    [
      isLast && to !== "changes_requested" && !now.notes.includes(AUTO_APPROVED),
      "notes",
      "cap",
      `notes lack ${AUTO_APPROVED}; ${demand}`,
    ],
  ]);
}

const BORN = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;

function bornTouched(now: StoryReview): readonly StoryProblem[] {
  const started = (field: (typeof BORN)[number]): Check => [
    now[field] !== UNTOUCHED[field],
    field,
    "new-story",
    `${field} is ${shown(now[field])}; a new story starts with ${shown(UNTOUCHED[field])}`,
  ];
  return problemsOf(now.id, BORN.map(started));
}

/** Each is legal alone, so nobody can say which was meant. */
function tooMany(mode: ReviewMode, steps: readonly Step[]): readonly StoryProblem[] {
  return steps.flatMap(({ was, now }) => {
    const what = `${changeOf("reviewStatus", was, now)}, one of multiple stories; ${MAY[mode]}`;
    return problemsOf(now.id, [[steps.length > 1, "reviewStatus", "one-story", what]]);
  });
}

function deleted({ id }: StoryBefore): readonly StoryProblem[] {
  const what = "the story with this id is gone; no iteration may remove a story";
  return problemsOf(id, [[true, "id", "deleted", what]]);
}

function nothingReviewed(stories: readonly StoryBefore[]): readonly StoryProblem[] {
  const story = stories.find(({ reviewStatus }) => reviewStatus === "needs_review");
  if (story === undefined) return [];
  const what = 'reviewStatus is still "needs_review"; a review ends with "approved" or "changes_requested"';
  return problemsOf(story.id, [[true, "reviewStatus", "nothing-reviewed", what]]);
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
