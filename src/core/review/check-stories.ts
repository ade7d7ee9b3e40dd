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
  const wasReviewed = (before ?? []).some(
    (story) => story.hasReviewFields === true || story.reviewStatus !== null || story.reviewCount !== 0,
  );
  if (rules.skipReview || (!wasReviewed && !hasReviewFields(stories))) return problems;
  const illegal = mode === null || before === null ? [] : illegalEdits(mode, before, stories, rules);
  const unreadable = new Set(problems.map(({ story }) => story));
  const others = [...illegal, ...stories.flatMap((story) => [...brokenInvariants(story, rules.cap)])];
  const told = new Set<string>();
  return [...problems, ...others.filter(({ story }) => !unreadable.has(story))].filter(({ story, field }) => {
    const key = JSON.stringify([story, field]);
    return !told.has(key) && told.add(key);
  });
}

/** What does not hold for a story in the review cycle, however it came about. */
function* brokenInvariants(story: StoryReview, cap: number): Generator<StoryProblem> {
  const { passes, reviewStatus, reviewFeedback, reviewCount, notes } = story;
  const say = sayOf(story);
  const isApproved = reviewStatus === "approved";
  const status = shown(reviewStatus);
  if (passes && !isApproved)
    yield say("passes", "passes-means-approved", `is true, but reviewStatus is ${status}, not "approved"`);
  if (!passes && isApproved)
    yield say("passes", "passes-means-approved", `is false, but reviewStatus is ${status}`);
  if (reviewStatus === "changes_requested" && reviewFeedback.trim() === "")
    yield say(
      "reviewFeedback",
      "feedback-needed",
      `is empty, but reviewStatus is ${status}; say what to change`,
    );
  if (reviewCount < 0 || reviewCount > cap + 1)
    yield say("reviewCount", "count-range", `is ${reviewCount}; it must be from 0 to ${cap + 1}`);
  if (passes && notes.trim() === "")
    yield say("notes", "notes-needed", "are empty, but passes is true; say what was done");
}

/** `what` follows the name of the field. */
type Say = (field: ReviewField | "id", rule: StoryRule, what: string) => StoryProblem;

function sayOf({ id }: Pick<StoryBefore, "id">): Say {
  return (field, rule, what) => ({ story: id, field, rule, sentence: `${storyName(id)}: ${field} ${what}` });
}

interface Step {
  readonly was: StoryBefore;
  readonly now: StoryReview;
}

/** All that an iteration may do to stories that were there before: it takes one of them one step. */
const LEGAL: Readonly<
  Record<ReviewMode, { readonly from: ReviewStatus; readonly to: readonly ReviewStatus[] }>
> = {
  implement: { from: null, to: ["needs_review"] },
  review: { from: "needs_review", to: ["approved", "changes_requested"] },
  "review-fix": { from: "changes_requested", to: ["needs_review"] },
};

function legalInWords(mode: ReviewMode): string {
  const { from, to } = LEGAL[mode];
  return `in mode "${mode}" only one story may go from ${shown(from)} to ${to.map(shown).join(" or ")}`;
}

/** What an iteration did to the stories and was not allowed to. What a snapshot does not keep is not compared. */
function illegalEdits(
  mode: ReviewMode,
  before: readonly StoryBefore[],
  after: readonly StoryReview[],
  rules: ReviewRules,
): readonly StoryProblem[] {
  const earlier = new Map(before.map((story) => [story.id, story]));
  const left = new Set(after.map(({ id }) => id));
  const steps = after.flatMap((now): readonly Step[] => {
    const was = earlier.get(now.id);
    return was !== undefined && changedFields(was, now).length > 0 ? [{ was, now }] : [];
  });
  const judged = steps.map((step) => ({ step, problems: [...illegalIn(mode, step, rules)] }));
  const legal = judged.filter(({ problems }) => problems.length === 0);
  // Each is legal alone, so nobody can say which was meant.
  const tooMany = (legal.length > 1 ? legal : []).map(({ step: { was, now } }) => {
    const what = `${changeOf("reviewStatus", was, now)}, one of multiple stories; ${legalInWords(mode)}`;
    return sayOf(now)("reviewStatus", "one-story", what);
  });
  const deleted = before
    .filter(({ id }) => !left.has(id))
    .map(({ id }): StoryProblem => {
      const sentence = `${storyName(id)}: the story with this id is gone; no iteration may remove a story`;
      return { story: id, field: "id", rule: "deleted", sentence };
    });
  const unreviewed = before.find(
    ({ id, reviewStatus }) =>
      left.has(id) && id === (rules.story ?? id) && reviewStatus === LEGAL.review.from,
  );
  const isUndecided = mode === "review" && steps.length === 0 && unreviewed !== undefined;
  const decide = `is still "needs_review"; a review ends with "approved" or "changes_requested"`;
  return [
    ...after.filter(({ id }) => !earlier.has(id)).flatMap(bornTouched),
    ...judged.flatMap(({ problems }) => problems),
    ...tooMany,
    ...deleted,
    ...(isUndecided ? [sayOf(unreviewed)("reviewStatus", "nothing-reviewed", decide)] : []),
  ];
}

