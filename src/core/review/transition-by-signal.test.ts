import { describe, expect, test } from "vitest";
import { story, type RawStory } from "../../../test/fixtures/story-transitions.ts";
import {
  hasReviewFields,
  readReviewSignal,
  readStories,
  reviewMode,
  type ReviewMode,
  type StoryReview,
  transitionBySignal,
} from "./story-review.ts";

function one(fields: RawStory): StoryReview {
  const [read] = readStories({ userStories: [story(1, fields)] }).stories;
  if (read === undefined) throw new Error("no story");
  return read;
}

function written(mode: ReviewMode, fields: RawStory, promise: string, words = "all good"): RawStory {
  const signal = readReviewSignal(promise, "COMPLETE");
  const edits = signal === null ? [] : transitionBySignal(mode, one(fields), signal, { cap: 2, words });
  return Object.fromEntries(edits.map(({ field, value }) => [field, value]));
}

const waiting = { reviewStatus: "needs_review", reviewCount: 1 };
const objectedTo = { reviewStatus: "changes_requested", reviewCount: 1, reviewFeedback: "nulls" };

describe("an agent that only gives its signal", () => {
  test.each<[ReviewMode, RawStory, string, RawStory]>([
    ["implement", {}, "COMPLETE", { reviewStatus: "needs_review" }],
    ["implement", {}, "APPROVED", {}],
    ["implement", waiting, "COMPLETE", {}],
    ["review-fix", objectedTo, "COMPLETE", { reviewStatus: "needs_review", reviewFeedback: "" }],
    ["review-fix", objectedTo, "APPROVED", {}],
    ["review-fix", {}, "COMPLETE", {}],
    [
      "review",
      waiting,
      "APPROVED",
      { reviewStatus: "approved", passes: true, reviewCount: 2, notes: "all good" },
    ],
    [
      "review",
      { ...waiting, notes: "mine" },
      "APPROVED",
      { reviewStatus: "approved", passes: true, reviewCount: 2 },
    ],
    [
      "review",
      waiting,
      "CHANGES_REQUESTED: handle nulls ",
      { reviewStatus: "changes_requested", reviewCount: 2, reviewFeedback: "handle nulls" },
    ],
    ["review", waiting, "CHANGES_REQUESTED:", {}],
    ["review", waiting, "COMPLETE", {}],
    ["review", {}, "APPROVED", {}],
    ["review", waiting, "approved", {}],
  ])("in %s with %o and %s gets %o", (mode, fields, promise, expected) => {
    expect(written(mode, fields, promise)).toEqual(expected);
  });

  test("at the cap approves, whatever it says, and the notes say why", () => {
    const atCap = { ...waiting, reviewCount: 2 };
    expect(written("review", atCap, "APPROVED")).toEqual({
      reviewStatus: "approved",
      passes: true,
      reviewCount: 3,
      notes: "all good [AUTO-APPROVED AT CAP]",
    });
    expect(written("review", { ...atCap, notes: "mine" }, "CHANGES_REQUESTED:nulls")).toEqual({
      reviewStatus: "approved",
      passes: true,
      reviewCount: 3,
      reviewFeedback: "nulls",
      notes: "mine [AUTO-APPROVED AT CAP]",
    });
  });

  test("and says nothing else still leaves notes", () => {
    expect(written("review", waiting, "APPROVED", " ")["notes"]).toBe("Approved in review.");
  });
});

describe("the mode of the next iteration", () => {
  test("is the first that any story asks for", () => {
    expect(reviewMode([one({})])).toBe("implement");
    expect(reviewMode([])).toBe("implement");
    expect(reviewMode([one({}), one(waiting)])).toBe("review");
    expect(reviewMode([one(waiting), one(objectedTo)])).toBe("review-fix");
  });
});

test("a file has review fields as soon as one story has one", () => {
  const read = (raw: RawStory): readonly StoryReview[] => readStories({ userStories: [raw] }).stories;
  expect(hasReviewFields(read({ id: "a", title: "A", passes: true, notes: "x" }))).toBe(false);
  expect(hasReviewFields(read({ id: "a", title: "A", reviewStatus: null }))).toBe(true);
  expect(hasReviewFields(read({ id: "a", title: "A", reviewCount: 0 }))).toBe(true);
});
