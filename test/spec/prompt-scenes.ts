import type { Event } from "../../src/core/events.ts";
import type { AgentReport, Claim, Failure } from "../../src/core/streams/agent-report.ts";
import type { Evidence } from "../../src/core/verdict/evidence.ts";
import type { CheckedGate } from "../../src/core/verdict/checked-gate.ts";
import type { StoryReview } from "../../src/core/review/story-review.ts";
import type { Settings } from "../../src/core/settings.ts";
import { BUILD } from "../../src/core/loop/stages.ts";
import { readerPrompt, type ShownWork } from "../../src/core/verdict/reader.ts";
import {
  evidence,
  gatesChecked,
  given,
  interventionChosen,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

/** A prompt of each kind that the loop writes, all about the same task, and how many tokens it may have. */
type Scene = readonly [atMost: number, prompt: () => string];

const BASE = "4f2d91c07be3a5d8c6e1f0b29a7d3c5e8f1a2b4c";
const FILES = ["src/session.ts", "test/session.test.ts"];
const DIFF = `--- a/src/session.ts
+++ b/src/session.ts
@@ -12,3 +12,4 @@ export function check(token: Token): boolean {
-  return token.isValid;
+  const age = Date.now() - token.issuedAt;
+  return token.isValid && age < 3_600_000;
 }
`;
const WORK: ShownWork = { diff: DIFF, isDiffCut: false, base: BASE, head: "9b1c" };
const OUTPUT = `> vitest run

 FAIL  test/session.test.ts > refuses a token of yesterday
AssertionError: expected 200 to be 401
 Tests  1 failed | 41 passed (42)`;
const LAST_WORDS = "Now the same check for the header.";
const UNFINISHED = `The check is in \`src/session.ts:14\` and works for cookies.

Left to do: the header \`Authorization\` takes another way through \`src/api.ts\`, and the test for it.`;

const auth = task("auth-002", {
  title: "Refuse expired tokens",
  description: "Tokens live for an hour. A request with an older one is answered with 401.",
  criteria: ["a token older than an hour is refused", "a test shows it"],
});

const USUAL: Partial<Settings> = {
  gates: [TESTS_GATE],
  protect: { paths: ["test/contract/**", "/.ralph/ralph.toml"], named: ["test/contract/**"] },
};

interface Iteration {
  readonly claim?: Claim["is"] | Claim;
  readonly files?: readonly string[];
  readonly report?: Partial<AgentReport>;
  readonly found?: Partial<Evidence>;
  readonly gate?: Partial<CheckedGate> | null;
  readonly stage?: string;
  readonly more?: readonly Event[];
}

/** One iteration, up to the moment before its verdict. */
function worked(
  number: number,
  { claim = "complete", files = FILES, report = {}, found = {}, gate = {}, stage, more = [] }: Iteration,
): readonly Event[] {
  const checked = gate === null ? [] : [gatesChecked(number, auth, gate)];
  return [
    iterationStarted(number, auth, { head: BASE, ...(stage !== undefined && { stage }) }),
    iterationEnded(number, auth, claim, { signals: signals({}), ...report }),
    evidence(number, auth, files, { headBefore: BASE, ...found }),
    ...checked,
    ...more,
  ];
}

const start = (more: Partial<Settings> = {}): readonly Event[] => [
  runStarted({ ...USUAL, ...more }),
  tasksObserved(auth),
];

/** The prompt that follows one iteration. */
function after(iteration: Iteration, more: Partial<Settings> = {}): string {
  return given(...start(more), ...worked(1, iteration))
    .andThen()
    .nextPrompt(auth);
}

const NOTHING: Partial<Evidence> = { changedSinceTaskBegan: { files: 0, paths: [] } };
const IDLE: Iteration = { files: [], found: NOTHING, gate: null };
const RED = {
  status: "failed",
  exitCode: 1,
  tail: OUTPUT,
  failures: ["refuses a token of yesterday"],
} as const;
const SILENCED: Partial<Evidence> = { suppressions: ["src/session.ts: // eslint-disable-line"] };
const PATIENT = { limits: { ...settings().limits, maxStuck: 0, maxAttempts: 0 } };

/** An iteration that failed by itself. */
function failed(kind: Failure["kind"], message: string, code = 1): string {
  const failure: Failure = { class: "agent", message, ...(kind !== undefined && { kind }) };
  return after({ claim: "none", gate: null, report: { failure, ending: { is: "exited", code } } });
}

function endedByUs(ending: AgentReport["ending"]): Iteration {
  const failure: Failure = { class: "agent", message: "ended by Ralph" };
  return { claim: "none", gate: null, report: { ending, failure, finalText: LAST_WORDS } };
}

/** An iteration that somebody else ended, and a new run. */
function cutOff(ending: AgentReport["ending"]): string {
  const report = { ending, finalText: LAST_WORDS };
  return given(...start(), ...worked(1, { claim: "none", gate: null, report }))
    .andThen(runStarted(USUAL, "run-2"), tasksObserved(auth))
    .nextPrompt(auth);
}

function oldChecksFailed(iteration: number): Event {
  const red = gatesChecked(iteration, auth, RED);
  const gates = "gates" in red ? (red.gates as readonly CheckedGate[]) : [];
  const about = { run: "run-1", task: auth.id, iteration, durationMs: 5 };
  return { type: "old-checks.ran", ...about, oldChecks: { files: ["test/session.test.ts"], gates } };
}

const TOUCHED: Partial<Evidence> = { checkFiles: ["test/session.test.ts"] };

function verified(more: Partial<NonNullable<Settings["verify"]>>): Partial<Settings> {
  const { verify: usual } = settings();
  return usual === undefined ? {} : { verify: { ...usual, ...more } };
}

const STAGES: Partial<Settings> = {
  stages: [
    { ...BUILD, name: "coder", maxIterations: 15, promise: "IMPLEMENTATION_COMPLETE" },
    { ...BUILD, name: "reviewer", maxIterations: 5, promise: "REVIEW_COMPLETE" },
    { ...BUILD, name: "tester", maxIterations: 10, promise: "TESTS_COMPLETE" },
    { ...BUILD, name: "qa", maxIterations: 5, promise: "QA_PASSED" },
  ],
};

function atStage(next: string): string {
  const passed: Event = {
    type: "stage.passed",
    run: "run-1",
    task: auth.id,
    iteration: 1,
    stage: "coder",
    next,
  };
  return given(...start(STAGES), ...worked(1, { stage: "coder" }))
    .andThen(passed)
    .nextPrompt(auth, WORK);
}

function story(review: Partial<StoryReview>): string {
  const untouched = { passes: false, reviewStatus: null, reviewCount: 0, reviewFeedback: "", notes: "" };
  const of = { ...auth, review: { id: auth.id, hasReviewFields: true, ...untouched, ...review } };
  const source = { kind: "tasks-json", label: ".ralph/tasks.json", path: ".ralph/tasks.json" } as const;
  return given(runStarted({ ...USUAL, source, reviewCap: 3 }), tasksObserved(of)).nextPrompt(of);
}

const FINDINGS = `- src/session.ts:14 compares seconds with milliseconds
- nothing tests a token that is exactly an hour old`;

const LESSONS = ["gate:tests", "no-changes", "protected-paths"].flatMap((rule) =>
  ["a", "b", "c"].map((id) => interventionChosen(1, task(id), { rule, text: rule })),
);

/** Four iterations: no change, red, timed out, red again; and what the project has taught. */
function longHistory(): string {
  const more = { ...PATIENT, fallbackAgents: ["other"] };
  return given(...start(more), ...LESSONS, ...worked(1, IDLE))
    .andThen(...worked(2, { gate: RED }))
    .andThen(...worked(3, endedByUs({ is: "timed-out", afterMs: 900_000 })))
    .andThen(...worked(4, { gate: RED }))
    .andThen()
    .nextPrompt(auth, null, "- the clock is in seconds\n- run `npm run db` before the tests\n");
}

const QUESTION: Claim = { is: "undecided", question: "401 or 403?", options: ["401", "403"] };

export const SCENES: Readonly<Record<string, Scene>> = {
  "first-try": [439, () => given(...start()).nextPrompt(auth)],
  "first-try-notes": [459, () => given(...start()).nextPrompt(auth, null, "- the clock is in seconds\n")],
  "first-try-goal": [
    401,
    () => {
      const words = "Refuse expired tokens";
      const goal = task("goal-3fa2c1", { title: words, description: words });
      const source = { kind: "goal", label: words, path: null } as const;
      return given(runStarted({ ...USUAL, source }), tasksObserved(goal)).nextPrompt(goal);
    },
  ],
  "first-try-no-changes-needed": [
    439,
    () => {
      const look = { ...auth, changes: "none" } as const;
      return given(runStarted(USUAL), tasksObserved(look)).nextPrompt(look);
    },
  ],
  "first-try-red-before": [
    465,
    () =>
      given(...start(), {
        type: "baseline.measured",
        run: "run-1",
        task: auth.id,
        head: "h",
        gates: [{ name: "tests", status: "failed", exitCode: 1, durationMs: 1, failures: ["logs in"] }],
        leftovers: { byAgents: [], byGates: [], gatesRan: null },
      }).nextPrompt(auth),
  ],
  "after-unfinished": [
    439,
    () => after({ claim: "unfinished", gate: null, report: { finalText: UNFINISHED } }),
  ],
  "after-no-claim": [
    500,
    () => after({ claim: "none", report: { finalText: "The check is in `src/session.ts:14`." } }),
  ],
  "after-no-change": [550, () => after(IDLE)],
  "after-no-change-threshold": [
    660,
    () => {
      return given(...start(PATIENT), ...worked(1, IDLE))
        .andThen(...worked(2, IDLE))
        .andThen()
        .nextPrompt(auth);
    },
  ],
  "after-white-space": [553, () => after({ found: { isWhiteSpaceOnly: true } })],
  "after-list-only": [
    581,
    () =>
      after({
        ...IDLE,
        found: { ...NOTHING, marksTakenBack: [auth.id], list: [{ is: "ticked", task: auth.id }] },
      }),
  ],
  "after-protected": [610, () => after({ gate: null, found: { putBack: ["test/contract/token.test.ts"] } })],
  "after-red-gate": [
    535,
    () =>
      after({
        gate: RED,
      }),
  ],
  "after-old-checks-reader": [
    694,
    () =>
      after(
        {
          found: TOUCHED,
          more: [
            oldChecksFailed(1),
            {
              type: "reader.answered",
              run: "run-1",
              task: auth.id,
              iteration: 1,
              reading: {
                agent: "critic",
                failure: null,
                undone: [],
                usage: { inputTokens: null, outputTokens: null, cacheReadTokens: null, costUsd: null },
                durationMs: 5,
                review: {
                  criteria: [{ criterion: 2, answer: "not_met", reason: "the only test of expiry is gone" }],
                  concerns: [
                    { concern: 1, answer: "real", reason: "test/session.test.ts:30 expects 200 now" },
                  ],
                },
              },
            },
          ],
        },
        verified({ readers: ["stub"] }),
      ),
  ],
  "after-old-checks-person": [
    547,
    () =>
      given(...start(), ...worked(1, { found: TOUCHED, more: [oldChecksFailed(1)] }))
        .andThen({
          type: "question.answered",
          task: auth.id,
          answer: "reject: keep the test of yesterday's token",
          by: "person",
        })
        .nextPrompt(auth),
  ],
  "after-old-checks-settings": [
    579,
    () => after({ found: TOUCHED, more: [oldChecksFailed(1)] }, verified({ oldChecksFail: "reject" })),
  ],
  "after-wrong-promise": [496, () => after({ claim: "none", report: { promise: "DONE" } })],
  "after-hidden-promise": [
    508,
    () => after({ claim: "none", report: { signals: signals({ isPromiseHidden: true }) } }),
  ],
  "after-files-not-found": [
    541,
    () => after({ found: { phantoms: ["src/expiry.ts"] }, gate: null }, { gates: [] }),
  ],
  "after-dirty-tree": [
    519,
    () =>
      after(
        { gate: null, found: { uncommitted: [{ path: "src/session.ts", look: "1" }] } },
        { git: { commit: "agent", hooks: false } },
      ),
  ],
  "after-other-branch": [533, () => after({ ...IDLE, found: { ...NOTHING, strayedTo: "feature/expiry" } })],
  "after-hidden-from-git": [
    531,
    () => after({ gate: null, found: { hidden: ["assume-unchanged on src/session.ts"] } }),
  ],
  "after-not-committed": [
    573,
    () =>
      after({
        claim: "none",
        gate: null,
        found: {
          leftOut: [{ path: "dump.sql", why: "too-big" }],
          refusal: "husky - pre-commit: eslint found 1 error in src/session.ts",
        },
      }),
  ],
  "after-several": [
    745,
    () =>
      after({
        gate: null,
        found: {
          putBack: ["test/contract/token.test.ts"],
          hidden: ["assume-unchanged on src/session.ts"],
          list: [{ is: "removed", task: "auth-003" }],
        },
      }),
  ],
  "after-send-back": [
    566,
    () =>
      given(...start(STAGES), ...worked(1, { stage: "coder" }))
        .andThen(
          ...worked(2, {
            stage: "reviewer",
            claim: "none",
            files: [],
            gate: null,
            report: { promise: `CHANGES_REQUESTED:\n${FINDINGS}` },
          }),
        )
        .andThen()
        .nextPrompt(auth),
  ],
  "after-stop-by-person": [439, () => cutOff({ is: "stopped" })],
  "after-crash": [439, () => cutOff({ is: "interrupted" })],
  "after-outage": [
    439,
    () => {
      const failure: Failure = { class: "transient", message: "API Error: 529 overloaded" };
      const report = { failure, ending: { is: "exited", code: 1 } } as const;
      return given(...start(), ...worked(1, { claim: "none", gate: null, report }))
        .andThen()
        .at(3_600_000)
        .nextPrompt(auth);
    },
  ],
  "after-timeout": [485, () => after(endedByUs({ is: "timed-out", afterMs: 900_000 }))],
  "after-silence": [529, () => after(endedByUs({ is: "idle", afterMs: 600_000 }))],
  "after-failure": [469, () => failed(undefined, "exit code 1: spawn rg ENOENT")],
  "after-overflow": [466, () => failed("overflow", "Prompt is too long")],
  "after-cut-off": [460, () => failed("length", "Claude's response exceeded the 32000 output token maximum")],
  "after-refusal": [469, () => failed("refusal", "the model declined to answer")],
  "after-empty-answer": [465, () => failed("empty", "no final result", 0)],
  "after-turn-limit": [471, () => failed("turns", "Reached maximum number of turns (50)")],
  challenge: [
    592,
    () =>
      after({
        found: { isWhiteSpaceOnly: true, ...SILENCED },
      }),
  ],
  "challenge-without-answer": [
    555,
    () => {
      const since = { changedSinceTaskBegan: { files: 2, paths: FILES } };
      return given(...start(), ...worked(1, { found: SILENCED }))
        .andThen(...worked(2, { files: [], found: { ...SILENCED, ...since } }))
        .andThen()
        .nextPrompt(auth);
    },
  ],
  "challenge-after-red-gate": [
    562,
    () => {
      return given(...start(), ...worked(1, { gate: RED }))
        .andThen(...worked(2, { found: SILENCED }))
        .andThen()
        .nextPrompt(auth);
    },
  ],
  reader: [
    836,
    () => {
      const checked = gatesChecked(1, auth, {});
      return readerPrompt({
        ...WORK,
        task: auth,
        gates: "gates" in checked ? (checked.gates as readonly CheckedGate[]) : [],
        oldChecks: (oldChecksFailed(1) as Extract<Event, { type: "old-checks.ran" }>).oldChecks,
        concerns: [
          {
            name: "old-checks-fail",
            sentence: 'with the checks as they were before the task, gate "tests" fails',
          },
        ],
        claim: "COMPLETE",
        finalText: "Expired tokens are refused (src/session.ts:14), and a test shows it.",
        alreadyDone: null,
      });
    },
  ],
  "long-history": [648, longHistory],
  "answered-question": [
    457,
    () =>
      given(...start(), ...worked(1, { ...IDLE, claim: QUESTION }))
        .andThen({ type: "question.answered", task: auth.id, answer: "401", by: "person" })
        .nextPrompt(auth),
  ],
  "message-from-operator": [
    455,
    () =>
      given(...start(), {
        type: "steer.given",
        task: auth.id,
        id: "1",
        text: "The clock is in seconds.",
      }).nextPrompt(auth),
  ],
  "stage-reviewer": [560, () => atStage("reviewer")],
  "stage-tester": [591, () => atStage("tester")],
  "stage-qa": [515, () => atStage("qa")],
  "story-implement": [556, () => story({})],
  "story-review": [511, () => story({ reviewStatus: "needs_review", reviewCount: 1 })],
  "story-review-fix": [
    657,
    () => story({ reviewStatus: "changes_requested", reviewCount: 1, reviewFeedback: FINDINGS }),
  ],
  "story-review-at-cap": [486, () => story({ reviewStatus: "needs_review", reviewCount: 3 })],
  "merge-conflict": [
    519,
    () =>
      given(
        runStarted({ ...USUAL, lanes: 2, keepGoing: true, worktrees: { base: "main", merge: "squash" } }),
        tasksObserved(auth),
        {
          type: "worktree.opened",
          run: "run-1",
          task: auth.id,
          root: "/beside/auth-002",
          branch: "ralph/auth-002",
          base: "main",
          merge: "squash",
          copied: [],
        },
        ...worked(1, {}),
      )
        .andThen({
          type: "merge.failed",
          run: "run-1",
          task: auth.id,
          iteration: 1,
          base: "main",
          conflicts: ["src/session.ts"],
          gates: [],
        })
        .nextPrompt(auth),
  ],
};
