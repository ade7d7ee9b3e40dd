import { expect, test } from "vitest";
import { readYaml } from "./read-yaml.ts";

test("a key that is itself a map is refused, however deep they are nested", () => {
  expect(() => readYaml("? ".repeat(800))).toThrow(/a key must be a single word|not valid YAML/);
  expect(() => readYaml("a:\n  ? [b, c]\n  : d\n")).toThrow("a key must be a single word");
});
