import { describe, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  signals,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const once = task("once", { loops: false });
const attempt = iterationStarted(1, once, { maxIterations: 1 });

describe("a single attempt", () => {
  test("is accepted without a promise when it ended well, changed something and the gates pass", () => {
    const gated = given(
      runStarted({ gates: [TESTS_GATE] }),
      tasksObserved(once),
      attempt,
      iterationEnded(1, once, "none"),
      evidence(1, once, ["a.ts"]),
    );
    gated.wants("gates:1");
    gated
      .andThen(gatesChecked(1, once, {}))
      .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
  });

  test("that changed nothing has failed, and the run ends with it", () => {
    const failed = given(
      runStarted(),
      tasksObserved(once),
      attempt,
      iterationEnded(1, once, "none"),
      evidence(1, once, []),
    );
    failed.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
      { type: "task.failed", reason: "no file has changed since the task began" },
    );
    failed.andThen().ends("exhausted");
  });

  test("that crashed has failed", () => {
    const crashed = {
      ending: { is: "exited", code: 1 },
      failure: { class: "agent", message: "exit 1" },
    } as const;
    given(
      runStarted(),
      tasksObserved(once),
      attempt,
      iterationEnded(1, once, "none", crashed),
      evidence(1, once, []),
    )
      .andThen()
      .ends("exhausted");
  });

  test("that was interrupted has not been made", () => {
    const interrupted = iterationEnded(1, once, "none", { ending: { is: "interrupted" } });
    given(runStarted(), tasksObserved(once), attempt, runResumed(), interrupted, evidence(1, once, []))
      .andThen()
      .wants("iterate:once");
  });

  test("that hit an outage is made again later", () => {
    const outage = {
      ending: { is: "exited", code: 1 },
      failure: { class: "transient", message: "503" },
    } as const;
    given(
      runStarted(),
      tasksObserved(once),
      attempt,
      iterationEnded(1, once, "none", outage),
      evidence(1, once, []),
    )
      .andThen()
      .at(9_000_000)
      .wants("iterate:once");
  });

  test("that failed does not stop the tasks after it, and is open again in the next run", () => {
    const failed = given(
      runStarted(),
      tasksObserved(once, task("other")),
      attempt,
      iterationEnded(1, once, "none"),
      evidence(1, once, []),
    ).andThen();
    failed.wants("iterate:other");
    failed.andThen(runStarted({}, "run-2"), tasksObserved(once)).wants("iterate:once");
  });

  test("may ask and be blocked like any other", () => {
    given(
      runStarted(),
      tasksObserved(once),
      attempt,
      iterationEnded(1, once, "blocked"),
      evidence(1, once, []),
    ).decides({ type: "verdict.reached", verdict: "blocked" }, { type: "task.blocked" });
  });
});

