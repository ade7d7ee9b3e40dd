import { expect, test } from "vitest";
import { edited, EMPTY_FIELD, type Key, keysOf, withText } from "./key.ts";

test.each<[string, string, Parameters<typeof keysOf>[1], unknown]>([
  ["a letter", "a", {}, [{ is: "text", text: "a" }]],
  ["a character of several parts", "👩‍👩‍👧", {}, [{ is: "text", text: "👩‍👩‍👧" }]],
  ["an arrow", "", { upArrow: true }, [{ is: "up" }]],
  ["Enter", "\r", { return: true }, [{ is: "enter" }]],
  ["Shift and Tab", "", { tab: true, shift: true }, [{ is: "back-tab" }]],
  ["Ctrl-C", "c", { ctrl: true }, [{ is: "ctrl", text: "c" }]],
  ["a key with Alt, which means nothing here", "q", { meta: true }, []],
  [
    "several keys at once",
    "y\r\x7f\x03",
    {},
    [{ is: "text", text: "y" }, { is: "enter" }, { is: "backspace" }, { is: "ctrl", text: "c" }],
  ],
])("%s", (_, input, typed, keys) => {
  expect(keysOf(input, typed)).toEqual(keys);
});

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
