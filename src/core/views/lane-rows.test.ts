import { expect, test } from "vitest";
import { iterationStarted, runStarted, task, tasksObserved } from "../../../test/spec/given.ts";
import type { Recorded } from "../events.ts";
import { evolveAll } from "../loop/evolve.ts";
import { laneRows } from "./overview.ts";

test("of a run that workers share only lanes with work are there, and whose they are", () => {
  const [one, two] = [task("one"), task("two")];
  const events = [
    runStarted({ lanes: 1_000, shared: true }),
    tasksObserved(one, two),
    iterationStarted(1, one, { lane: 7, worker: "build-3" }),
    iterationStarted(2, two, { lane: 2, worker: "build-4" }),
  ];
  const rows = laneRows(evolveAll(events.map((event, at): Recorded => ({ ...event, position: at + 1, at }))));
  expect(rows.map(({ lane, work }) => [lane, work?.task, work?.worker])).toEqual([
    [2, "two", "build-4"],
    [7, "one", "build-3"],
  ]);
});
