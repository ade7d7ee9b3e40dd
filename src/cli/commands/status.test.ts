import { expect, test } from "vitest";
import { loopLines } from "./status.ts";

const LOOP = { task: "TASK-001", stage: "coder", iteration: 3, maxIterations: 15, promise: "DONE" };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

test.each([
  [0, "0s"],
  [59 * SECOND + 999, "59s"],
  [5 * MINUTE + 59 * SECOND, "5m"],
  [125 * MINUTE, "2h 5m"],
  [-MINUTE, "0s"],
])("a loop that began %i ms ago", (age, words) => {
  expect(loopLines([{ ...LOOP, startedAt: 10 * MINUTE }], 10 * MINUTE + age)).toEqual([
    "Active Ralph Loops:",
    `  TASK-001 (coder): iteration 3/15, started ${words} ago`,
  ]);
});

test("without a loop it says so", () => {
  expect(loopLines([], 0)).toEqual(["Active Ralph Loops:", "  none"]);
});
