import { expect, test } from "vitest";
import { readJson } from "./config-text.ts";

test("nesting without end is refused with a line, not with a crash", () => {
  expect(() => readJson(`\n${"[".repeat(200_000)}`)).toThrow("levels");
  expect(() => readJson(`{"a":`.repeat(50_000))).toThrow("levels");
});
