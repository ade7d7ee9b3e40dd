import { expect, test } from "vitest";
import { namesGate } from "./certificate.ts";

const TESTS = { name: "tests", command: "npm test" };
const BUILD = { name: "build", command: "make" };

test.each([
  ["`npm test` passes", TESTS],
  ["npm test passes on every platform", TESTS],
  ["`tests` pass", TESTS],
  ["All tests pass.", TESTS],
  ["The existing tests still pass", TESTS],
  ["test passes", TESTS],
  ["the build succeeds", BUILD],
  ["`make` is quiet", BUILD],
])("finds the gate that checks: %s", (criterion, gate) => {
  expect(namesGate(criterion, gate)).toBe(true);
});

test.each([
  ["make the button red", BUILD],
  ["build passes for users of Windows 95", BUILD],
  ["the login tests cover expiry", TESTS],
  ["lint passes", TESTS],
  ["", TESTS],
  ["passes", { name: "", command: "x" }],
])("finds no gate that checks: %s", (criterion, gate) => {
  expect(namesGate(criterion, gate)).toBe(false);
});
