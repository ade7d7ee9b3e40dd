import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Evidence } from "../../src/core/verdict/evidence.ts";
import type {
  FieldEdit,
  ReviewField,
  StoryReview,
  StoryProblem,
} from "../../src/core/review/story-review.ts";
import type { Settings } from "../../src/core/settings.ts";
import { BUILD } from "../../src/core/loop/stages.ts";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

function story(id: string, review: Partial<StoryReview> = {}) {
  return task(id, { review: reviewOf(id, review), done: review.passes ?? false });
}

function reviewOf(id: string, more: Partial<StoryReview> = {}): StoryReview {
  return {
    id,
    passes: false,
    reviewStatus: null,
    reviewCount: 0,
    reviewFeedback: "",
    notes: "",
    hasReviewFields: true,
    ...more,
  };
}

const login = story("login");
const waiting = story("login", { reviewStatus: "needs_review", reviewCount: 1 });
const returned = story("login", {
  reviewStatus: "changes_requested",
  reviewCount: 1,
  reviewFeedback: "the token never expires",
});

const start = (of = login, more: Partial<Settings> = {}): readonly Event[] => [
  runStarted({ reviewCap: 3, ...more }),
  tasksObserved(of, story("logout")),
];

interface Said {
  readonly promise?: string;
  readonly claim?: "complete" | "none";
  readonly words?: string;
  readonly files?: readonly string[];
  /** What the agent made of its own story. */
  readonly own?: Partial<StoryReview>;
  readonly problems?: readonly StoryProblem[];
  readonly evidence?: Partial<Evidence>;
}

/** An iteration up to the moment before its verdict. */
function worked(stage: string, of: typeof login, said: Said): readonly Event[] {
  const { promise = null, claim = "none", words = "", files = [], own = {}, problems = [] } = said;
  const stories = { problems, own: { ...(of.review as StoryReview), ...own } };
  return [
    iterationStarted(1, of, { stage }),
    iterationEnded(1, of, claim, { promise, finalText: words }),
    evidence(1, of, files, {
      changedSinceTaskBegan: { files: 1, paths: ["login.ts"] },
      stories,
      ...said.evidence,
    }),
  ];
}

const done: Said = { promise: "COMPLETE", claim: "complete", files: ["login.ts"] };
const approves: Said = { promise: "APPROVED", claim: "complete", words: "Reads well." };
const objects: Said = { promise: "CHANGES_REQUESTED:the token never expires" };

function edits(values: Readonly<Partial<Record<ReviewField, FieldEdit["value"]>>>): readonly FieldEdit[] {
  return Object.entries(values).map(([field, value]) => ({
    story: "login",
    field: field as ReviewField,
    value,
  }));
}

describe("the mode of the next iteration", () => {
  test("is implement for a story that nobody has begun", () => {
    const prompt = given(...start()).nextPrompt(login);
    expect(prompt).toContain("- **Stage**: implement");
    expect(prompt).toContain("<promise>COMPLETE</promise>");
  });

  test("is review for a story that waits for one", () => {
    const prompt = given(...start(waiting)).nextPrompt(waiting);
    expect(prompt).toContain("- **Stage**: review\n");
    expect(prompt).toContain("<promise>APPROVED</promise>");
    expect(prompt).toContain("<promise>CHANGES_REQUESTED:");
    expect(prompt).not.toContain("Required evidence");
  });

  test("is review-fix for a story that came back, and tells what the review asked for", () => {
    const prompt = given(...start(returned)).nextPrompt(returned);
    expect(prompt).toContain("- **Stage**: review-fix");
    expect(prompt).toContain("the token never expires");
  });

  test("demands approval at the cap", () => {
    const often = story("login", { reviewStatus: "needs_review", reviewCount: 3 });
    const prompt = given(...start(often)).nextPrompt(often);
    expect(prompt).toContain("[AUTO-APPROVED AT CAP]");
    expect(prompt).not.toContain("CHANGES_REQUESTED");
  });

  test("what came back goes first, then what waits for review, then by priority", () => {
    const fresh = task("fresh", { priority: 1, review: reviewOf("fresh") });
    const plan = tasksObserved(fresh, waiting, story("fix", { ...returned.review, id: "fix" }));
    given(runStarted(), plan).wants("iterate:fix");
    given(runStarted(), tasksObserved(fresh, waiting)).wants("iterate:login");
    given(runStarted({ skipReview: true }), plan).wants("iterate:fresh");
  });

  test("the reviewer of a pipeline reviews, its coder does the rest", () => {
    const stages = ["coder", "reviewer"].map((name) => ({ ...BUILD, name, agent: `${name}-agent` }));
    expect(given(...start(waiting, { stages })).nextAgent(waiting)).toBe("reviewer-agent");
    expect(given(...start(returned, { stages })).nextAgent(returned)).toBe("coder-agent");
  });
});

