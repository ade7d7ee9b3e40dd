// No text takes more than its length explains, whoever reads it. `test/signals` and others look closer at their own.
import { expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../fixtures/growth.ts";
import { READERS } from "./reader-targets.ts";
import type { Opened } from "./target.ts";

const SIZE = 8_000;
/**
 * YAML is read by a library with a mind of its own, and only from files of at most 100 kB: a second in all. Signals have
 * more shapes in their own tests.
 */
const LINEAR = READERS.filter(({ name }) => !["yaml", "signals"].includes(name));

const repeated =
  (unit: string, before = "", after = "") =>
  (size: number): string =>
    before + unit.repeat(Math.ceil(size / unit.length)) + after;

const nested =
  (open: string, close: string) =>
  (size: number): string =>
    open.repeat(size / (open.length + close.length)) + close.repeat(size / (open.length + close.length));

const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  "one long word": repeated("a"),
  "one long line of words": repeated("word "),
  "one long text in JSON": repeated("a", '{"type":"', '"}'),
  "many empty lines": repeated("\n"),
  "many keys": (size) => `{${Array.from({ length: size / 12 }, (_, at) => `"k${at}": ${at}`).join(",\n")}}`,
  "many sections": (size) => Array.from({ length: size / 16 }, (_, at) => `[a${at}]\nb = 1\n`).join(""),
  "many lines of YAML": (size) => Array.from({ length: size / 10 }, (_, at) => `k${at}: ${at}\n`).join(""),
  "a long list": repeated("1, ", "[", "1]"),
  "nested lists": nested("[", "]"),
  "nested objects": nested('{"a":', "}"),
  "lists that only open": repeated("["),
  quotes: repeated('"'),
  "escaped quotes": repeated('\\"', '"'),
  backslashes: repeated("\\"),
  boxes: repeated("- [ ] a\n"),
  "boxes in boxes": (size) =>
    Array.from({ length: Math.sqrt(size) }, (_, at) => `${" ".repeat(at)}- [ ] a\n`).join(""),
  "tasks with properties": repeated("- [ ] **a**: b\n  - depends: a, b\n"),
  fences: repeated("```\n"),
  comments: repeated("<!-- "),
  spaces: repeated(" ", "a"),
  variables: repeated("{{a"),
  addresses: repeated("://a:b"),
  tokens: repeated("sk-ant-"),
  "private keys": repeated("-----BEGIN PRIVATE KEY-----\n"),
  "lines of JSON": repeated(
    '{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]},"session_id":"s"}\n',
  ),
  "half a line of JSON": repeated('{"type":"item.completed",'),
  "stack traces": repeated("Error: a\n    at b (c.ts:1:2)\n"),
};

test.each(LINEAR.map((target) => [target.name, target] as const))("%s", async (_, target) => {
  const opened: Opened = await target.open();
  const read = (text: string): void => {
    try {
      void opened.take(text);
    } catch {
      // Whether it is a refusal is looked at elsewhere.
    }
  };
  for (const [shape, make] of Object.entries(SHAPES))
    expect([shape, growthOfFour((size) => read(make(size)), SIZE)]).toEqual([
      shape,
      expect.toSatisfy((growth: number) => growth < LINEAR_GROWTH_MAX),
    ]);
});
