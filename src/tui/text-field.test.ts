import { expect, test } from "vitest";
import type { Key } from "./key.ts";
import { edited, EMPTY_FIELD, withText } from "./text-field.ts";

const ctrl = (text: string): Key => ({ is: "ctrl", text });

test.each<[string, readonly Key[], string]>([
  ["text goes where the cursor is", [{ is: "left" }, { is: "text", text: "x" }], "one twx|o"],
  ["backspace takes a whole character", [{ is: "text", text: "é👩‍👩‍👧" }, { is: "backspace" }], "one twoé|"],
  ["delete takes the next one", [{ is: "home" }, { is: "delete" }], "|ne two"],
  ["the cursor stays inside", [{ is: "end" }, { is: "right" }], "one two|"],
  ["Ctrl-A and Ctrl-E go to the ends", [ctrl("a"), { is: "right" }, ctrl("e")], "one two|"],
  ["Ctrl-W takes a word", [ctrl("w")], "one |"],
  ["Ctrl-U takes what is before, Ctrl-K what comes after", [{ is: "left" }, ctrl("u")], "|o"],
  ["other keys change nothing", [{ is: "page-up" }, ctrl("x")], "one two|"],
])("%s", (_, keys, result) => {
  const { before, after } = keys.reduce(edited, withText(EMPTY_FIELD, "one two"));
  expect(`${before}|${after}`).toBe(result);
});
