import { describe, expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  iterationEnded,
  settings,
  signals,
  task,
  TESTS_GATE,
} from "../../../test/spec/given.ts";
import type { EventOf } from "../events.ts";
import { UNTOUCHED } from "../review/story-review.ts";
import type { Task } from "../plan.ts";
import type { Claim, Signals } from "../streams/agent-report.ts";
import type { CheckedGate } from "./checked-gate.ts";
import type { Evidence } from "./evidence.ts";
import type { Settings } from "../settings.ts";
import { sentBack, type SentBack } from "../loop/stages.ts";
import { findAll, GUARDS, type CaseContext, type Finding } from "./facts.ts";

interface Example {
  readonly stage?: string;
  readonly sentBack?: SentBack;
  readonly words?: string;
  readonly sentence: string;
  readonly files?: readonly string[];
  readonly evidence?: Partial<Evidence>;
  readonly signals?: Partial<Signals>;
  readonly settings?: Partial<Settings>;
  readonly task?: Partial<Task>;
  readonly claim?: Claim["is"];
  readonly gates?: readonly Partial<CheckedGate>[];
}

const agentCommits = { git: { commit: "agent", hooks: false } } as const;

const RED = { name: "tests", status: "failed", exitCode: 1, durationMs: 1, failures: [] } as const;
const IDLE = { files: [], evidence: { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } } } as const;
const SENT_BACK = sentBack("reviewer", 2, "the token never expires");
const UNTOUCHED_STORY = { ...UNTOUCHED, id: "login", hasReviewFields: true };
const WAITING_STORY = { ...UNTOUCHED_STORY, reviewStatus: "needs_review" } as const;

/** What each guard must object to, and what it must let pass. */
const EXAMPLES: Readonly<Record<string, { objects: readonly Example[]; passes: readonly Example[] }>> = {
  "no-changes": {
    objects: [
      { sentence: "nothing changed since the task began", files: [] },
      {
        sentence: "nothing changed and the gates were green before",
        files: [],
        settings: { gates: [TESTS_GATE] },
        gates: [{ status: "passed" }],
      },
      { sentence: "only an empty commit was made", files: [], evidence: { headAfter: "h1" } },
    ],
    passes: [
      { sentence: "a file changed" },
      {
        sentence: "the work was done in an earlier iteration",
        files: [],
        evidence: { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } },
      },
      { sentence: "nothing changed and nothing was claimed", files: [], claim: "none" },
      { sentence: "nothing changed and the agent says it is unfinished", files: [], claim: "unfinished" },
      { sentence: "the task needs no change of files", files: [], task: { changes: "none" } },
      { sentence: "the agent says that it was already done", files: [], claim: "already-done" },
      {
        sentence: "a required gate that was red before is green now",
        files: [],
        settings: { gates: [TESTS_GATE] },
        gates: [{ status: "passed", baseline: RED }],
      },
    ],
  },
  findings: {
    objects: [
      {
        sentence: "nothing changed since the review asked for it",
        stage: "review-fix",
        task: { review: { ...UNTOUCHED_STORY, reviewStatus: "changes_requested", reviewFeedback: "a" } },
        ...IDLE,
      },
      { sentence: "nothing changed since the reviewer sent it back", sentBack: SENT_BACK, ...IDLE },
      {
        sentence: "nothing changed, and one of two findings is answered",
        sentBack: { ...SENT_BACK, findings: ["a", "b"] },
        signals: { answers: [{ about: "finding", number: 2, text: "it is right" }] },
        ...IDLE,
      },
    ],
    passes: [
      { sentence: "a file changed", sentBack: SENT_BACK },
      { sentence: "a file changed before", sentBack: { ...SENT_BACK, hasChanged: true }, ...IDLE },
      {
        sentence: "each finding is answered",
        sentBack: { ...SENT_BACK, findings: ["a", "b"], answers: [{ number: 1, text: "no" }] },
        signals: { answers: [{ about: "finding", number: 2, text: "it is right" }] },
        ...IDLE,
      },
      { sentence: "nothing was sent back", ...IDLE },
    ],
  },
  "off-branch": {
    objects: [{ sentence: "the work is on another branch", evidence: { strayedTo: "feature" } }],
    passes: [{ sentence: "the work is on the branch" }],
  },
  "dirty-tree": {
    objects: [
      {
        sentence: "the agent has to commit and did not",
        settings: agentCommits,
        evidence: { uncommitted: [{ path: "a.ts", look: "" }] },
      },
    ],
    passes: [
      { sentence: "the agent committed everything", settings: agentCommits },
      { sentence: "ralph commits the rest", evidence: { uncommitted: [{ path: ".env", look: "" }] } },
    ],
  },
  "uncommitted-work": {
    objects: [
      { sentence: "all of it stayed uncommitted", evidence: { uncommitted: [{ path: "a.ts", look: "" }] } },
    ],
    passes: [
      {
        sentence: "a part of it is committed",
        files: ["a.ts", "b.ts"],
        evidence: { uncommitted: [{ path: "b.ts", look: "" }] },
      },
      {
        sentence: "the agent commits",
        settings: agentCommits,
        evidence: { uncommitted: [{ path: "a.ts", look: "" }] },
      },
      { sentence: "everything is committed" },
    ],
  },
  "protected-paths": {
    objects: [
      { sentence: "the configuration was edited", evidence: { putBack: [".ralph/ralph.toml"] } },
      {
        sentence: "a protected file was edited and nothing claimed",
        evidence: { putBack: ["migrations/1.sql"] },
        claim: "none",
      },
    ],
    passes: [
      { sentence: "nothing had to be put back" },
      { sentence: "a file was edited that a gate runs", files: ["main.py"] },
    ],
  },
  "hidden-changes": {
    objects: [
      { sentence: "an index flag hid a change", evidence: { hidden: ["index flag of a.ts"] } },
      { sentence: "… without a claim", evidence: { hidden: ["info/exclude"] }, claim: "none" },
    ],
    passes: [{ sentence: "nothing was hidden" }],
  },
  approval: {
    objects: [
      { sentence: "a reviewer who does not say that it approves", stage: "reviewer", words: "I read it." },
      { sentence: "… or says that it does not", stage: "reviewer", words: "This is not approved." },
      { sentence: "… or that it cannot", stage: "reviewer", words: "I cannot approve this." },
      { sentence: "… or not yet", stage: "reviewer", words: "Needs work before it can be approved." },
      { sentence: "… or that nothing is", stage: "reviewer", words: "Nothing here is approved" },
      { sentence: "… or only asks", stage: "reviewer", words: "approved? no" },
    ],
    passes: [
      { sentence: "it says so", stage: "reviewer", words: "REVIEW PASSED: it does what it says." },
      { sentence: "in other words", stage: "reviewer", words: "Approved, the tests cover it." },
      { sentence: "having found nothing", stage: "reviewer", words: "No issues found, approved." },
      { sentence: "… in one breath", stage: "reviewer", words: "I found no bugs and it is approved." },
      { sentence: "others need not", stage: "coder", words: "I wrote it." },
    ],
  },
  "passing-tests": {
    objects: [
      {
        sentence: "a tester whose test gate did not run",
        stage: "tester",
        settings: { gates: [{ ...TESTS_GATE, name: "unit tests" }] },
      },
      { sentence: "a tester who says nothing of tests, without a gate", stage: "tester", words: "I looked." },
    ],
    passes: [
      {
        sentence: "the test gate passed",
        stage: "tester",
        settings: { gates: [TESTS_GATE] },
        gates: [{ status: "passed" }],
      },
      { sentence: "its words say it, without a gate", stage: "tester", words: "All tests pass now." },
      { sentence: "others need not", stage: "coder" },
    ],
  },
  "story-review": {
    objects: [
      {
        sentence: "a story was changed against the rules",
        stage: "implement",
        task: { review: UNTOUCHED_STORY },
        evidence: {
          stories: {
            own: UNTOUCHED_STORY,
            problems: [{ story: "b", field: "passes", rule: "own-story", sentence: "b: not yours" }],
          },
        },
      },
      {
        sentence: "a review comes to no decision",
        claim: "none",
        stage: "review",
        task: { review: WAITING_STORY },
        evidence: { stories: { own: WAITING_STORY, problems: [] } },
      },
    ],
    passes: [
      { sentence: "the source has no review cycle" },
      {
        sentence: "a review approves",
        stage: "review",
        task: { review: WAITING_STORY },
        evidence: { stories: { own: WAITING_STORY, problems: [] } },
      },
      {
        sentence: "a review cannot go on",
        claim: "blocked",
        stage: "review",
        task: { review: WAITING_STORY },
        evidence: { stories: { own: WAITING_STORY, problems: [] } },
      },
      {
        sentence: "an implementer is not done yet",
        claim: "none",
        stage: "implement",
        task: { review: UNTOUCHED_STORY },
        evidence: { stories: { own: UNTOUCHED_STORY, problems: [] } },
      },
    ],
  },
};