describe("implementing", () => {
  test("a claim that holds hands the story to review", () => {
    const handed = given(...start(), ...worked("implement", login, done)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      {
        type: "story.settled",
        from: null,
        to: "needs_review",
        edits: edits({ reviewStatus: "needs_review" }),
      },
    );
    const next = handed.andThen();
    next.wants("mark:login");
    expect(next.nextPrompt(login)).toContain("- **Stage**: review\n- **Ralph Iteration**: 1/");
  });

  test("its own edit of the file is a claim too", () => {
    given(
      ...start(),
      ...worked("implement", login, { files: ["login.ts"], own: { reviewStatus: "needs_review" } }),
    ).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "story.settled", to: "needs_review" },
    );
  });

  test("an edit whose claim does not hold is taken back", () => {
    const nothing = { changedSinceTaskBegan: { files: 0, paths: [] } };
    given(
      ...start(),
      ...worked("implement", login, { own: { reviewStatus: "needs_review" }, evidence: nothing }),
    ).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
      {
        type: "story.settled",
        from: null,
        to: null,
        edits: edits({ reviewStatus: null }),
      },
    );
  });

  test("what was done against the rules rejects the claim, and the next prompt says so", () => {
    const problem: StoryProblem = {
      story: "login",
      field: "passes",
      rule: "transition",
      sentence: "login: passes went from false to true",
    };
    const judged = given(...start(), ...worked("implement", login, { ...done, problems: [problem] })).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
    );
    const prompt = judged.andThen().nextPrompt(login);
    expect(prompt).toContain("login: passes went from false to true");
    expect(prompt).toContain("- **Stage**: implement");
  });
});

describe("reviewing", () => {
  test("approval completes the story, with the reviewer's words as notes", () => {
    const approved = given(...start(waiting), ...worked("review", waiting, approves)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
      {
        type: "story.settled",
        from: "needs_review",
        to: "approved",
        edits: edits({
          reviewStatus: "approved",
          passes: true,
          reviewCount: 2,
          notes: "Reads well.",
        }),
      },
    );
    approved.andThen().wants("mark:login");
  });

  test("changes that are requested send it back, and that is progress", () => {
    given(...start(waiting), ...worked("review", waiting, objects)).decides(
      { type: "verdict.reached", verdict: "continue", madeProgress: true },
      {
        type: "story.settled",
        to: "changes_requested",
        edits: edits({
          reviewStatus: "changes_requested",
          reviewCount: 2,
          reviewFeedback: "the token never expires",
        }),
      },
    );
  });

  test("by its own edit of the file as well", () => {
    const own = { reviewStatus: "approved", passes: true, reviewCount: 2, notes: "fine" } as const;
    given(...start(waiting), ...worked("review", waiting, { own })).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
      { type: "story.settled", to: "approved" },
    );
  });

  test("approval needs green gates", () => {
    const events = [...start(waiting, { gates: [TESTS_GATE] }), ...worked("review", waiting, approves)];
    given(...events).wants("gates:1");
    given(...events, gatesChecked(1, waiting, { name: "tests", status: "failed" })).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
    );
  });

  test("without a decision it is no progress, and is told so", () => {
    const judged = given(
      ...start(waiting),
      ...worked("review", waiting, { words: "Hm.", evidence: { headAfter: "h0" } }),
    ).decides(
      { type: "verdict.reached", verdict: "continue", madeProgress: false },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
    expect(judged.andThen().nextPrompt(waiting)).toContain("ended without a decision");
  });

  test("COMPLETE claims that every story is approved", () => {
    given(...start(waiting), ...worked("review", waiting, { promise: "COMPLETE" })).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
  });

  test("at the cap it is approved, whatever the review says", () => {
    const often = story("login", { reviewStatus: "needs_review", reviewCount: 3 });
    given(...start(often), ...worked("review", often, objects)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
      {
        type: "story.settled",
        to: "approved",
        edits: edits({
          reviewStatus: "approved",
          passes: true,
          reviewCount: 4,
          notes: "the token never expires [AUTO-APPROVED AT CAP]",
          reviewFeedback: "the token never expires",
        }),
      },
    );
  });

  test("that is blocked leaves the review state as it was", () => {
    const own = { reviewStatus: "approved", passes: true, reviewCount: 2 } as const;
    given(
      ...start(waiting),
      iterationStarted(1, waiting, { stage: "review" }),
      iterationEnded(1, waiting, "none", { claim: { is: "blocked", reason: "no access" } }),
      evidence(1, waiting, [], {
        stories: { problems: [], own: { ...waiting.review, ...own } as StoryReview },
      }),
    ).decides(
      { type: "verdict.reached", verdict: "blocked" },
      { type: "task.blocked" },
      {
        type: "story.settled",
        from: "needs_review",
        to: "needs_review",
        edits: edits({
          passes: false,
          reviewStatus: "needs_review",
          reviewCount: 1,
        }),
      },
    );
  });
});

describe("fixing what a review found", () => {
  test("hands the story back, its feedback cleared", () => {
    given(...start(returned), ...worked("review-fix", returned, done)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      {
        type: "story.settled",
        from: "changes_requested",
        to: "needs_review",
        edits: edits({ reviewStatus: "needs_review", reviewFeedback: "" }),
      },
    );
  });

  test("is not done by saying so", () => {
    given(...start(returned), ...worked("review-fix", returned, { ...done, files: [] })).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
  });
});

describe("without the review", () => {
  test("a claim that holds completes the story", () => {
    given(...start(login, { skipReview: true }), ...worked("build", login, done)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });

  test("the agent's own mark is a claim", () => {
    const marked: Said = { files: ["login.ts"], evidence: { marksTakenBack: ["login"] } };
    given(...start(login, { skipReview: true }), ...worked("build", login, marked)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });
});
