import { expect, test } from "vitest";
import { readYaml } from "./read-yaml.ts";

test("a key that is itself a map is refused, however deep they are nested", () => {
  expect(() => readYaml("? ".repeat(800))).toThrow(/a key must be a single word|not valid YAML/);
  expect(() => readYaml("a:\n  ? [b, c]\n  : d\n")).toThrow("a key must be a single word");
});

test("an alias of nothing is refused with its line, and so are aliases of aliases without end", () => {
  expect(() => readYaml("a: 1\nb:\n  - *nobody\n")).toThrow(
    expect.objectContaining({ line: 3, message: expect.stringContaining("nobody") as unknown }),
  );
  const levels = Array.from({ length: 12 }, (_, index) => {
    const below = index === 0 ? "x" : `*a${index - 1}`;
    return `a${index}: &a${index} [${Array.from({ length: 9 }, () => below).join(", ")}]\n`;
  });
  expect(() => readYaml(levels.join(""))).toThrow("not valid here");
});
