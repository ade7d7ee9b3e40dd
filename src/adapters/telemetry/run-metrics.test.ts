import { expect, test } from "vitest";
import { Metric } from "./run-telemetry.ts";

test("a sum adds up by what its values are about, and is nothing as long as there are none", () => {
  const sum = new Metric("things", "{thing}", "Things", "count");
  expect(sum.json(0, 1)).toBeNull();
  for (const kind of ["a", "b", "a"]) sum.add(1, { kind });
  expect(sum.json(1_000, 2_000)).toEqual({
    name: "things",
    unit: "{thing}",
    description: "Things",
    sum: {
      aggregationTemporality: 2,
      isMonotonic: true,
      dataPoints: [
        { ...point("a"), asInt: "2" },
        { ...point("b"), asInt: "1" },
      ],
    },
  });
});

function point(kind: string): object {
  return {
    attributes: [{ key: "kind", value: { stringValue: kind } }],
    startTimeUnixNano: "1000000000",
    timeUnixNano: "2000000000",
  };
}

test("a histogram counts a value in the bucket whose upper bound it does not pass", () => {
  const histogram = new Metric("times", "s", "Times", [1, 10]);
  for (const value of [0, 1, 1.5, 10, 11]) histogram.add(value, {});
  expect(histogram.json(0, 0)).toMatchObject({
    histogram: {
      dataPoints: [
        { bucketCounts: ["2", "2", "1"], explicitBounds: [1, 10], count: "5", sum: 23.5, min: 0, max: 11 },
      ],
    },
  });
});
