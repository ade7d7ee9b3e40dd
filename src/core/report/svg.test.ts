import { expect, test } from "vitest";
import { numberTicks, timeTicks } from "./svg.ts";

const HOUR_MS = 3_600_000;

test.each([
  [0, 1, [0, 1]],
  [3, 1, [0, 1, 2, 3]],
  [9, 1, [0, 5, 10]],
  [0.7, 0, [0, 0.2, 0.4, 0.6, 0.8]],
])("round numbers up to %d, no closer than %d", (largest, closest, expected) => {
  const places = numberTicks(largest, String, closest).map(({ at }) => Number(at.toPrecision(3)));
  expect(places).toEqual(expected);
});

test("round moments between two others", () => {
  const from = Date.UTC(2026, 0, 1, 22, 3);
  const labels = (hours: number, most: number): readonly string[] =>
    timeTicks(from, from + hours * HOUR_MS, most).map(({ label }) => label);
  expect(labels(4, 5)).toEqual(["23:00", "00:00", "01:00", "02:00"]);
  expect(labels(1 / 120, 4)).toEqual(["22:03:00", "22:03:10", "22:03:20", "22:03:30"]);
  expect(labels(72, 4)).toEqual(["01-02", "01-03", "01-04"]);
});
