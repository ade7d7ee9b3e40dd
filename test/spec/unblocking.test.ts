import { BUILD } from "../../src/core/loop/stages.ts";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { maxIterationsOf } from "../../src/core/loop/iteration-timeout.ts";
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

const chart = task("chart");
const MINUTE = 60_000;
const limits = { ...settings().limits, maxAttempts: 2 };
const unblock = settings().unblock;
const inboxFile: Event = {
  type: "letter.published",
  task: "chart",
  kind: "blocked",
  file: "blocked.txt",
  sha256: "x",
};
const withdrawn: Event = { type: "letter.withdrawn", task: "chart", file: "blocked.txt" };
const runEnded: Event = { type: "run.ended", run: "run-1", outcome: "blocked", reason: "" };

type Specification = ReturnType<typeof given>;

/** One more iteration with its verdict and what follows from it. */
function iteration(spec: Specification, number: number, how: "timeout" | "blocked" | "crash"): Specification {
  const report =
    how === "timeout"
      ? ({
          ending: { is: "timed-out", afterMs: 20 * MINUTE },
          failure: { class: "agent", message: "timed out" },
        } as const)
      : how === "crash"
        ? ({ ending: { is: "exited", code: 1 }, failure: { class: "agent", message: "exit 1" } } as const)
        : {};
  return spec
    .andThen(
      iterationStarted(number, chart, { timeoutMs: 20 * MINUTE }),
      iterationEnded(number, chart, how === "blocked" ? "blocked" : "none", report),
      evidence(number, chart, how === "crash" ? [`${number}.ts`] : []),
    )
    .andThen();
}

function after(...hows: readonly ("timeout" | "blocked" | "crash")[]): Specification {
  const begun = given(runStarted({ limits }), tasksObserved(chart)).andThen();
  return hows.reduce((spec, how, at) => iteration(spec, at + 1, how), begun).andThen(inboxFile);
}

function nextRun(spec: Specification, more: Partial<ReturnType<typeof settings>> = {}): Specification {
  return spec.andThen(runEnded, runStarted({ limits, ...more }, "run-2"), tasksObserved(chart));
}

describe("a task that timeouts have blocked", () => {
  test("stays blocked in the run in which that happened, also when that run is resumed", () => {
    after("timeout", "timeout").ends("blocked");
    after("timeout", "timeout").andThen(runResumed({ limits })).ends("blocked");
  });

  test("is tried again by the next run, with twice the time", () => {
    const tried = nextRun(after("timeout", "timeout"));
    tried.decides({
      type: "task.unblocked",
      task: "chart",
      reason: "blocked by timeouts; tried again with 40m",
      timeoutMs: 40 * MINUTE,
      by: "ralph",
    });
    tried.andThen(withdrawn).wants("iterate:chart");
  });

  test("is tried again only so often", () => {
    nextRun(after("timeout", "timeout"), { unblock: { ...unblock, maxAutoAttempts: 0 } }).ends("blocked");
    const tried = nextRun(after("timeout", "timeout")).andThen(withdrawn);
    const again = [3, 4]
      .reduce((spec, number) => iteration(spec, number, "timeout"), tried)
      .andThen(inboxFile);
    const third = (more = {}): Specification =>
      again.andThen(
        { type: "run.ended", run: "run-2", outcome: "blocked", reason: "" },
        runStarted({ limits, ...more }, "run-3"),
        tasksObserved(chart),
      );
    third().ends("blocked");
    third({ unblock: { ...unblock, maxAutoAttempts: 2 } }).decides({ type: "task.unblocked", by: "ralph" });
    const reset = { type: "task.reset", task: "chart" } as const;
    expect(taskState(third().andThen(reset).state, "chart").autoUnblocks).toBe(0);
  });

  test("of another run's scope is left alone", () => {
    nextRun(after("timeout", "timeout"), { onlyTasks: ["docs"] }).ends("completed");
  });
});

describe("nothing else unblocks itself", () => {
  test.each([
    ["the agent said so", ["blocked"]],
    ["the agent said so after a timeout", ["timeout", "blocked"]],
    ["not every attempt was a timeout", ["crash", "timeout"]],
    ["the last attempt was none", ["timeout", "crash"]],
  ] as const)("%s", (_, hows) => {
    nextRun(after(...hows)).ends("blocked");
  });
});

describe("a task that a person unblocks", () => {
  test("is taken up in the run that had given it up", () => {
    const unblocked: Event = {
      type: "task.unblocked",
      task: "chart",
      reason: "",
      timeoutMs: null,
      by: "person",
    };
    const exhausted: Event = {
      type: "task.exhausted",
      run: "run-1",
      task: "chart",
      iteration: 1,
      iterations: 1,
      lastOutput: "",
    };
    given(runStarted(), tasksObserved(chart), exhausted).ends("exhausted");
    given(runStarted(), tasksObserved(chart), exhausted, unblocked).wants("iterate:chart");
  });
});

test("a blocked task that its owner has marked as done waits for nobody", () => {
  const spec = after("blocked");
  expect(inboxOf(spec.state)).toMatchObject([{ task: "chart", kind: "blocked", text: "no credentials" }]);
  const marked = spec.andThen(tasksObserved(task("chart", { done: true })));
  expect(inboxOf(marked.state)).toEqual([]);
});

describe("with adaptive_iterations a task may take", () => {
  const adaptive = settings({ adaptiveIterations: true, limits: { ...limits, maxIterationsPerTask: 5 } });

  test.each([
    ["fix the typo", 5],
    ["write a test", 8],
    ["a parser", 10],
    ["the dashboard", 15],
  ])('"%s": %i iterations', (title, most) => {
    expect(maxIterationsOf(task("a", { title }), adaptive, BUILD)).toBe(most);
  });

  test("what it says itself, or one if it does not loop", () => {
    expect(maxIterationsOf(task("a", { title: "the dashboard", maxIterations: 4 }), adaptive, BUILD)).toBe(4);
    expect(maxIterationsOf(task("a", { title: "the dashboard", loops: false }), adaptive, BUILD)).toBe(1);
  });

  test("and without it the same for all", () => {
    expect(maxIterationsOf(task("a", { title: "the dashboard" }), settings(), BUILD)).toBe(30);
  });
});
