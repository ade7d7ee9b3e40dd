import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PARAMETERS } from "../../src/eval/parameters.ts";

const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "guide", "evaluation.md"), "utf8");
const rows = guide.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));

test.each(Object.entries(PARAMETERS))("the guide says of %s what the model has", (name, parameter) => {
  const { value, source, sentence } = parameter;
  expect(rows).toContainEqual(["", `\`${name}\``, String(value), source, sentence, ""]);
});
