import { expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { explainIteration, iterationJson } from "./explain-iteration.ts";
import { explainRun } from "./explain.ts";
import { type IterationRecord, iterationRecords } from "./iteration-record.ts";

const [ONE, TWO, HELD] = [task("one"), task("two", { dependsOn: ["one"] }), task("held")];
const START = [runStarted(), tasksObserved(ONE, TWO, HELD, task("done", { done: true }))];

test("before the first run there is nothing to explain but how to begin", () => {
  expect(explainRun(given().state, false)).toMatchObject({ run: null, tasks: [], next: "ralph run" });
});

test("an ended run: outcome, exit code, reason, and what each open task waits for", () => {
  const { state } = given(
    ...START,
    iterationStarted(1, HELD),
    iterationEnded(1, HELD, "blocked"),
    evidence(1, HELD, []),
  ).andThen(
    { type: "letter.published", task: "held", kind: "blocked", file: "blocked.txt", sha256: "" },
    { type: "run.ended", run: "run-1", outcome: "blocked", reason: "held is blocked: no credentials" },
  );
  expect(explainRun(state, false)).toMatchObject({
    outcome: "blocked",
    exitCode: 2,
    headline:
      "The last run ended as blocked (exit code 2): held is blocked: no credentials. It took 1 iteration, 0.0s.",
    tasks: [
      { task: "one", text: "one has not been worked on yet.", next: "ralph run" },
      { task: "two", text: "two waits for one.", next: "ralph why one" },
      {
        task: "held",
        text: "held is blocked: no credentials.",
        next: "see why: ralph why held; settle it, then: ralph unblock held && ralph run",
      },
    ],
  });
});

test("an optional task names the flag", () => {
  const { state } = given(...START, tasksObserved({ ...ONE, optional: true }));
  expect(explainRun(state, false).tasks).toMatchObject([
    { task: "one", text: "one is optional.", next: "work on it too: ralph run --include-optional" },
  ]);
});

test("a run that is on: what it is doing", () => {
  const { state } = given(...START, iterationStarted(1, ONE));
  const explanation = explainRun(state, true);
  expect(explanation.headline).toBe(
    "A run is on (pid 1): one, iteration 1 (1/30) since 00:00:00 UTC; stub works.",
  );
  expect(explanation.tasks).toMatchObject([{ status: "doing" }, { next: null }, { next: null }]);
});

test("a run whose process is gone", () => {
  const { state } = given(...START, iterationStarted(1, ONE));
  expect(explainRun(state, false)).toMatchObject({
    headline: "The last run was interrupted after 1 iteration: its process is gone.",
    next: "go on: ralph run",
    tasks: [
      { text: "one was interrupted in iteration 1 of stub, which costs no attempt." },
      { task: "two" },
      { task: "held" },
    ],
  });
});

function story(...events: readonly Event[]): IterationRecord {
  const all = [...START, ...events];
  const decided = given(...all).effects.flatMap((effect) => (effect.kind === "record" ? effect.events : []));
  const recorded = [...all, ...decided].map((event, at): Recorded => ({ ...event, position: at + 1, at }));
  const [first] = iterationRecords(recorded);
  if (first === undefined) throw new Error("no iteration");
  return first;
}

test("an iteration in full: claim, evidence, gates, verdict, and what the agent is told", () => {
  const told = story(
    iterationStarted(1, ONE),
    iterationEnded(1, ONE, "complete", { sweptProcesses: 2, denied: ["Bash", "Write"] }),
    evidence(1, ONE, ["a.ts"], {
      phantoms: ["ghost.ts"],
      putBack: [".ralph/ralph.toml"],
      hidden: ["index flag of a.ts"],
      checkFiles: ["a.test.ts"],
      marksTakenBack: ["one"],
      leftOut: [{ path: ".env", why: "looks-secret" }],
      uncommitted: [{ path: ".env", look: "" }],
      refusal: "no",
    }),
  );
  const groups = new Map(explainIteration(told).groups.map(({ about, sentences }) => [about, sentences]));
  expect(groups.get("claim")).toEqual([
    "The agent claimed COMPLETE.",
    "It left 2 processes running; they were ended.",
    "It was not permitted to use Bash, Write.",
  ]);
  expect(groups.get("evidence")).toEqual([
    "1 file changed: a.ts; commit h1.",
    "Named as written, but not among the changes: ghost.ts.",
    "Protected, and put back as it was: .ralph/ralph.toml.",
    "Hidden from git, and undone: index flag of a.ts.",
    "Files that checks judge by, changed: a.test.ts.",
    "Marked as done by the agent itself, and taken back: one.",
    "Not committed on purpose: .env (looks like a secret).",
    "Left uncommitted: .env.",
    "Git or its hooks refused to commit some of it.",
  ]);
  expect(groups.get("verdict")?.[0]).toMatch(/^Rejected: /);
  expect(groups.get("told")?.[0]).toMatch(/^For the next prompt: \d corrections \(/);
  expect(iterationJson(told)).toMatchObject({
    kind: "iteration",
    iteration: 1,
    verdict: "rejected",
    evidence: { put_back: [".ralph/ralph.toml"] },
  });
});

test("an iteration that is not judged yet", () => {
  const { headline, groups } = explainIteration(story(iterationStarted(3, ONE)));
  expect(headline).toBe("Iteration 3: one (3/30) by stub, 1970-01-01T00:00:00Z of at most 15m.");
  expect(groups).toEqual([
    { about: "claim", sentences: ["The agent is running."] },
    { about: "verdict", sentences: ["No verdict yet."] },
  ]);
});

test("gates in all colours", () => {
  const { groups } = explainIteration(
    story(
      iterationStarted(1, ONE),
      iterationEnded(1, ONE, "complete"),
      evidence(1, ONE, ["a.ts"]),
      gatesChecked(
        1,
        ONE,
        { name: "a", durationMs: 2_000, tries: 2 },
        { name: "b", status: "timeout", durationMs: 60_000 },
        { name: "c", status: "missing", unmet: "eslint is not installed" },
        { name: "d", status: "skipped" },
        {
          name: "e",
          status: "failed",
          exitCode: 0,
          unmet: 'its output does not contain "42"',
          failures: ["t1"],
        },
      ),
    ),
  );
  expect(groups.find(({ about }) => about === "gates")?.sentences).toEqual([
    'gate "a" passed (2s, 2 tries).',
    'gate "b" did not finish in time (1m).',
    'gate "c" could not run: eslint is not installed.',
    'gate "d" could not run: its program is not installed.',
    'gate "e" failed (its output does not contain "42", 0.0s); failing: t1.',
  ]);
});
