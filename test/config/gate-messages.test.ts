import { expect, test } from "vitest";
import { complaint } from "./config-folder.ts";

const toml = (text: string): Promise<string> => complaint({ ".ralph/ralph.toml": text });

test.each([
  ["kind = 3", '"gates.0.kind": expected a text in quotes, got 3; put it in quotes: "3"'],
  ['kind = ""', '"gates.0.kind": expected a text in quotes, which is not empty'],
  ["retries = -1", '"gates.0.retries": expected a whole number, 0 or more, got -1'],
  ["retries = 11", '"gates.0.retries": expected a whole number from 0 to 10, got 11'],
  [
    'retries = "3"',
    '"gates.0.retries": expected a whole number, 0 or more, got "3"; write it without quotes: 3',
  ],
  [
    'expect = "42 passed"',
    '"gates.0.expect": expected a table with any of exit_code, output_contains, output_not_contains, got "42 passed"',
  ],
  [
    "expect = { exit_code = 256 }",
    '"gates.0.expect.exit_code": expected a whole number from 0 to 255, got 256',
  ],
  [
    'expect = { exit_code = "0" }',
    '"gates.0.expect.exit_code": expected a whole number, 0 or more, got "0"; write it without quotes: 0',
  ],
  [
    'expect = { output_contains = "" }',
    '"gates.0.expect.output_contains": expected a text in quotes, which is not empty',
  ],
  [
    "expect = { output_not_contains = 1 }",
    '"gates.0.expect.output_not_contains": expected a text in quotes, got 1; put it in quotes: "1"',
  ],
  [
    'expect = { output_contain = "x" }',
    'unknown key "output_contain" in "gates.0.expect". Did you mean "output_contains"?',
  ],
  ["exit_code = 1", 'unknown key "exit_code" in [[gates]]; it belongs in "expect" of [[gates]]'],
  [
    'on_baseline = "tolerated"',
    '"gates.0.on_baseline": expected "require" or "tolerate", got "tolerated". Did you mean "tolerate"?',
  ],
  ["on_baseline = true", '"gates.0.on_baseline": expected "require" or "tolerate", got true'],
])("a gate with %s", async (line, message) => {
  expect(await toml(`[[gates]]\nname = "a"\ncommand = "b"\n${line}\n`)).toBe(
    `.ralph/ralph.toml:4: ${message}`,
  );
});

test("a key of an expectation in another section", async () => {
  expect(await toml("[run]\nexit_code = 1\n")).toMatchInlineSnapshot(
    `".ralph/ralph.toml:2: unknown key "exit_code" in [run]; it belongs in "expect" of [[gates]]"`,
  );
});
