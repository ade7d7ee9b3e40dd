import { expect, test } from "vitest";
import { keysOf, type Typed } from "./key.ts";

const NOTHING: Typed = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageUp: false,
  pageDown: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  tab: false,
  shift: false,
  backspace: false,
  delete: false,
  ctrl: false,
  meta: false,
};

test.each<[string, string, Partial<Typed>, unknown]>([
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
  expect(keysOf(input, { ...NOTHING, ...typed })).toEqual(keys);
});
