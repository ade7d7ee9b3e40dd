import { describe, expect, test } from "vitest";
import { story, STORY_TRANSITIONS, type RawStory } from "../../../test/fixtures/story-transitions.ts";
import { checkStories, type StoryCheck } from "./check-stories.ts";
import {
  readSnapshot,
  readStories,
  type ReviewRules,
  snapshotOf,
  type StoryProblem,
  type StoryReview,
} from "./story-review.ts";

const RULES: ReviewRules = { cap: 5, skipReview: false, story: null };

function stories(raw: readonly RawStory[]): readonly StoryReview[] {
  return readStories({ userStories: raw }).stories;
}

function labels(problems: readonly StoryProblem[]): readonly string[] {
  return problems.map(({ story: id, field, rule }) => `${id} ${field} ${rule}`).toSorted();
}

function check(
  after: readonly RawStory[],
  { rules = RULES, ...known }: Partial<StoryCheck> = {},
): readonly StoryProblem[] {
  return checkStories({ userStories: after }, { mode: null, before: null, rules, ...known });
}

describe.each(STORY_TRANSITIONS)("an iteration of $mode that $does", (row) => {
  const rules = { cap: row.cap ?? 5, skipReview: row.skipReview ?? false, story: null };
  const before = stories(row.before);

  test("is told what is wrong with it, and nothing else", () => {
    const problems = check(row.after, { mode: row.mode, before: readSnapshot(snapshotOf(before)), rules });
    expect(labels(problems)).toEqual(row.wrong.toSorted());
    for (const { story: id, field, sentence } of problems) {
      expect(sentence).toContain(id);
      expect(sentence).toContain(field);
    }
  });
});

describe("the form of the file", () => {
  const wrong = (file: unknown): readonly string[] =>
    checkStories(file, { mode: null, before: null, rules: RULES }).map(({ sentence }) => sentence);

  test("must be an object with a list of stories", () => {
    expect(wrong(null)).toEqual(['expected an object with "userStories"']);
    expect(wrong([])).toEqual(['expected an object with "userStories"']);
    expect(wrong({})).toEqual(["userStories must be a list of stories"]);
    expect(wrong({ userStories: { a: 1 } })).toEqual(["userStories must be a list of stories"]);
  });

  test("names the place of a story that has no id", () => {
    expect(wrong({ userStories: [7, { title: "x" }, { id: " ", title: "x" }] })).toEqual([
      "userStories[0]: must be an object",
      'userStories[1]: "id" must be a text that is not empty',
      'userStories[2]: "id" must be a text that is not empty',
    ]);
  });

  test("names story and field otherwise", () => {
    const bad = { id: 3, acceptanceCriteria: "works", priority: "high", dependsOn: [1] };
    expect(wrong({ project: 1, verifyCommands: "npm test", userStories: [bad] })).toEqual([
      "project must be a text, not 1",
      'verifyCommands must be a list of texts, not "npm test"',
      "3: title is missing",
      '3: acceptanceCriteria must be a list of texts, not "works"',
      "3: dependsOn must be a list of texts, not [1]",
      '3: priority must be a number, not "high"',
    ]);
  });

  test("may lack what has a meaning when it is missing", () => {
    expect(wrong({ userStories: [{ id: "a", title: "A", passes: null, notes: null }] })).toEqual([]);
  });
});

describe("what must hold at any time", () => {
  test("does not need a snapshot", () => {
    const passing = story(1, { passes: true, notes: "done" });
    expect(labels(check([passing]))).toEqual(["US-001 passes passes-means-approved"]);
    expect(labels(check([story(1, { reviewStatus: "approved" })]))).toEqual([
      "US-001 passes passes-means-approved",
    ]);
    expect(labels(check([story(1, { reviewStatus: "changes_requested" })]))).toEqual([
      "US-001 reviewFeedback feedback-needed",
    ]);
    expect(labels(check([story(1, { reviewCount: -1 })]))).toEqual(["US-001 reviewCount count-range"]);
    expect(labels(check([story(1, { reviewCount: 7 })]))).toEqual(["US-001 reviewCount count-range"]);
    expect(check([story(1, { reviewCount: 6 })])).toEqual([]);
  });

  test("is asked only of files with the review cycle", () => {
    expect(check([{ id: "a", title: "A", passes: true }])).toEqual([]);
    expect(labels(check([{ id: "a", title: "A", passes: true }, story(1)]))).toEqual([
      "a notes notes-needed",
      "a passes passes-means-approved",
    ]);
  });

  test("is asked of files from which the review fields were removed, too", () => {
    const before = stories([story(1)]);
    const after = [{ id: "US-001", title: "Story 1", passes: true, notes: "done" }];
    expect(labels(check(after, { mode: "implement", before }))).toEqual(["US-001 passes transition"]);
  });
});

describe("an iteration for one story", () => {
  const rules = { ...RULES, story: "US-001" };
  const before = stories([story(1), story(2)]);

  test("may take that one further", () => {
    const after = [story(1, { reviewStatus: "needs_review" }), story(2)];
    expect(check(after, { mode: "implement", before, rules })).toEqual([]);
  });

  test("may not take another further instead", () => {
    const after = [story(1), story(2, { reviewStatus: "needs_review" })];
    expect(labels(check(after, { mode: "implement", before, rules }))).toEqual([
      "US-002 reviewStatus own-story",
    ]);
  });
});

test("who knows the feedback as it was sees that somebody else rewrote it", () => {
  const objected = { reviewStatus: "changes_requested", reviewCount: 1 };
  const before = stories([story(1, { ...objected, reviewFeedback: "handle nulls" })]);
  const after = [story(1, { ...objected, reviewFeedback: "nothing much" })];
  expect(labels(check(after, { mode: "review-fix", before }))).toEqual(["US-001 reviewFeedback transition"]);
});
