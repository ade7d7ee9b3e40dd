import { describe, expect, test } from "vitest";
import { figureOf, meetsTarget, type Figure } from "../../bench/benchmark.ts";
import { regressions } from "../../bench/recorded.ts";

function figure(more: Partial<Figure> = {}): Figure {
  return { name: "a figure", unit: "ms", floorIs: "bare", floor: 10, ours: 12, spread: 0.02, ...more };
}

function recorded(one: Figure) {
  return { at: "2026-01-01", machine: "some machine", figures: [one] };
}

describe("figures beside those that were kept", () => {
  test("a slower machine is no regression: only ratios are compared", () => {
    expect(regressions([figure({ floor: 100, ours: 121 })], recorded(figure()))).toEqual([]);
  });

  test("a ratio that is worse than noise explains is told with both ratios", () => {
    const [complaint] = regressions([figure({ ours: 15 })], recorded(figure()));
    expect(complaint).toContain("1.50 × its floor, recorded with 1.20 ×");
  });

  test("where rounds lie further apart, more is noise", () => {
    expect(regressions([figure({ ours: 15, spread: 0.1 })], recorded(figure()))).toEqual([]);
  });

  test("what is new, or was never recorded, cannot have become worse", () => {
    expect(regressions([figure({ name: "new", ours: 99 })], recorded(figure()))).toEqual([]);
    expect(regressions([figure({ ours: 99 })], null)).toEqual([]);
  });
});

describe("a figure", () => {
  test("is the middle of all rounds, and knows how far they lay apart", () => {
    const rounds = { ours: [[20], [22], [18], [20], [90]], floor: [[10], [10], [10], [10], [10]] };
    const made = figureOf({ name: "a", floorIs: "b" }, rounds);
    expect(made).toMatchObject({ floor: 10, unit: "ms" });
    expect(made.ours).toBeCloseTo(20.67, 1);
    expect(made.spread).toBeCloseTo(0.1);
  });

  test("meets its target as a ratio, a difference or by itself", () => {
    expect(meetsTarget(figure())).toBeNull();
    expect(meetsTarget(figure({ target: { of: "ratio", atMost: 1.2 } }))).toBe(true);
    expect(meetsTarget(figure({ target: { of: "ratio", atMost: 1.1 } }))).toBe(false);
    expect(meetsTarget(figure({ target: { of: "difference", atMost: 1 } }))).toBe(false);
    expect(meetsTarget(figure({ target: { of: "ours", atMost: 12 } }))).toBe(true);
  });
});
