import { expect, test } from "vitest";
import { createRepeatTest } from "./repeats-prompt.ts";

const LONG = "Print it only when everything above is true and your work is verified.";
const PROMPT = `## Task\r\n\r\n   Fix the parser\n\x1b[2mTODO: nothing\x1b[0m\n${LONG}\n`;
const repeats = createRepeatTest(PROMPT);

test.each([
  ["a whole line", "## Task"],
  ["a short one that was indented", "Fix the parser"],
  ["one that is indented now", "\t  Fix the parser "],
  ["one that had colours", "TODO: nothing"],
  ["a long part, as where lines are broken", LONG.slice(5, 40)],
  ["a part of exactly twenty characters", LONG.slice(0, 20)],
  ["a long line whole", LONG],
])("%s is the prompt's", (_, line) => {
  expect(repeats(line)).toBe(true);
});

test.each([
  ["a blank line", ""],
  ["white space", "   "],
  ["a part of less than twenty characters", LONG.slice(0, 19)],
  ["a part of a short line", "Fix the"],
  ["the agent's own words", "I have verified that everything above is true, and it is."],
  ["a line of the prompt with words of the agent's", "Fix the parser, please"],
  ["two lines of the prompt in one", "## Task Fix the parser TODO: nothing"],
])("%s is not", (_, line) => {
  expect(repeats(line)).toBe(false);
});

test("an empty prompt is repeated by nothing", () => {
  expect(createRepeatTest("")("")).toBe(false);
  expect(createRepeatTest("\n\n")("a line that is longer than twenty characters")).toBe(false);
});
