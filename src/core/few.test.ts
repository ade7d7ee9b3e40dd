import { expect, test } from "vitest";
import { few } from "./text.ts";

test.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b", "c", "d", "e"], "a, b, c, d, e"],
  [["a", "b", "c", "d", "e", "f"], "a, b, c, d, e and 1 more"],
  [["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"],
])("%j in a sentence", (items, sentence) => {
  expect(few(items)).toBe(sentence);
});

test("how many are named can be said", () => {
  expect(few(["a", "b", "c"], 2)).toBe("a, b and 1 more");
});
