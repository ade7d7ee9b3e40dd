import { expect, test } from "vitest";
import { plainLine, wrapped, wrappedWords } from "./plain-line.ts";

test.each([
  ["escapes", "\x1b[31mred\x1b[0m \x1b]0;title\x07text", "red text"],
  ["controls", "a\x00b\x07c\x7fd", "abcd"],
  ["lines", "a\nb\r\nc\rd", "a b c d"],
  ["tabs", "a\tb", "a    b"],
  ["changes of direction", "abc\u202edef\u2066g", "abcdefg"],
  ["other scripts stay", "漢字 é 👩‍👩‍👧", "漢字 é 👩‍👩‍👧"],
])("%s", (_, text, plain) => {
  expect(plainLine(text)).toBe(plain);
});

test("rows are as wide as their characters are", () => {
  expect(wrapped("abcdef", 4)).toEqual(["abcd", "ef"]);
  expect(wrapped("漢字漢字", 5)).toEqual(["漢字", "漢字"]);
  expect(wrapped("", 5)).toEqual([""]);
  expect(wrapped("a👩‍👩‍👧b", 3)).toEqual(["a👩‍👩‍👧", "b"]);
});

test("rows break between words where they can", () => {
  expect(wrappedWords("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrappedWords("a verylongword b", 5)).toEqual(["a", "veryl", "ongwo", "rd b"]);
});
