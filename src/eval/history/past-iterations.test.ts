import { expect, test } from "vitest";
import type { Event } from "../../core/events.ts";
import { evidence, iterationEnded, iterationStarted, task } from "../../../test/spec/given.ts";
import { pastIterations } from "./past-iterations.ts";

const LOGIN = task("login");
const about = { run: "r1", task: LOGIN.id, iteration: 1 } as const;

function rejected(iteration: number): readonly Event[] {
  const judged = { madeProgress: false, retryAt: null, exitSignal: null } as const;
  return [
    iterationStarted(iteration, LOGIN),
    iterationEnded(iteration, LOGIN, "complete"),
    evidence(iteration, LOGIN, []),
    { type: "verdict.reached", ...about, iteration, verdict: "rejected", reasons: [], ...judged },
  ];
}

function loopsOf(between: Event): readonly number[] {
  const events = [...rejected(1), between, ...rejected(2)];
  return pastIterations(events.map((event, index) => ({ ...event, position: index + 1, at: index }))).map(
    ({ loop }) => loop,
  );
}

const suspended = { type: "agent.suspended", ...about, agent: "stub", why: "" } as const;

test.each<[string, Event]>([
  [
    "a person lets the task go on",
    { type: "task.unblocked", task: "login", reason: "", timeoutMs: null, by: "person" },
  ],
  ["another agent takes over", { ...suspended, successor: "second" }],
  ["the task goes to the next stage", { type: "stage.passed", ...about, stage: "coder", next: "reviewer" }],
])("its counts begin anew when %s", (_, between) => {
  expect(loopsOf(between)).toEqual([0, 1]);
});

test.each<[string, Event]>([
  [
    "another task is let go on",
    { type: "task.unblocked", task: "other", reason: "", timeoutMs: null, by: "person" },
  ],
  ["nobody is there to take over", { ...suspended, successor: null }],
])("they go on when %s", (_, between) => {
  expect(loopsOf(between)).toEqual([0, 0]);
});
