import type { Curves } from "../../scripts/curves-svg.ts";
import { median } from "../benchmark.ts";
import type { Soak } from "./run-soak.ts";
import type { Sample } from "./sampler.ts";

const POINTS = 60;

/** What the run held and took along its way, in so many stretches of the same length. */
export function soakCurves({ starts, samples, iterations }: Soak): Curves {
  const size = Math.ceil(iterations / POINTS);
  const stretches = Array.from({ length: POINTS }, (_, index) => {
    const from = starts[index * size] ?? Infinity;
    const to = starts[(index + 1) * size] ?? Infinity;
    return {
      at: Math.min((index + 1) * size, iterations),
      samples: samples.filter((sample) => sample.at >= from && sample.at < to),
      ms: starts.slice(index * size, (index + 1) * size + 1).flatMap((at, place, all) => {
        const next = all[place + 1];
        return next === undefined ? [] : [next - at];
      }),
    };
  }).filter((stretch) => stretch.samples.length > 0 && stretch.ms.length > 0);
  const held = (of: (sample: Sample) => number): readonly number[] =>
    stretches.map((stretch) => rounded(median(stretch.samples.map(of))));
  return {
    along: "iterations",
    at: stretches.map(({ at }) => at),
    values: {
      "memory (RSS), MB": held(({ rss }) => rss / 1e6),
      "heap, MB": held(({ heap }) => heap / 1e6),
      "open descriptors": held(({ descriptors }) => descriptors),
      "one iteration, ms": stretches.map(({ ms }) => rounded(median(ms))),
    },
  };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
