import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parameter, PARAMETER_NAMES } from "../../src/eval/parameters.ts";

const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "guide", "evaluation.md"), "utf8");
const rows = guide.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));

test.each(PARAMETER_NAMES)("the guide says of %s what the model has", (name) => {
  const { value, source, sentence, range } = parameter(name);
  const ends = range === undefined ? "" : `${range[0]} to ${range[1]}`;
  expect(rows).toContainEqual(["", `\`${name}\``, String(value), ends, source, sentence, ""]);
});
