import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { countLines } from "./views.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ["", 0],
  ["one", 0],
  ["one\n", 1],
  ["one\n\ntwo\nhalf", 3],
  [`${"x".repeat(99)}\n`.repeat(10_000), 10_000],
  ["\n".repeat(300_000), 300_000],
])("whole lines are counted (%#)", (text, lines) => {
  const path = join(folder, "file");
  writeFileSync(path, text);
  expect(countLines(path)).toBe(lines);
});