function* illegalIn(
  mode: ReviewMode,
  { was, now }: Step,
  { story, cap }: ReviewRules,
): Generator<StoryProblem> {
  const say = sayOf(now);
  const { passes, reviewStatus, reviewCount, reviewFeedback, notes } = now;
  const isOthers = story !== null && story !== now.id;
  const { from, to } = LEGAL[mode];
  if (isOthers || was.reviewStatus !== from || !to.includes(reviewStatus)) {
    const rule = isOthers ? "own-story" : "transition";
    const why = isOthers ? `this iteration is for ${storyName(story)} alone` : legalInWords(mode);
    for (const field of changedFields(was, now))
      yield say(field, rule, `${changeOf(field, was, now)}; ${why}`);
    return;
  }
  const isApproved = reviewStatus === "approved";
  const isObjection = reviewStatus === "changes_requested";
  const isSaid = reviewFeedback.trim() !== "";
  if (passes !== isApproved)
    yield say(
      "passes",
      "transition",
      `is ${passes}, which does not go with reviewStatus ${shown(reviewStatus)}`,
    );
  if (reviewCount !== was.reviewCount + (mode === "review" ? 1 : 0))
    yield say(
      "reviewCount",
      "count-step",
      `${changeOf("reviewCount", was, now)}; only a review adds to it, exactly 1`,
    );
  if (isObjection && !isSaid)
    yield say("reviewFeedback", "feedback-needed", "is empty; a review that requests changes says which");
  if (mode === "review-fix" && isSaid)
    yield say("reviewFeedback", "feedback-cleared", "is still there; clear it when you hand the story back");
  if (mode !== "review" || !isAtCap(was, cap)) return;
  const demand = `after ${was.reviewCount} reviews (the cap is ${cap}) it is approved with ${AUTO_APPROVED} in its notes`;
  if (isObjection) yield say("reviewStatus", "cap", `is ${shown(reviewStatus)}; ${demand}`);
  else if (!notes.includes(AUTO_APPROVED)) yield say("notes", "cap", `lack ${AUTO_APPROVED}; ${demand}`);
}

function bornTouched(now: StoryReview): readonly StoryProblem[] {
  const say = sayOf(now);
  return BORN.filter((field) => now[field] !== UNTOUCHED[field]).map((field) =>
    say(field, "new-story", `is ${shown(now[field])}; a new story starts with ${shown(UNTOUCHED[field])}`),
  );
}

const BORN = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"] as const;
const COMPARED = ["reviewStatus", "passes", "reviewCount"] as const;

function changedFields(was: StoryBefore, now: StoryReview): readonly ReviewField[] {
  const changed: ReviewField[] = COMPARED.filter((field) => was[field] !== now[field]);
  const { reviewFeedback } = was;
  if (reviewFeedback !== undefined && reviewFeedback !== now.reviewFeedback) changed.push("reviewFeedback");
  return changed;
}

function changeOf(field: ReviewField, was: StoryBefore, now: StoryReview): string {
  if (field === "reviewFeedback" || field === "notes") return "changed";
  return was[field] === now[field]
    ? `stays ${shown(now[field])}`
    : `went from ${shown(was[field])} to ${shown(now[field])}`;
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
