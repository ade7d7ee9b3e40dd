import { expect, test } from "vitest";
import { withoutEcho } from "./prompt-echo.ts";

const LONG = "Print it only when everything above is true and your work is verified.";
const PROMPT = `## Task\r\n\r\n   Fix the parser\n\x1b[2mTODO: nothing\x1b[0m\n- one\n- two\n- one\n${LONG}\n`;
const ownLines = (...lines: readonly string[]): readonly string[] =>
  withoutEcho(
    lines.map((text) => ({ text })),
    PROMPT,
  ).map(({ text }) => text);

test.each<[string, readonly string[]]>([
  ["three lines in their order", ["## Task", "Fix the parser", "TODO: nothing"]],
  ["lines that are indented now", ["  Fix the parser", "\tTODO: nothing ", "    - one"]],
  ["the last lines, of which one was there before", ["- two", "- one", LONG]],
  ["broken lines", ["Print it only when everything", "above is true and your", "work is verified."]],
  ["several lines in one", ["## Task Fix the parser", "TODO: nothing - one", "- two"]],
])("%s are an echo", (_, lines) => {
  expect(ownLines(...lines)).toEqual([]);
  expect(ownLines("Mine.", ...lines, "Mine too.")).toEqual(["Mine.", "Mine too."]);
});

test("blank lines do not interrupt an echo", () => {
  expect(ownLines("## Task", "", "", "Fix the parser", "", "TODO: nothing")).toEqual(["", "", ""]);
});

test.each<[string, readonly string[]]>([
  ["one line", ["TODO: nothing"]],
  ["two lines", ["Fix the parser", "TODO: nothing"]],
  ["three lines in another order", ["TODO: nothing", "Fix the parser", "## Task"]],
  ["the same line again and again", ["- one", "- one", "- one"]],
  ["three lines with a gap", ["## Task", "TODO: nothing", "- two"]],
  ["three lines with own words between them", ["## Task", "Fix the parser", "Mine.", "TODO: nothing"]],
  ["lines that begin like the prompt's", ["## Task", "Fix the parser", "TODO: nothing else"]],
  ["lines that end in the middle of a word", ["## Task", "Fix the parser", "TODO: noth"]],
  ["blank lines", ["", " ", ""]],
])("%s are the agent's own", (_, lines) => {
  expect(ownLines(...lines)).toEqual(lines);
});

test("nothing repeats an empty prompt", () => {
  const lines = [{ text: "a" }, { text: "b" }, { text: "" }, { text: "c" }];
  expect(withoutEcho(lines, "\n\n")).toEqual(lines);
});
