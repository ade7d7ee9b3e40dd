// A few thousand small inputs in a moment; `npm run fuzz` has as many as one likes.
import { expect, test } from "vitest";
import { Random } from "../../src/eval/random.ts";
import { EDITS } from "./edit-targets.ts";
import { isRefusal } from "./is-refusal.ts";
import { PROGRAMS } from "./program-targets.ts";
import { READERS } from "./reader-targets.ts";
import type { Target } from "./target.ts";
import { web } from "./web-target.ts";

const ROWS: readonly (readonly [Target, number])[] = [
  ...READERS.map((target) => [target, 80] as const),
  ...EDITS.map((target) => [target, 300] as const),
  ...PROGRAMS.map((target) => [target, 40] as const),
  [web, 100],
];

test.each(ROWS.map(([target, inputs]) => [target.name, target, inputs] as const))(
  "%s takes whatever comes, or refuses it in a sentence",
  async (name, target, inputs) => {
    const opened = await target.open();
    for (let seed = 1; seed <= inputs; seed += 1) {
      try {
        await opened.take(target.make(new Random(seed), true));
      } catch (error) {
        if (!isRefusal(error)) throw new Error(`seed ${seed} of ${name}`, { cause: error });
      }
    }
    await opened.close?.();
  },
);

test("the oracles can fail: a mistake of ours is no refusal", () => {
  expect([new TypeError("x"), new RangeError("x"), new Error("x"), "x"].map(isRefusal)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
