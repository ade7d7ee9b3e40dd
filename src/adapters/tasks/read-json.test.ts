import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonError, memberOf, type JsonNode } from "../../core/json.ts";
import { readJson } from "./read-json.ts";

/** The value as `JSON.parse` would give it. */
function valueOf(node: JsonNode): unknown {
  if (node.is === "scalar") return node.value;
  if (node.is === "array") return node.items.map(valueOf);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOf(value)]));
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch {
    return "refused";
  }
}

function agrees(text: string): void {
  expect(outcome(() => valueOf(readJson(Buffer.from(text))))).toEqual(outcome(() => JSON.parse(text)));
}

describe("agrees with JSON.parse", () => {
  test.each(
    [
      "",
      " ",
      "0",
      "-0",
      "01",
      "1.",
      ".5",
      "-",
      "1e5",
      "1E+05",
      "1e",
      "1e999",
      "+1",
      "NaN",
      "Infinity",
      "tru",
      "true",
      "truefalse",
      "null ",
      "nul",
      "'a'",
      '"a"',
      '"a',
      '"\\u00e9"',
      '"\\u00g9"',
      '"\\x41"',
      '"\\"',
      '"\\ud83d\\ude00"',
      '"\\ud83d"',
      '"a\tb"',
      '"a\nb"',
      '"é🎉\u2028"',
      '"\x7f"',
      "[]",
      "[1,]",
      "[,1]",
      "[1 2]",
      "[1",
      "[[],[[]]]",
      "{}",
      '{"a":1}',
      '{"a":1,}',
      "{a:1}",
      '{"a" 1}',
      '{"a":}',
      '{"a":1 "b":2}',
      '{"a":1,"a":2}',
      '{"":{"":[]}}',
      '{"__proto__":1}',
      "{",
      "}",
      "//x\n1",
      "/*x*/1",
      "1\u00a0",
      "\f1",
      "[1]]",
      '\r\n\t {"a"\n:\r[ ]\t}\n',
    ].map((text) => [JSON.stringify(text), text]),
  )("%s", (_name, text) => agrees(text));

  test("on any value, however it is indented", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, 2, "\t"), (value, indent) =>
        agrees(JSON.stringify(value, null, indent)),
      ),
      { numRuns: 300, seed: 20_261_115 },
    );
  });

  test("on JSON that was damaged", () => {
    const damage = fc.constantFrom("", '"', "\\", "{", "}", "[", "]", ",", ":", "\n", "0", "é", "true");
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.nat(3), damage, (value, place, length, by) => {
        const text = JSON.stringify(value);
        const at = place % (text.length + 1);
        agrees(text.slice(0, at) + by + text.slice(at + length));
      }),
      { numRuns: 2_000, seed: 20_261_115 },
    );
  });

  test("on pieces thrown together", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"\\n"',
      "1",
      "-2.5e3",
      "null",
      " ",
      "\r\n",
      '"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => agrees(pieces.join(""))),
      { numRuns: 2_000, seed: 20_261_115 },
    );
  });
});

test("every value's bytes are the value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(0, 2), (value, indent) => {
      const file = Buffer.from(JSON.stringify(value, null, indent));
      const check = (node: JsonNode): void => {
        expect(JSON.parse(file.toString("utf8", node.start, node.end))).toEqual(valueOf(node));
        if (node.is === "array") node.items.forEach(check);
        if (node.is === "object") node.members.forEach((member) => check(member.value));
      };
      check(readJson(file));
    }),
    { numRuns: 200, seed: 20_261_115 },
  );
});

test("a byte order mark is skipped, and of equal keys the last counts", () => {
  const node = readJson(Buffer.from('\uFEFF{"a":1,"a":2}'));
  expect(node).toMatchObject({ is: "object", start: 3 });
  expect(node.is === "object" && memberOf(node, "a")?.value).toMatchObject({ value: 2 });
  expect(node.is === "object" && memberOf(node, "b")).toBeNull();
});

test.each([
  ['{"a": 1,}', 8, "a key in double quotes"],
  ["{a: 1}", 1, 'a key in double quotes or "}"'],
  ['{"a" 1}', 5, '":"'],
  ['{"a": }', 6, "a value"],
  ['{"a": 1 "b"', 8, '"," or "}"'],
  ["[1 2]", 3, '"," or "]"'],
  ['"a\nb"', 2, "the end of the text, a double quote"],
  ['"a\\x"', 2, 'an escape such as \\n, \\" or \\u00e9'],
  ["1 2", 2, "the end of the file"],
  ["", 0, "a value"],
  ["[".repeat(2_000), 1_001, "at most 1000 levels"],
])("%.20j is refused at byte %i: expected %s", (text, offset, expected) => {
  const problem = outcomeError(text);
  expect(problem.offset).toBe(offset);
  expect(problem.message).toBe(`expected ${expected}`);
});

function outcomeError(text: string): JsonError {
  try {
    readJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof JsonError) return error;
  }
  throw new Error("it was not refused");
}
