import { RunLines } from "../../core/views/run-lines.ts";
import { PLAIN } from "../../core/text.ts";
import { describe, expect, test } from "vitest";
import { runResumed, runStarted, settings, task, tasksObserved } from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE } from "../../core/state.ts";

/** What a person sees of these facts. */
function told(...events: readonly Event[]): readonly string[] {
  const lines = new RunLines(PLAIN);
  let state = EMPTY_STATE;
  return events.flatMap((event, index) => {
    const recorded: Recorded = { ...event, position: index + 1, at: index };
    state = evolve(state, recorded);
    return lines.of(recorded, state);
  });
}

const HEADLINE = ["ralph run · TODO.md · 2 tasks · stub", "  gates: none (only git is checked)"];
const one = task("one");
const two = task("two");

describe("the tasks of a run", () => {
  test("have their headline once", () => {
    const marked = tasksObserved({ ...one, done: true, description: "other words" }, two);
    expect(told(runStarted(), tasksObserved(one, two), marked)).toEqual(HEADLINE);
  });

  test("have one for each run, and when a run goes on", () => {
    const other = "run-2";
    const { source } = settings();
    const observed: Event = { type: "tasks.observed", run: other, plan: { source, tasks: [one, two] } };
    expect(told(runStarted(), tasksObserved(one, two), runStarted({}, other), observed)).toEqual([
      ...HEADLINE,
      ...HEADLINE,
    ]);
    const goesOn = "going on with the run that was interrupted";
    expect(told(runStarted(), runResumed(), tasksObserved(one, two))).toEqual([goesOn, ...HEADLINE]);
    expect(told(runStarted(), tasksObserved(one, two), runResumed(), tasksObserved(two, one))).toEqual([
      ...HEADLINE,
      goesOn,
      ...HEADLINE,
    ]);
  });

  test("that come or go later are named, and those outside of the run are not", () => {
    const changed = tasksObserved(two, task("three"), task("four"));
    expect(told(runStarted(), tasksObserved(one, two), changed)).toEqual([
      ...HEADLINE,
      "  + new in TODO.md: three, four",
      "  - gone from TODO.md: one",
    ]);
    const done = { ...one, done: true };
    expect(told(runStarted(), tasksObserved(done, two), tasksObserved(two))).toHaveLength(2);
    const only = runStarted({ onlyTasks: ["one", "two"] });
    expect(told(only, tasksObserved(one, two), tasksObserved(one, two, task("three")))).toEqual(HEADLINE);
  });

  test("that wait for something else are named, each once", () => {
    const waiting = task("ui", { dependsOn: ["elsewhere"] });
    const wait = "! ui waits for elsewhere, which is not done and not among the tasks of TODO.md";
    const observed = [tasksObserved(one, waiting), tasksObserved({ ...one, done: true }, waiting)];
    expect(told(runStarted(), ...observed)).toEqual([...HEADLINE, wait]);
  });
});
