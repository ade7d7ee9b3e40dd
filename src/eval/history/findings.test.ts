import { describe, expect, test } from "vitest";
import {
  limitInWords,
  recoveryInWords,
  timeoutInWords,
  limitFinding,
  type LimitQuestion,
  recoveryFinding,
  timeoutFindings,
} from "./history-findings.ts";
import type { PastIteration } from "./past-iterations.ts";

const PLAIN: PastIteration = {
  iteration: 1,
  task: "one",
  run: "r1",
  loop: 0,
  complexity: "medium",
  timeoutMs: 120_000,
  durationMs: 60_000,
  isTimedOut: false,
  madeProgress: true,
  isAccepted: false,
  isFailed: false,
  isAsking: false,
  wroteFiles: true,
  isFalseClaim: false,
  isCompleted: false,
  costUsd: 0.5,
};
const IDLE: Partial<PastIteration> = { madeProgress: false, wroteFiles: false };
const DONE: Partial<PastIteration> = { isAccepted: true, isCompleted: true };
const TIMEOUT: Partial<PastIteration> = { isTimedOut: true, isFailed: true, durationMs: 120_000 };

function past(task: string, ...iterations: readonly Partial<PastIteration>[]): readonly PastIteration[] {
  return iterations.map((one) => ({ ...PLAIN, task, ...one }));
}

const STUCK: LimitQuestion = {
  setting: "run.max_stuck",
  what: "iterations without progress",
  current: 5,
  counts: ({ madeProgress, isTimedOut }) => (madeProgress ? false : isTimedOut ? null : true),
};

describe("a limit", () => {
  test("saves what came after it in loops that came to nothing, and loses tasks that were done after it", () => {
    const loops = [
      ...past("never", IDLE, IDLE, IDLE, IDLE),
      ...past("late", IDLE, IDLE, DONE),
      ...past("soon", DONE),
    ];
    const { values, best } = limitFinding(loops, STUCK);
    expect(values).toMatchObject([
      { value: 1, saved: { iterations: 3 }, tasksLost: 1 },
      { value: 2, saved: { iterations: 2, seconds: 120, costUsd: 1 }, tasksLost: 1 },
      { value: 3, saved: { iterations: 1 }, tasksLost: 0 },
    ]);
    expect(best).toBe(3);
  });

  test("counts only what is in a row; what neither counts nor helps leaves the row as it is", () => {
    const broken = past("one", IDLE, {}, IDLE, {}, IDLE);
    expect(limitFinding(broken, STUCK).values.map(({ value }) => value)).toEqual([1]);
    const timeouts = past("one", IDLE, { ...IDLE, ...TIMEOUT }, IDLE, {});
    expect(limitFinding(timeouts, STUCK).values.map(({ value }) => value)).toEqual([1, 2]);
  });

  test("counts anew in every run", () => {
    const runs = [
      ...past("one", IDLE, IDLE),
      ...past("one", IDLE, IDLE).map((one) => ({ ...one, run: "r2" })),
    ];
    expect(limitFinding(runs, STUCK).values).toMatchObject([
      { value: 1, endedInTime: 2, saved: { iterations: 2 } },
    ]);
  });

  test("counts anew after whatever lets the loop count anew: the limit in force would have changed nothing", () => {
    const loops = [
      ...past("one", IDLE, IDLE),
      ...past("one", IDLE, IDLE, DONE).map((one) => ({ ...one, loop: 1 })),
    ];
    expect(limitFinding(loops, STUCK).values).toMatchObject([
      { value: 1, saved: { iterations: 1 }, tasksLost: 1 },
      { value: 2, saved: { iterations: 0 }, tasksLost: 1 },
    ]);
  });

  test("is told in a sentence, with what it is now", () => {
    const finding = limitFinding(past("never", IDLE, IDLE, IDLE), STUCK);
    expect(limitInWords(finding)).toBe(
      "run.max_stuck = 1 (now: 5) would have saved 2 iterations, 2m, $1.00, and lost no task.",
    );
    expect(limitInWords(limitFinding(past("one", DONE), STUCK))).toBe(
      "No value of run.max_stuck would have changed anything.",
    );
    expect(limitInWords(limitFinding(past("late", IDLE, DONE), STUCK))).toBe(
      "No value of run.max_stuck would have saved anything without losing a task.",
    );
  });
});

describe("timeouts", () => {
  test("say what accepted iterations took, and what a task needed that timed out first", () => {
    const [finding] = timeoutFindings([
      ...past("slow", TIMEOUT, TIMEOUT, { ...DONE, durationMs: 90_000 }),
      ...past("never", TIMEOUT),
      ...past("quick", { ...DONE, durationMs: 30_000 }),
    ]);
    expect(finding).toMatchObject({
      complexity: "medium",
      iterations: 5,
      accepted: { median: 30, p95: 90, longest: 90 },
      timedOut: 3,
      timedOutInVain: 2,
      needed: { atLeast: 90, atMost: 330 },
    });
    expect(timeoutInWords(finding!)[1]).toContain("2 of them on tasks that were done later");
  });

  test("of tasks that were never done ask for more time, not for fewer attempts", () => {
    const [finding] = timeoutFindings(past("slow", TIMEOUT, TIMEOUT, TIMEOUT));
    expect(timeoutInWords(finding!)[1]).toBe(
      "3 timed out, none of them on a task that was done later: a longer timeout may be what they need (ralph blocked names the command).",
    );
  });

  test("a shorter one saves time without progress, and cuts off work", () => {
    const [finding] = timeoutFindings([
      ...past("idle", { ...IDLE, durationMs: 100_000, costUsd: 1 }),
      ...past("works", { durationMs: 70_000 }),
    ]);
    expect(finding!.caps).toEqual([
      { seconds: 60, saved: { iterations: 1, seconds: 40, costUsd: 0.4 }, cutOff: 1 },
    ]);
  });

  test("are kept apart by complexity", () => {
    const both = [...past("one", DONE), ...past("two", { ...DONE, complexity: "ui_heavy" })];
    expect(timeoutFindings(both).map(({ complexity }) => complexity)).toEqual(["medium", "ui_heavy"]);
  });
});

test("recoveries count what the next iteration did after so many in a row", () => {
  const isBad = ({ wroteFiles }: PastIteration): boolean => !wroteFiles;
  const question = { setting: "threshold", what: "an empty one", current: 3, isBad };
  const finding = recoveryFinding(
    [...past("one", IDLE, IDLE, {}), ...past("two", IDLE, {}), ...past("three", IDLE)],
    question,
  );
  expect(finding.after).toEqual([
    { inARow: 1, times: 2, recovered: 1 },
    { inARow: 2, times: 1, recovered: 1 },
  ]);
  const crashed = { ...IDLE, isFailed: true };
  const claims = { ...question, isBad: ({ isFalseClaim }: PastIteration): boolean => isFalseClaim };
  expect(recoveryFinding(past("one", { isFalseClaim: true }, crashed), claims).after).toEqual([
    { inARow: 1, times: 1, recovered: 0 },
  ]);
  expect(recoveryInWords(finding)).toEqual([
    "threshold (now: 3): after an empty one, the next one was better 1 of 2 times.",
    "threshold (now: 3): after 2 in a row, the next one was better 1 of 1 times.",
  ]);
});
