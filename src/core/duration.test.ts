import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "./time.ts";

describe("a duration in words", () => {
  test.each([
    ["90s", 90_000],
    ["45m", 2_700_000],
    ["45min", 2_700_000],
    ["2h", 7_200_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["1h30m15s", 5_415_000],
    ["500ms", 500],
    ["1.5h", 5_400_000],
    [" 2H ", 7_200_000],
    ["0", 0],
  ])("%j is %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test("a bare number is seconds", () => {
    expect(parseDuration("90")).toBe(90_000);
    expect(parseDuration("0.5")).toBe(500);
  });

  test.each(["", "soon", "-5", "-5s", "5 days", "h", "1h30", "1,5h", "Infinity", "1e3"])(
    "%j is none",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe("a duration for people", () => {
  test.each([
    [0, "0s"],
    [-17_995_800, "0s"],
    [1_500, "1.5s"],
    [59_000, "59s"],
    [60_000, "1m"],
    [2_843_000, "47m 23s"],
    [3_600_000, "1h"],
    [5_400_000, "1h 30m"],
  ])("%i ms is %j", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
