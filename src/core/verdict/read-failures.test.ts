import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { FAILED, GREEN } from "../../../test/fixtures/gate-tails.ts";
import { newFailures, readFailures } from "./read-failures.ts";

describe("what failed", () => {
  test.each(FAILED)("in the output of $tool", ({ tail, failures }) => {
    expect(readFailures(tail)).toEqual(failures);
  });

  test.each(GREEN)("is nothing in the green output of %s", (_tool, tail) => {
    expect(readFailures(tail)).toEqual([]);
  });

  test.each([
    ["a duration", "✖ adds (1.2ms)", "✖ adds (431.89ms)"],
    ["a duration in seconds", "FAIL src/a.test.js (5.2 s)", "FAIL src/a.test.js"],
    ["a duration without brackets", " × adds 4ms", " × adds 1.20s"],
    ["the place in a file", "src/a.ts(1,2): error TS1: x", "src/a.ts(33,4): error TS1: x"],
    ["where the project lies", "/home/a/app/src/a.c:1:2: error: x", "/tmp/w-17/src/a.c:9:9: error: x"],
    ["an address", "not ok 1 - at 0x7ffee4", "not ok 2 - at 0x11"],
    ["an identifier", "× u 0b6c4f1a-5d0b-4a5e-9a53-1f0c8d1c2b3a", "× u 9b6c4f1a-5d0b-4a5e-9a53-1f0c8d1c2b3a"],
    [
      "numbers in a message",
      "a.py:1:1: E501 line too long (88 > 79)",
      "a.py:2:1: E501 line too long (90 > 79)",
    ],
    ["colours", "\u001b[31m✖ adds\u001b[39m", "✖ adds"],
    ["line ends", "✖ adds\r", "✖ adds"],
  ])("has the same name whatever %s is", (_why, one, other) => {
    expect(readFailures(one)).toHaveLength(1);
    expect(readFailures(one)).toEqual(readFailures(other));
  });

  test("has different names where people gave them, numbers and all", () => {
    expect(readFailures("✖ case 1\n✖ case 2\n✖ case 1 of b")).toEqual(["case 1", "case 2", "case 1 of b"]);
  });

  test("is named once, fifty times at most, and briefly", () => {
    const names = Array.from({ length: 80 }, (_, index) => `✖ test number ${index} ${"x".repeat(300)}`);
    const failures = readFailures([...names, ...names].join("\n"));
    expect(failures).toHaveLength(50);
    expect(Math.max(...failures.map(({ length }) => length))).toBe(200);
    expect(readFailures("✖ a\n✖ a (1ms)\n")).toEqual(["a"]);
  });

  test("survives any text, within its limits", () => {
    const pieces = [
      "not ok 1 - ",
      "✖ ",
      "  1) ",
      "1 failing\n",
      "FAIL ",
      "error[E1]: ",
      "a.ts:1:2: error: ",
      "\n",
    ];
    const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(piece), (parts) => {
        const failures = readFailures(parts.join(""));
        expect(failures.every((name) => name !== "" && name.length <= 200 && name.isWellFormed())).toBe(true);
        expect(new Set(failures).size).toBe(failures.length);
      }),
      { seed: 20_261_115 },
    );
  });

  test.each([
    "1) a\n       b\n",
    "✖ a 1ms\n",
    "error: x\n",
    " ",
    "/a",
    ":1",
    "(1,",
    " > ",
    "a.",
    "1",
    "(line 1",
    "[ERROR] a.",
    "\t\n",
  ])("is looked for in proportion to the length: %j", (piece) => {
    const work = (size: number): void => {
      const text = piece.repeat(size / piece.length);
      readFailures(`1 failing\n[ERROR] ${text}`);
      readFailures(`✖ ${text} FAILED`);
      readFailures(`x${text}\ny: ${text} error`);
    };
    expect(growthOfFour(work, 25_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  });
});

test("what was there before is not new", () => {
  expect(newFailures(["a", "b"], ["b", "c"])).toEqual(["c"]);
  expect(newFailures([], ["a"])).toEqual(["a"]);
  expect(newFailures(["a"], [])).toEqual([]);
});