describe("an open-ended task", () => {
  const prompt = task("prompt");
  const openEnded = runStarted({ source: { kind: "prompt", label: "PROMPT.md", path: null } });
  const claims = (number: number, changed: readonly string[]): readonly Event[] => [
    iterationStarted(number, prompt),
    iterationEnded(number, prompt, "complete"),
    evidence(number, prompt, changed),
  ];
  const tests = (number: number): readonly Event[] => [
    iterationStarted(number, prompt),
    iterationEnded(number, prompt, "none", { signals: signals({ isTestOnly: true }) }),
    evidence(number, prompt, ["test.log"]),
  ];
  const sure = (number: number, changed: readonly string[]): readonly Event[] => [
    iterationStarted(number, prompt),
    iterationEnded(number, prompt, "none", { signals: signals({ confidence: 75 }) }),
    evidence(number, prompt, changed),
  ];

  test("goes on after one accepted claim, and is complete after two in a row", () => {
    const first = given(openEnded, tasksObserved(prompt), ...claims(1, ["a.ts"])).andThen();
    first.wants("iterate:prompt");
    first
      .andThen(...claims(2, ["b.ts"]))
      .decides(
        { type: "verdict.reached", verdict: "accepted" },
        { type: "intervention.chosen", severity: "info" },
        { type: "task.completed" },
      );
  });

  test("starts counting anew after an iteration without a signal", () => {
    const idle = [
      iterationStarted(2, prompt),
      iterationEnded(2, prompt, "none"),
      evidence(2, prompt, ["b.ts"]),
    ];
    given(openEnded, tasksObserved(prompt), ...claims(1, ["a.ts"]))
      .andThen(...idle)
      .andThen(...claims(3, ["c.ts"]))
      .andThen()
      .wants("iterate:prompt");
  });

  test("is complete by sure words only with a change behind them", () => {
    given(openEnded, tasksObserved(prompt), ...sure(1, ["a.ts"]))
      .andThen(...sure(2, ["b.ts"]))
      .decides({ type: "verdict.reached" }, { type: "intervention.chosen" }, { type: "task.completed" });
    given(openEnded, tasksObserved(prompt), ...sure(1, []))
      .andThen(...sure(2, []))
      .andThen()
      .wants("iterate:prompt");
  });

  test("is not complete by a block that is sure of the opposite", () => {
    const unfinished = (number: number): readonly Event[] => [
      iterationStarted(number, prompt),
      iterationEnded(number, prompt, "unfinished", { signals: signals({ confidence: 100 }) }),
      evidence(number, prompt, ["a.ts"]),
    ];
    given(openEnded, tasksObserved(prompt), ...unfinished(1))
      .andThen(...unfinished(2))
      .andThen()
      .wants("iterate:prompt");
  });

  test("ends with exit code 1 after three iterations that only ran tests", () => {
    given(openEnded, tasksObserved(prompt), ...tests(1))
      .andThen(...tests(2))
      .andThen(...tests(3))
      .andThen()
      .ends("exhausted");
  });

  test("is complete when a person has ticked its whole plan", () => {
    given(openEnded, tasksObserved(task("prompt", { done: true }))).ends("completed");
  });

  describe("whose agent has ticked the whole plan", () => {
    const gated = runStarted({
      source: { kind: "prompt", label: "PROMPT.md", path: null },
      gates: [TESTS_GATE],
    });
    const ticked = (number: number, files: readonly string[] = ["a.ts"]): readonly Event[] => [
      iterationStarted(number, prompt),
      iterationEnded(number, prompt, "none"),
      evidence(number, prompt, files, { isPlanTicked: true }),
    ];
    const seen = tasksObserved(task("prompt", { done: true }));
    const red = gatesChecked(1, prompt, { status: "failed", exitCode: 1 });

    test("has claimed completion: the gates run, and one accepted claim is enough", () => {
      const claimed = given(gated, tasksObserved(prompt), ...ticked(1)).wants("gates:1");
      claimed
        .andThen(gatesChecked(1, prompt, {}))
        .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
    });

    test("is not complete while a gate is red, in this run and in the next", () => {
      const rejected = given(gated, tasksObserved(prompt), ...ticked(1)).andThen(red);
      rejected.decides({ type: "verdict.reached", verdict: "rejected" }, { type: "intervention.chosen" });
      const later = rejected.andThen(seen);
      later.wants("iterate:prompt");
      const end = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "" } as const;
      const { settings } = gated as Extract<Event, { type: "run.started" }>;
      later.andThen(end, runStarted(settings, "run-2"), seen).wants("iterate:prompt");
    });

    test("is not complete without a change of files", () => {
      given(openEnded, tasksObserved(prompt), ...ticked(1, []))
        .andThen(seen)
        .wants("iterate:prompt");
    });

    test("is complete once a person has unticked and ticked it", () => {
      const rejected = given(gated, tasksObserved(prompt), ...ticked(1))
        .andThen(red)
        .andThen(seen);
      rejected.andThen(tasksObserved(prompt), seen).ends("completed");
    });
  });
});