describe("guards", () => {
  test("each has examples of what it objects to and of what it lets pass", () => {
    expect(Object.keys(EXAMPLES).toSorted()).toEqual(GUARDS.map(({ name }) => name).toSorted());
  });

  describe.each(GUARDS.map(({ name }) => name))("%s", (name) => {
    test.each(EXAMPLES[name]?.objects ?? [])("objects when $sentence", (example) => {
      expect(found(name, example)).toBeDefined();
    });

    test.each(EXAMPLES[name]?.passes ?? [])("lets pass when $sentence", (example) => {
      expect(found(name, example)).toBeUndefined();
    });
  });
});

function found(name: string, example: Example): Finding | undefined {
  const context = contextOf(example);
  const claimed = context.report.claim.is === "complete" || context.task?.loops === false;
  return findAll(context, claimed).find(({ guard }) => guard === name);
}

function contextOf(example: Example): CaseContext {
  const of = task("login", example.task);
  const ended = iterationEnded(1, of, example.claim ?? "complete", {
    signals: signals(example.signals ?? {}),
    ...(example.words !== undefined && { finalText: example.words }),
  });
  const collected = evidence(1, of, example.files ?? ["a.ts"], example.evidence);
  const checked = example.gates && gatesChecked(1, of, ...example.gates);
  return {
    hasWorkedBefore: false,
    task: of,
    stage: example.stage ?? "build",
    report: (ended as EventOf<"iteration.ended">).report,
    evidence: (collected as EventOf<"evidence.collected">).evidence,
    settings: settings(example.settings),
    leftBefore: [],
    baseline: null,
    gates: checked === undefined ? null : (checked as EventOf<"gates.checked">).gates,
    oldChecks: null,
    reading: null,
    challenged: [],
    sentBack: example.sentBack ?? null,
    isAgreed: false,
    iteration: 1,
  };
}
