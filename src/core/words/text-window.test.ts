import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTextWindow } from "./text-window.ts";

function linesOf(length: number, ...lines: string[]): readonly string[] {
  const window = createTextWindow(length);
  for (const line of lines) window.add(line, "plain");
  return window.lines().map(({ text }) => text);
}

test("a short text is kept as it is", () => {
  expect(linesOf(100, "one", "", "two ü😀")).toEqual(["one", "", "two ü😀"]);
  expect(linesOf(100)).toEqual([]);
});

test("of a long one the last whole lines are", () => {
  for (let length = 2; length < 40; length += 1) {
    const kept = linesOf(length, ...Array.from({ length: 30 }, (_, index) => `line ${index}`)).join("|");
    expect("|line 26|line 27|line 28|line 29".endsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThan(length - 2 * "line 10|".length - 8);
  }
});

test("of a long line its end is", () => {
  expect(linesOf(10, "before", "0123456789abcdef")).toEqual(["89abcdef"]);
  expect(linesOf(10, "0123456789abcdef", "x")).toEqual(["x"]);
  expect(linesOf(10, "12345678")).toEqual(["12345678"]);
});

test("blank lines in a row are one", () => {
  expect(linesOf(100, "", "", "a", "", "", "", "b")).toEqual(["", "a", "", "b"]);
});

test("where a line stands is kept", () => {
  const window = createTextWindow(100);
  window.add("a", "fenced");
  window.add("b", "quoted");
  expect(window.lines()).toEqual([
    { text: "a", standing: "fenced" },
    { text: "b", standing: "quoted" },
  ]);
  expect(window.lines()).toHaveLength(2);
});

test("plain lines that come together are kept as if each came alone", () => {
  const line = fc.constantFrom("", "", "a", "bc", "def", "0123456789");
  const passage = fc.array(line, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(passage, { maxLength: 8 }), fc.integer({ min: 3, max: 30 }), (passages, length) => {
      const window = createTextWindow(length);
      for (const lines of passages) window.addPlain(lines.join("\n"));
      expect(window.lines().map(({ text }) => text)).toEqual(linesOf(length, ...passages.flat()));
    }),
    { numRuns: 2_000 },
  );
});
