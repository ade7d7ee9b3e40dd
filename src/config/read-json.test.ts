import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BadSyntax } from "./config-text.ts";
import { readJson } from "./read-json.ts";

test("whatever is JSON is read as such", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(readJson(text).value).toEqual(JSON.parse(text));
    }),
  );
});

test("whatever is not JSON is refused with a line, and nothing else is", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "\\",
    "1",
    "-",
    "01",
    "tru",
    "true",
    "\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      // A key that is there twice is the one thing that we refuse and JSON does not.
      fc.pre(!isJson(text) || (text.match(/"a"/g) ?? []).length < 2);
      if (isJson(text)) readJson(text);
      else expect(() => readJson(text)).toThrow(BadSyntax);
    }),
    { numRuns: 2_000 },
  );
});

test("the lines of keys are known, inside lists too", async () => {
  const places = await readJson('{\n  "a": [\n    {"b": 1},\n    {\n      "b": 2}\n  ]\n}').places();
  expect(places.map(({ path, line }) => `${path.join(".")} ${line}`)).toEqual([
    "a 2",
    "a.0 3",
    "a.0.b 3",
    "a.1 4",
    "a.1.b 5",
  ]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // that is the question
  }
}
