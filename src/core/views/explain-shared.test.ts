import { expect, test } from "vitest";
import { runStarted, task, tasksObserved } from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { evolveAll } from "../loop/evolve.ts";
import type { State } from "../state.ts";
import { explainRun } from "./explain.ts";

const BLOCKED: Event = {
  type: "task.blocked",
  run: "run-1",
  task: "two",
  iteration: 1,
  reason: "no network",
};
const ENDED: Event = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "somebody stopped it" };

function stateOf(...events: readonly Event[]): State {
  const all = [runStarted({ shared: true }), tasksObserved(task("one"), task("two")), BLOCKED, ...events];
  return evolveAll(all.map((event, at): Recorded => ({ ...event, position: at + 1, at })));
}

function nextSteps(state: State, isDriven: boolean): readonly (string | null)[] {
  const { tasks, next } = explainRun(state, isDriven);
  return [...tasks.map((open) => open.next), next];
}

test("where workers go on, nobody is told to run anything", () => {
  expect(nextSteps(stateOf(), true)).toEqual([
    null,
    "settle it, then: ralph unblock two",
    "watch: ralph monitor",
  ]);
});

test("without a worker somebody has to start one", () => {
  expect(explainRun(stateOf(), false).headline).toContain("no worker is here");
  expect(nextSteps(stateOf(), false)).toEqual([
    "ralph worker",
    "settle it, then: ralph unblock two && ralph worker",
    "start a worker: ralph worker",
  ]);
});

test("what ended is submitted again", () => {
  expect(nextSteps(stateOf(ENDED), true)).toEqual([
    "ralph submit",
    "settle it, then: ralph unblock two && ralph submit",
    "go on: ralph submit",
  ]);
});
