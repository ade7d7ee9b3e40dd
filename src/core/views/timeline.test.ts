import { describe, expect, test } from "vitest";
import {
  baselineMeasured,
  evidence,
  gatesChecked,
  iterationEnded,
  iterationStarted,
  runResumed,
  runStarted,
  task,
} from "../../../test/spec/given.ts";
import type { Event, EventOf, Recorded } from "../events.ts";
import { UNKNOWN_USAGE } from "../streams/agent-report.ts";
import { timelineOf, type TimeSpan } from "./timeline.ts";

const A = task("a");
const B = task("b");

const ABOUT = { run: "run-1", task: "a", iteration: 1 } as const;
const ENDED: Event = { type: "run.ended", run: "run-1", outcome: "completed", reason: "all tasks are done" };

function verdict(iteration: number, ruling: EventOf<"verdict.reached">["verdict"], why: string): Event {
  const reasons = [{ rule: "claim", sentence: why }];
  const rest = { madeProgress: true, retryAt: null, exitSignal: null };
  return { ...ABOUT, type: "verdict.reached", iteration, verdict: ruling, reasons, ...rest };
}

function opened(id: string): Event {
  const merge = "rebase" as const;
  return {
    type: "worktree.opened",
    run: "run-1",
    task: id,
    root: "/w",
    branch: id,
    base: "main",
    merge,
    copied: [],
  };
}

/** Facts ten seconds apart, the first at 10. */
function recorded(...events: readonly Event[]): readonly Recorded[] {
  return events.map((event, index): Recorded => ({
    ...event,
    position: index + 1,
    at: (index + 1) * 10_000,
  }));
}

function spansOf(...events: readonly Event[]): readonly TimeSpan[] {
  return timelineOf(recorded(...events), "run-1")?.spans ?? [];
}

/** "agent 1 20–30": what, in which lane, between which seconds. */
function inShort({ is, lane, from, to }: TimeSpan): string {
  return `${is} ${lane ?? "all"} ${from / 1_000}–${to === null ? "" : to / 1_000}`;
}

