import { expect, test } from "vitest";
import { estimate } from "./measures.ts";

test("worlds that all came to the same leave nothing open", () => {
  expect(estimate([0.5, 0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5, worlds: 3 });
});

test("the interval lies round the mean, and never outside of what was measured", () => {
  const values = [0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.9, 1];
  const { mean, low, high } = estimate(values)!;
  expect(mean).toBeCloseTo(0.35);
  expect(low).toBeGreaterThan(0.1);
  expect(low).toBeLessThan(mean);
  expect(high).toBeGreaterThan(mean);
  expect(high).toBeLessThan(0.65);
  expect(estimate(values)).toEqual(estimate(values));
});

test("more worlds narrow it", () => {
  const width = (values: readonly number[]): number => {
    const { low, high } = estimate(values)!;
    return high - low;
  };
  const few = [0.2, 0.4, 0.6, 0.8];
  const many = Array.from({ length: 20 }, () => few).flat();
  expect(width(many)).toBeLessThan(width(few) / 3);
});

test("a world in which there was nothing to measure does not count", () => {
  expect(estimate([null, 0.4, null])).toMatchObject({ mean: 0.4, worlds: 1 });
  expect(estimate([null])).toBeNull();
});
