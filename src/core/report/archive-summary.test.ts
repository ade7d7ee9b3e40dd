import { expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import type { Task } from "../plan.ts";
import { UNKNOWN_USAGE } from "../streams/agent-report.ts";
import { archiveSummary } from "./markdown-report.ts";

const ONE = task("one", { title: "a | b\n`c`" });

test("sums up the cost that is known, and keeps a title in its cell", () => {
  const text = summary(
    runStarted(),
    tasksObserved(ONE),
    ...iteration(1, 0.5),
    ...iteration(2, null),
    ...iteration(3, 0.25),
  );
  expect(text).toContain("- Iterations: 3 (1 to 3)\n- Runs: 1\n- Cost: $0.75\n");
  expect(text).toMatch(/^\| one \| a \\\| b `c` \| \w+ \| 3 \| – \|$/m);
  expect(text).toContain("| 2026-01-01T00:00:00.000Z | 3 | its process died |\n");
});

test("leaves out what was before the task began anew", () => {
  const text = summary(
    runStarted(),
    tasksObserved(ONE),
    ...iteration(1, 9),
    { type: "task.reset", task: "one" },
    ...iteration(2, 0.5),
  );
  expect(text).toContain("- Iterations: 1 (2)\n- Runs: 1\n- Cost: $0.50\n");
});

test("of a list that could not be read says why, and has no tables", () => {
  const text = archiveSummary({ ...list([]), plan: null, problem: "line 3:\nno" });
  expect(text).toContain("- Tasks: unknown, since they could not be read: line 3: no\n");
  expect(text).not.toContain("|");
});

function iteration(number: number, costUsd: number | null): readonly Event[] {
  return [
    iterationStarted(number, ONE),
    iterationEnded(number, ONE, "none", { usage: { ...UNKNOWN_USAGE, costUsd } }),
    evidence(number, ONE, []),
  ];
}

function summary(...events: readonly Event[]): string {
  return archiveSummary(list(events));
}

function list(
  events: readonly Event[],
  tasks: readonly Task[] = [ONE],
): Parameters<typeof archiveSummary>[0] {
  const at = Date.UTC(2026, 0, 1);
  return {
    project: "house",
    label: "first",
    at,
    source: "TODO.md",
    plan: { source: settings().source, tasks },
    problem: null,
    state: given(...events).state,
    events: events.map((event, index): Recorded => ({ ...event, position: index + 1, at: at + index })),
    files: [],
  };
}
