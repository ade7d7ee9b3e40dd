import { expect, test } from "vitest";
import { iterationEnded, iterationStarted, runResumed, runStarted, task } from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { UNKNOWN_USAGE } from "../streams/agent-report.ts";
import { iterationRows } from "./iteration-record.ts";
import { type RunEntry, runList } from "./run-list.ts";

const A = task("a");

const listOf = (events: readonly Recorded[]): readonly RunEntry[] => runList(events, iterationRows(events));

function recorded(...events: readonly Event[]): readonly Recorded[] {
  return events.map((event, index): Recorded => ({ ...event, position: index + 1, at: index + 1 }));
}

test("a list of runs has the newest first, with what each cost and brought", () => {
  const usage = { ...UNKNOWN_USAGE, costUsd: 0.25 };
  const runs = listOf(
    recorded(
      runStarted({ lanes: 2 }, "run-0"),
      { type: "run.ended", run: "run-0", outcome: "blocked", reason: "a waits" },
      runStarted(),
      iterationStarted(1, A),
      iterationEnded(1, A, "none"),
      iterationStarted(2, A),
      iterationEnded(2, A, "complete", { usage }),
    ),
  );
  expect(runs).toMatchObject([
    { id: "run-1", startedAt: 3, endedAt: null, outcome: null, exitCode: null, iterations: 2, costUsd: 0.25 },
    { id: "run-0", endedAt: 2, outcome: "blocked", reason: "a waits", exitCode: 2, lanes: 2, costUsd: null },
  ]);
});

test("a run that was taken up again has the settings of then", () => {
  const [run] = listOf(recorded(runStarted({ agent: "one" }), runResumed({ agent: "two", lanes: 3 })));
  expect(run).toMatchObject({ agent: "two", lanes: 3, source: "TODO.md", startedAt: 1 });
});

test("there is nothing to list without a run", () => {
  expect(listOf([])).toEqual([]);
});
