import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { projectStatus } from "../../src/core/views/status.ts";
import type { Task } from "../../src/core/plan.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const chart = task("chart", { title: "Chart view" });

function timedOut(number: number, of: Task): readonly Event[] {
  return [
    iterationStarted(number, of),
    iterationEnded(number, of, "none", {
      ending: { is: "timed-out", afterMs: 1 },
      failure: { class: "agent", message: "no end" },
    }),
    evidence(number, of, ["a.ts"]),
  ];
}

function row(spec: ReturnType<typeof given>, id: string): Record<string, unknown> | undefined {
  return projectStatus(spec.state, true).tasks.find((one) => one.id === id) as
    Record<string, unknown> | undefined;
}

describe("the time an iteration may take", () => {
  test.each([
    ["person", 4],
    ["ralph", 20],
  ] as const)("that a %s gave when unblocking, beside one that the run was given: %i s", (by, seconds) => {
    const unblocked = { type: "task.unblocked", task: "chart", reason: "", timeoutMs: 4_000, by } as const;
    const spec = given(runStarted({ timeoutMs: 20_000 }), tasksObserved(chart), unblocked);
    expect(row(spec, "chart")).toMatchObject({ timeout_seconds: seconds });
    expect(row(given(runStarted(), tasksObserved(chart), unblocked), "chart")).toMatchObject({
      timeout_seconds: 4,
    });
  });

  test("grows with the task's complexity and its timeouts", () => {
    const start = [runStarted({ mode: "speed" }), tasksObserved(chart)];
    expect(row(given(...start), "chart")).toMatchObject({
      complexity: "ui_heavy",
      timeout_seconds: 360,
      timeout_from: "formula",
    });
    const twice = given(...start, ...timedOut(1, chart))
      .andThen(...timedOut(2, chart))
      .andThen();
    expect(row(twice, "chart")).toMatchObject({ timeout_seconds: 810 });
  });

  test("is what a person says, exactly", () => {
    const own = task("own", { title: "Chart", timeoutMs: 5_000 });
    expect(row(given(runStarted(), tasksObserved(own)), "own")).toMatchObject({
      timeout_seconds: 5,
      timeout_from: "task",
    });
    expect(row(given(runStarted({ timeoutMs: 7_000 }), tasksObserved(own)), "own")).toMatchObject({
      timeout_seconds: 7,
      timeout_from: "override",
    });
  });

  test("is learned from five accepted iterations of the same agent and complexity", () => {
    const tasks = ["a", "b", "c", "d", "e", "f"].map((id) => task(id, { title: "Parser" }));
    const accepted = tasks
      .slice(0, 5)
      .map((of, index) => [
        iterationStarted(index + 1, of, { complexity: "complex" }),
        iterationEnded(index + 1, of, "complete", { durationMs: (index + 1) * 200_000 }),
        evidence(index + 1, of, ["a.ts"]),
      ]);
    const after = (count: number): ReturnType<typeof given> =>
      accepted
        .slice(0, count)
        .reduce((spec, events) => spec.andThen(...events), given(runStarted(), tasksObserved(...tasks)))
        .andThen();
    expect(row(after(4), "f")).toMatchObject({ timeout_seconds: 1_800, timeout_from: "formula" });
    expect(row(after(5), "f")).toMatchObject({ timeout_seconds: 2_000, timeout_from: "learned" });
  });
});
