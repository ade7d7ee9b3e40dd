import { expect, test } from "vitest";
import { explore, pointsOf, type Point } from "./explore.ts";
import type { SceneName } from "./scene.ts";

/** So many, from the first to the last; `npm run crash-points` has them all. */
const SPREAD: readonly (readonly [SceneName, number])[] = [
  ["serial", 2],
  ["asides", 2],
  ["lanes", 2],
  ["old-checks", 3],
  ["old-checks-copy", 1],
];

test.each(SPREAD)(
  "kill -9 at some steps of a run, %s: nothing is lost, doubled or left",
  async (scene, count) => {
    const points = await pointsOf(scene);
    expect(points.length).toBeGreaterThan(100);
    const { deaths, failures } = await explore(spread(points, count), count);
    expect(failures).toEqual([]);
    // How many steps there are depends a little on time, so that one near the end may not be reached.
    expect(deaths).toBeGreaterThan(0);
  },
);

/** In the middle of as many equal parts. */
function spread(points: readonly Point[], count: number): readonly Point[] {
  const part = points.length / count;
  return Array.from({ length: count }, (_, index) => points[Math.floor((index + 0.5) * part)]!);
}
