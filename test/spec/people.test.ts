import { describe, expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");
const docs = task("docs");
const asks = [iterationStarted(1, login), iterationEnded(1, login, "undecided"), evidence(1, login, [])];
const blocks = [iterationStarted(1, login), iterationEnded(1, login, "blocked"), evidence(1, login, [])];
const inboxFile = (kind: "decide" | "blocked") =>
  ({ type: "letter.published", task: "login", kind, file: `${kind}.txt`, sha256: "x" }) as const;

describe("a question", () => {
  test("is recorded, written as a letter, and ends the run", () => {
    const asked = given(runStarted(), tasksObserved(login, docs), ...asks);
    asked.decides(
      { type: "verdict.reached", verdict: "decide" },
      { type: "question.asked", question: "this or that?" },
    );
    asked.andThen().wants("publish").andThen(inboxFile("decide")).ends("undecided");
  });

  test("and another one that is asked at the same time are published one after the other: each has its file", () => {
    const others = [iterationStarted(2, docs), iterationEnded(2, docs, "undecided"), evidence(2, docs, [])];
    const both = given(runStarted(), tasksObserved(login, docs), ...asks)
      .andThen(...others)
      .andThen();
    expect(both.effects.map(({ key }) => key)).toEqual(["publish", "publish"]);
    both.andThen(inboxFile("decide")).wants("publish");
  });

  test("does not hold up other tasks when the run should keep going", () => {
    given(runStarted({ keepGoing: true }), tasksObserved(login, docs), ...asks)
      .andThen(inboxFile("decide"))
      .wants("iterate:docs");
  });

  test("ends the next run at once while it is not answered", () => {
    given(runStarted(), tasksObserved(login), ...asks)
      .andThen(
        inboxFile("decide"),
        { type: "run.ended", run: "run-1", outcome: "undecided", reason: "" },
        runStarted({}, "run-2"),
        tasksObserved(login),
      )
      .ends("undecided");
  });

  test("answered goes into the prompt, and its letter is withdrawn when the iteration that used it ended", () => {
    const answered = given(runStarted(), tasksObserved(login), ...asks).andThen(inboxFile("decide"), {
      type: "question.answered",
      task: "login",
      answer: "that",
      by: "person",
    });
    answered.wants("iterate:login");
    expect(answered.nextPrompt(login)).toContain("The answer: that");
    const used = answered
      .andThen(iterationStarted(2, login), iterationEnded(2, login, "none"), evidence(2, login, ["a.ts"]))
      .andThen();
    used.wants("withdraw:login");
    expect(used.nextPrompt(login)).not.toContain("The answer");
  });

  test("answered is asked again in the prompt when the iteration that used it was interrupted", () => {
    const interrupted = iterationEnded(2, login, "none", { ending: { is: "interrupted" } });
    const spec = given(runStarted(), tasksObserved(login), ...asks)
      .andThen(inboxFile("decide"), {
        type: "question.answered",
        task: "login",
        answer: "that",
        by: "person",
      })
      .andThen(iterationStarted(2, login), interrupted, evidence(2, login, []))
      .andThen();
    expect(spec.nextPrompt(login)).toContain("The answer: that");
  });
});

describe("a blocked task", () => {
  test("is written as a letter and ends the run", () => {
    given(runStarted(), tasksObserved(login), ...blocks)
      .andThen()
      .wants("publish")
      .andThen(inboxFile("blocked"))
      .ends("blocked");
  });

  test("goes on after it was unblocked, and its letter is withdrawn", () => {
    given(runStarted(), tasksObserved(login), ...blocks)
      .andThen(inboxFile("blocked"), {
        type: "task.unblocked",
        task: "login",
        reason: "deleted",
        timeoutMs: null,
        by: "person",
      })
      .wants("withdraw:login")
      .andThen({ type: "letter.withdrawn", task: "login", file: "blocked.txt" })
      .wants("iterate:login");
  });

  test("comes after an open question in the exit code", () => {
    const asked = {
      type: "question.asked",
      run: "run-1",
      task: "docs",
      iteration: 9,
      question: "?",
      options: [],
      default: null,
      deadlineAt: null,
    } as const;
    const published = {
      type: "letter.published",
      task: "docs",
      kind: "decide",
      file: "decide.txt",
      sha256: "",
    } as const;
    given(runStarted(), tasksObserved(login, docs), ...blocks)
      .andThen(inboxFile("blocked"), asked, published)
      .ends("undecided");
  });
});

describe("asked to stop", () => {
  test("now, the agent is no longer wanted", () => {
    given(runStarted(), tasksObserved(login), iterationStarted(1, login), {
      type: "stop.requested",
      run: "run-1",
      urgency: "now",
    }).wants();
  });

  test("after the iteration, the agent works on and nothing new begins", () => {
    const stop = { type: "stop.requested", run: "run-1", urgency: "after-iteration" } as const;
    const spec = given(runStarted(), tasksObserved(login, docs), iterationStarted(1, login), stop).wants(
      "iterate:login",
    );
    spec
      .andThen(iterationEnded(1, login, "complete"), evidence(1, login, ["a.ts"]))
      .andThen()
      .wants("mark:login");
  });

  test("is over with the run: a resumed one goes on", () => {
    given(
      runStarted(),
      tasksObserved(login),
      { type: "stop.requested", run: "run-1", urgency: "now" },
      runResumed(),
    ).wants("iterate:login");
  });
});

describe("the operator's own file", () => {
  test("wins: a task ticked by hand is done", () => {
    given(runStarted(), tasksObserved(task("login", { done: true }), docs)).wants("iterate:docs");
  });

  test("wins: an accepted task that was unticked is open again", () => {
    const spec = given(
      runStarted(),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a"]),
    )
      .andThen(
        { type: "task.marked", run: "run-1", task: "login", commit: null, parent: null },
        tasksObserved(task("login", { done: true })),
      )
      .ends("completed");
    spec.andThen(tasksObserved(login)).wants("iterate:login");
  });

  test("new tasks are taken up, removed ones left alone", () => {
    given(runStarted(), tasksObserved(login), tasksObserved(docs)).wants("iterate:docs");
  });
});
