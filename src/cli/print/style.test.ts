import { expect, test } from "vitest";
import { guarded, REWRITE, wrap } from "./style.ts";

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

test.each([
  ["plain\ttext\r\n", "plain\ttext\r\n"],
  ["\u001b[32m✔\u001b[39m done", "\u001b[32m✔\u001b[39m done"],
  [`${REWRITE}\u001b[2m1s\u001b[22m`, `${REWRITE}\u001b[2m1s\u001b[22m`],
  [`a${REWRITE}b`, "a b"],
  ["\u001b]52;c;ZXZpbA==\u0007a\u001b[2J\u009b31mb\u001bc\u0090\u009c", "ab"],
  ["\u001b]52;c;\u001b[1mZXZpbA==\u0007", "52;c;\u001b[1mZXZpbA=="],
  ["real\rfake \u202eesrever\u0008", "real fake esrever"],
])("of %j a terminal gets %j", (text, shown) => {
  expect(guarded(text, true)).toBe(shown);
  expect(guarded(text, false)).not.toContain("\u001b");
});
