import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { decideFileText } from "../../src/core/prompt/inbox-file-text.ts";
import { taskState } from "../../src/core/state.ts";
import { inboxOf } from "../../src/core/views/inbox.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");
const docs = task("docs");
const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const DEADLINE = 30 * MINUTE;

const inboxFile: Event = {
  type: "letter.published",
  task: "login",
  kind: "decide",
  file: "decide.txt",
  sha256: "x",
};
const waits: Event = { type: "wait.started", run: "run-1", until: START + DEADLINE, why: "" };

/** A task that asked, and may be answered until the deadline. */
function asked(more: Partial<Extract<Event, { type: "question.asked" }>> = {}): readonly Event[] {
  return [
    {
      type: "question.asked",
      run: "run-1",
      task: "login",
      iteration: 1,
      question: "one or all?",
      options: ["one", "all"],
      default: "one",
      deadlineAt: START + DEADLINE,
      ...more,
    },
    inboxFile,
  ];
}

const keepGoing = (more: Partial<ReturnType<typeof settings>> = {}): Event =>
  runStarted({ keepGoing: true, ...more });

describe("a question with a default and a deadline", () => {
  test("is recorded with the moment at which it answers itself", () => {
    const claim = {
      is: "undecided",
      question: "one or all?",
      options: ["one", "all"],
      default: "one",
      deadlineMs: DEADLINE,
    } as const;
    given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, claim),
      evidence(1, login, []),
    )
      .at(MINUTE)
      .decides(
        { type: "verdict.reached" },
        { type: "question.asked", default: "one", deadlineAt: START + MINUTE + DEADLINE },
      );
  });

  test("of more time than a calendar has is cut down", () => {
    const claim = { is: "undecided", question: "?", options: [], default: "a", deadlineMs: 1e300 } as const;
    const spec = given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, claim),
      evidence(1, login, []),
    ).andThen();
    expect(inboxOf(spec.state)[0]?.deadline).toMatch(/^2027-01-01T/);
  });

  test("is told in the letter and in the inbox", () => {
    const { state } = given(runStarted(), tasksObserved(login), ...asked());
    expect(decideFileText(taskState(state, "login"))).toContain(
      "Options: one | all\nDefault: one (taken at 2026-01-01T00:30:00.000Z without an answer)\n",
    );
    expect(inboxOf(state)).toMatchObject([
      { kind: "decide", default: "one", deadline: "2026-01-01T00:30:00.000Z" },
    ]);
  });

  test("ends a run that does not keep going, whatever the deadline", () => {
    given(runStarted(), tasksObserved(login), ...asked())
      .at(MINUTE)
      .ends("undecided");
  });

  test("answers itself in the next run after the deadline, before anything else", () => {
    const next = given(runStarted(), tasksObserved(login, docs), ...asked()).andThen(
      { type: "run.ended", run: "run-1", outcome: "undecided", reason: "" },
      runStarted({}, "run-2"),
      tasksObserved(login, docs),
    );
    next.at(DEADLINE - 1).ends("undecided");
    next.at(DEADLINE).wants("take-default:login");
  });

  test("is waited for by a run that keeps going and has nothing else to do", () => {
    const spec = given(keepGoing(), tasksObserved(login), ...asked()).at(MINUTE);
    spec.decides({ type: "wait.started", until: START + DEADLINE });
    const waiting = given(keepGoing(), tasksObserved(login), ...asked(), waits).at(MINUTE);
    expect(waiting.effects).toEqual([]);
    expect(waiting.wakeAt).toBe(DEADLINE);
    waiting.at(DEADLINE).wants("take-default:login");
  });

  test("is waited for only after everything else", () => {
    given(keepGoing(), tasksObserved(login, docs), ...asked())
      .at(MINUTE)
      .wants("iterate:docs");
  });

  test("leaves the answer to a person while an agent runs that could have written it", () => {
    const running = [keepGoing(), tasksObserved(login, docs), ...asked(), iterationStarted(2, docs)];
    given(...running)
      .at(DEADLINE + MINUTE)
      .wants("iterate:docs");
    given(...running, iterationEnded(2, docs, "none"))
      .at(DEADLINE + MINUTE)
      .wants("evidence:2");
    given(...running, iterationEnded(2, docs, "none"), evidence(2, docs, ["a.ts"]))
      .at(DEADLINE + MINUTE)
      .andThen()
      .at(DEADLINE + MINUTE)
      .wants("take-default:login");
  });

  test("goes on with the default as the answer, which the log knows to be nobody's", () => {
    const answered = given(keepGoing(), tasksObserved(login), ...asked(), waits, {
      type: "question.answered",
      task: "login",
      answer: "one",
      by: "deadline",
    });
    answered.wants("iterate:login");
    expect(answered.nextPrompt(login)).toContain("The answer: one");
  });

  test("that a person answered in time does not answer itself", () => {
    given(keepGoing(), tasksObserved(login), ...asked(), {
      type: "question.answered",
      task: "login",
      answer: "all",
      by: "person",
    })
      .at(DEADLINE + MINUTE)
      .wants("iterate:login");
  });

  test.each([
    ["--no-wait", { noWait: true }],
    ["no iterations are left", { limits: { ...settings().limits, maxIterations: 0 } }],
    ["the run may not take so long", { limits: { ...settings().limits, maxDurationMs: DEADLINE - MINUTE } }],
  ])("is not waited for: %s", (_, more) => {
    given(keepGoing(more), tasksObserved(login), ...asked())
      .at(MINUTE)
      .ends("undecided");
  });

  test("in the last iteration of the task is not waited for: this run cannot use the answer", () => {
    given(keepGoing(), tasksObserved(login), ...asked(), {
      type: "task.exhausted",
      run: "run-1",
      task: "login",
      iteration: 1,
      iterations: 1,
      lastOutput: "",
    })
      .at(MINUTE)
      .ends("undecided");
  });
});

describe("half of it does nothing", () => {
  test.each([
    ["a deadline without a default", { default: null }],
    ["a default without a deadline", { deadlineAt: null }],
  ])("%s is shown", (_, more) => {
    const spec = given(keepGoing(), tasksObserved(login), ...asked(more)).at(DEADLINE + MINUTE);
    spec.ends("undecided");
    expect(decideFileText(taskState(spec.state, "login"))).toMatch(
      /^(Default: one|Answer wanted until: 2026)/m,
    );
  });
});

test("a run that died while it waited goes on waiting", () => {
  const resumed = given(
    keepGoing(),
    tasksObserved(login),
    ...asked(),
    waits,
    runResumed({ keepGoing: true }),
  ).at(MINUTE);
  expect(resumed.wakeAt).toBe(DEADLINE);
});
