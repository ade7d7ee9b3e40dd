import { expect, test } from "vitest";
import { wrap } from "./style.ts";

test("a short text stays on one line", () => {
  expect(wrap("  7  ", "claimed COMPLETE.")).toEqual(["  7  claimed COMPLETE."]);
});

test("a long text goes on below its first word, and no line is wider than it may be", () => {
  const lines = wrap("  7  ", "word ".repeat(60));
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {5}word/);
});

test("a word that does not fit stands alone and is not cut", () => {
  const path = "a".repeat(150);
  expect(wrap("- ", `see ${path} now`)).toEqual(["- see", `  ${path}`, "  now"]);
});
