import { expect, test } from "vitest";
import { createOutputSearch } from "./output-search.ts";

function isFound(wanted: string, ...chunks: readonly (string | Buffer)[]): boolean {
  const search = createOutputSearch(wanted);
  for (const chunk of chunks) search.take(Buffer.from(chunk));
  return search.isFound();
}

const ESC = "\x1b";

const PRESENT: readonly [why: string, wanted: string, text: string][] = [
  ["a word", "passed", "Tests: 42 passed, 0 failed"],
  ["all there is", "ok", "ok"],
  ["one character", "✓", "tests ✓"],
  ["beginnings of itself before it", "aab", "aaaaab"],
  ["more than ASCII", "größer", "viel größer"],
  ["between colours", "42 passed", `${ESC}[1mTests  ${ESC}[32m42${ESC}[39m${ESC}[22m passed`],
  ["between 8-bit escapes", "42 passed", "\u009b32m42\u009b0m passed"],
  ["around a link", "see docs", `see ${ESC}]8;;https://example.org/a?b=c${ESC}\\docs${ESC}]8;;${ESC}\\`],
  ["after a title that ends with a bell", "go", `g${ESC}]0;the title\x07o`],
  ["several lines", "one\ntwo", "zero\none\ntwo\n"],
  ["lines that end in the other way", "one\ntwo", "one\r\ntwo\r\n"],
  ["wanted in the other way", "one\r\ntwo", "one\ntwo"],
  ["before an escape that never ends", "end", `the end${ESC}[3`],
];

test.each(PRESENT)("it finds %s", (_why, wanted, text) => {
  expect(isFound(wanted, text)).toBe(true);
  const bytes = Buffer.from(text);
  expect(isFound(wanted, ...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toBe(true);
  for (let at = 1; at < bytes.length; at += 1)
    expect(isFound(wanted, bytes.subarray(0, at), bytes.subarray(at))).toBe(true);
});

test.each([
  ["another text", "43 passed", "42 passed"],
  ["the same in another case", "Passed", "passed"],
  ["only the beginning of it", "passed", "passe"],
  ["nothing at all", "x", ""],
  ["what stands in a title", "secret", `${ESC}]0;secret\x07`],
  ["parts of an escape", "31m", `${ESC}[31mred${ESC}[0m`],
])("it does not find %s", (_why, wanted, text) => {
  expect(isFound(wanted, text)).toBe(false);
  expect(isFound(wanted, ...Array.from(text))).toBe(false);
});

test("what is far from the end was there", () => {
  const search = createOutputSearch("needle");
  search.take(Buffer.from("a needle"));
  for (let count = 0; count < 1_000; count += 1) search.take(Buffer.alloc(65_536, "x"));
  expect(search.isFound()).toBe(true);
});

test("an escape that never ends hides nothing for ever, and is not kept", () => {
  const search = createOutputSearch("needle");
  search.take(Buffer.from(`${ESC}]0;`));
  for (let count = 0; count < 1_000; count += 1) search.take(Buffer.alloc(65_536, "x"));
  search.take(Buffer.from("needle"));
  expect(search.isFound()).toBe(true);
});