describe("a time line", () => {
  test("of workers has as many lanes as were used at a time, and says who it was", () => {
    const line = timelineOf(
      recorded(
        runStarted({ lanes: 1_000, shared: true }),
        iterationStarted(1, A, { lane: 1, worker: "w-1" }),
        iterationStarted(2, B, { lane: 3, worker: "w-2" }),
      ),
      "run-1",
    );
    expect(line?.lanes).toBe(3);
    expect(line?.spans.map(({ worker }) => worker)).toEqual(["w-1", "w-2"]);
  });

  test("has the agent and its gates one after the other, with the verdict and its reasons", () => {
    const spans = spansOf(
      runStarted(),
      iterationStarted(1, A),
      iterationEnded(1, A, "complete"),
      evidence(1, A, ["x.ts"]),
      gatesChecked(1, A, { status: "failed", exitCode: 1 }),
      verdict(1, "rejected", 'gate "tests" failed (exit 1)'),
      ENDED,
    );
    expect(spans.map(inShort)).toEqual(["agent 1 20–30", "gates 1 40–50"]);
    expect(spans).toMatchObject([
      { task: "a", iteration: 1, agent: "stub", verdict: "rejected", says: 'gate "tests" failed (exit 1).' },
      { task: "a", iteration: 1, verdict: null, says: 'gate "tests" failed (exit 1).' },
    ]);
  });

  test("has the old checks as long as they took, and the reader from the question to the answer", () => {
    const [checked] = recorded(gatesChecked(1, A, { status: "failed", exitCode: 1 }));
    const gates = checked?.type === "gates.checked" ? checked.gates : [];
    const reading = {
      agent: "critic",
      review: { criteria: [], concerns: [{ concern: 1, answer: "real", reason: "the test is gone" }] },
      failure: null,
      undone: [],
      usage: UNKNOWN_USAGE,
      durationMs: 5,
    } as const;
    const spans = spansOf(
      runStarted(),
      iterationStarted(1, A),
      iterationEnded(1, A, "complete"),
      evidence(1, A, ["x.ts"]),
      gatesChecked(1, A, {}),
      { ...ABOUT, type: "old-checks.ran", oldChecks: { files: ["x.test.ts"], gates }, durationMs: 4_000 },
      { ...ABOUT, type: "reader.asked", agent: "critic", marker: "m" },
      { ...ABOUT, type: "reader.answered", reading },
      verdict(1, "rejected", "the test is gone"),
    );
    expect(spans.map(inShort)).toEqual([
      "agent 1 20–30",
      "gates 1 40–50",
      "old-checks 1 56–60",
      "reader 1 70–80",
    ]);
    expect(spans.slice(2)).toMatchObject([
      { says: 'With x.test.ts as before the task: gate "tests" failed (exit 1).' },
      { agent: "critic", says: "critic read the claim: 1 objection (the test is gone)." },
    ]);
  });

  test("has no gates where none was asked", () => {
    const spans = spansOf(
      runStarted(),
      iterationStarted(1, A),
      iterationEnded(1, A, "none"),
      evidence(1, A, []),
      verdict(1, "continue", "the agent says that there is more to do"),
    );
    expect(spans.map(inShort)).toEqual(["agent 1 20–30"]);
  });

  test("leaves open what is under way", () => {
    const running = timelineOf(
      recorded(runStarted({ lanes: 2 }), iterationStarted(1, A, { lane: 2 })),
      "run-1",
    );
    expect(running).toMatchObject({ from: 10_000, to: null, lanes: 2 });
    expect(running?.spans.map(inShort)).toEqual(["agent 2 20–"]);
    const checking = [iterationStarted(1, A), iterationEnded(1, A, "complete"), evidence(1, A, [])];
    expect(spansOf(runStarted(), ...checking).map(inShort)).toEqual(["agent 1 20–30", "gates 1 40–"]);
  });

  test("puts a baseline into the lane of the iteration that follows, as long as its gates took", () => {
    const spans = spansOf(
      runStarted({ lanes: 2 }),
      baselineMeasured(A, { name: "tests", durationMs: 4_000 }),
      baselineMeasured(B, { name: "tests", durationMs: 40_000, status: "failed", exitCode: 1 }),
      iterationStarted(1, A, { lane: 2 }),
      iterationStarted(2, B, { lane: 1 }),
    );
    expect(spans.slice(0, 2).map(inShort)).toEqual(["baseline 2 16–20", "baseline 1 20–30"]);
    expect(spans[1]?.says).toBe('Red before the task began: gate "tests" (exit 1).');
  });

  test("draws a wait until the next iteration, for all lanes", () => {
    const wait: Event = { type: "wait.started", run: "run-1", until: 0, why: "the agent is limited" };
    const exhausted: Event = { type: "calls.exhausted", run: "run-1", until: 0 };
    const spans = spansOf(
      runStarted(),
      wait,
      iterationStarted(1, A),
      iterationEnded(1, A, "none"),
      exhausted,
      ENDED,
    );
    expect(spans.map(inShort)).toEqual(["wait all 20–30", "agent 1 30–40", "wait all 50–60"]);
    expect(spans[0]?.says).toBe("the agent is limited.");
  });

  test("draws merges of tasks that were worked on beside the base, one at a time", () => {
    const completed = (id: string, iteration: number): Event => ({
      ...ABOUT,
      type: "task.completed",
      task: id,
      iteration,
      commit: "c",
      certificate: {
        claim: "COMPLETE",
        agent: "stub",
        base: null,
        changed: { files: 1, paths: ["x"] },
        gates: [],
        checks: [],
        warnings: [],
        iterations: 1,
        costUsd: null,
      },
    });
    const work = [iterationStarted(1, A, { lane: 1 }), iterationStarted(2, B, { lane: 2 })];
    const ends = [iterationEnded(1, A, "complete"), iterationEnded(2, B, "complete")];
    const accepted = [completed("a", 1), completed("b", 2)];
    const merged: Event = { ...ABOUT, type: "task.merged", from: "1", to: "2" };
    const conflict: Event = {
      ...ABOUT,
      type: "merge.failed",
      task: "b",
      iteration: 2,
      base: "main",
      conflicts: ["x"],
      gates: [],
    };
    const merges = spansOf(
      runStarted({ lanes: 2 }),
      opened("a"),
      opened("b"),
      ...work,
      ...ends,
      ...accepted,
      merged,
      conflict,
    ).filter(({ is }) => is === "merge");
    expect(merges.map(inShort)).toEqual(["merge 1 80–100", "merge 2 100–110"]);
    expect(merges.map(({ says }) => says)).toEqual([
      "It was merged: 2.",
      "It did not merge into main: conflicts in x.",
    ]);
    expect(spansOf(runStarted(), ...work, ...ends, ...accepted).some(({ is }) => is === "merge")).toBe(false);
  });

  test("closes an interrupted iteration when its run is taken up again", () => {
    const spans = spansOf(
      runStarted(),
      iterationStarted(1, A),
      runResumed(),
      iterationEnded(1, A, "none", { ending: { is: "interrupted" } }),
      evidence(1, A, []),
      verdict(1, "failed", "interrupted"),
      iterationStarted(2, A),
      iterationEnded(2, A, "complete"),
      evidence(2, A, []),
      runResumed(),
      gatesChecked(2, A, {}),
    );
    expect(spans.map(inShort)).toEqual([
      "agent 1 20–30",
      "agent 1 70–80",
      "gates 1 90–100",
      "gates 1 100–110",
    ]);
    expect(spans[0]).toMatchObject({ verdict: "failed" });
  });

  test("is that of one run, and there is none of an unknown one", () => {
    const events = recorded(runStarted({}, "run-0"), runStarted(), iterationStarted(1, A), ENDED);
    expect(timelineOf(events, "run-0")).toMatchObject({ from: 10_000, to: null, spans: [] });
    expect(timelineOf(events, "run-1")).toMatchObject({ from: 20_000, to: 40_000 });
    expect(timelineOf(events, "run-2")).toBeNull();
  });
});
