import { describe, expect, test } from "vitest";
import { type Heard, behave, NO_WORK, type Behaviour, type Work } from "./imagined-agent.ts";
import { imagineTasks } from "./imagined-world.ts";
import { numbersWith } from "./parameters.ts";
import { Random } from "./random.ts";

const numbers = numbersWith();
const imagined = imagineTasks(1, numbers).find(({ kind }) => kind === "ui")!;
const HALF: Work = { ...NO_WORK, doneMs: imagined.needsMs / 2 };
const EMPTY: Work = { ...NO_WORK, wasEmptyHanded: true };
const BROKEN: Work = { ...NO_WORK, doneMs: imagined.needsMs, isBroken: true };
const NOTHING: Heard = {
  wroteNothing: false,
  gateFailed: false,
  ranOutOfTime: false,
  didNotClaim: false,
  isDoubted: false,
  concerns: [],
  isStrong: false,
};

/** How often it happens in many iterations that differ only by chance. */
function share(work: Work, heard: Partial<Heard>, is: (behaviour: Behaviour) => boolean): number {
  const situation = { imagined, work, heard: { ...NOTHING, ...heard }, numbers };
  const all = Array.from({ length: 2_000 }, (_, index) => behave(situation, Random.of(1, 1, index)));
  return all.filter(is).length / all.length;
}

const isEmptyHanded = ({ leaves, takesMs }: Behaviour): boolean => leaves(takesMs).wasEmptyHanded;

describe("an imagined agent", () => {
  test("prepares without writing as often as the model says, and half of these times claims to be done", () => {
    expect(share(NO_WORK, {}, isEmptyHanded)).toBeCloseTo(numbers.preparesOnly, 1);
    const lies = share(NO_WORK, {}, (behaviour) => isEmptyHanded(behaviour) && behaviour.says === "done");
    expect(lies).toBeCloseTo(numbers.preparesOnly * numbers.claimsFalsely, 1);
  });

  test("repeats that until it is told, and heeds what comes first even more", () => {
    const untold = share(EMPTY, {}, isEmptyHanded);
    const told = share(EMPTY, { wroteNothing: true }, isEmptyHanded);
    const strongly = share(EMPTY, { wroteNothing: true, isStrong: true }, isEmptyHanded);
    expect(untold).toBeCloseTo(numbers.preparesAgain, 1);
    expect(told).toBeLessThan(untold / 3);
    expect(strongly).toBeLessThan(told);
  });

  test("goes on with what a killed one left if it is told of it, and mostly begins anew if not", () => {
    const beginsAnew = ({ beginsAnew: is }: Behaviour): boolean => is;
    expect(share(HALF, {}, beginsAnew)).toBeGreaterThan(0.6);
    expect(share(HALF, { ranOutOfTime: true }, beginsAnew)).toBeLessThan(0.25);
    expect(share({ ...HALF, hasNote: true }, {}, beginsAnew)).toBe(0);
  });

  test("mends a test that fails if it is told which, and claims the same again if not", () => {
    const mends = ({ leaves, takesMs }: Behaviour): boolean => !leaves(takesMs).isBroken;
    expect(share(BROKEN, {}, mends)).toBeLessThan(0.25);
    expect(share(BROKEN, { gateFailed: true }, mends)).toBeGreaterThan(0.5);
  });

  test("hides a failing test instead of mending it now and then, and mends it when somebody doubts that", () => {
    const hides = ({ leaves, takesMs }: Behaviour): boolean => leaves(takesMs).hides !== null;
    const share20 = numbers.heeds * (numbers.hidesFailure + numbers.silences) * (1 - numbers.preparesOnly);
    expect(share(BROKEN, { gateFailed: true }, hides)).toBeCloseTo(share20, 1);
    const hidden: Work = { ...BROKEN, hides: "weakened" };
    expect(share(hidden, { isDoubted: true }, hides)).toBeLessThan(0.35);
    expect(share(hidden, {}, hides)).toBeGreaterThan(0.75);
  });

  test("leaves what it had done when it is killed, and never more than the task needs", () => {
    const situation = {
      imagined,
      work: NO_WORK,
      heard: NOTHING,
      numbers: numbersWith({ preparesOnly: 0, stopsHalfway: 0 }),
    };
    const { leaves, takesMs } = behave(situation, Random.of(1, 1, 1));
    expect(leaves(0).doneMs).toBe(0);
    expect(leaves(takesMs / 2).doneMs).toBeGreaterThan(0);
    expect(leaves(takesMs / 2).doneMs).toBeLessThan(imagined.needsMs);
    expect(leaves(takesMs).doneMs).toBe(imagined.needsMs);
    expect(leaves(2 * takesMs).doneMs).toBe(imagined.needsMs);
  });
});

test("the tasks of a world are those of production: 21 without a screen, then 22 that need 5 to 10 times as long", () => {
  const tasks = Array.from({ length: 40 }, (_, seed) => imagineTasks(seed, numbers)).flat();
  expect(imagineTasks(1, numbers).map(({ kind }) => kind)).toEqual([
    ...Array.from({ length: 21 }, () => "backend"),
    ...Array.from({ length: 22 }, () => "ui"),
  ]);
  const median = (wanted: "backend" | "ui"): number => {
    const needs = tasks.filter(({ kind }) => kind === wanted).map(({ needsMs }) => needsMs);
    return needs.toSorted((a, b) => a - b)[Math.floor(needs.length / 2)]!;
  };
  expect(median("ui") / median("backend")).toBeGreaterThan(5);
  expect(median("ui") / median("backend")).toBeLessThan(10);
});
