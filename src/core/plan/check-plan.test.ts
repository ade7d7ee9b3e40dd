import { expect, test } from "vitest";
import { planProblem, type PlacedTask } from "./check-plan.ts";
import { plainTask } from "./task.ts";

/** `a < b c` is a task "a" that depends on "b" and "c"; each stands in a line of its own, from line ten on. */
function plan(...lines: string[]): PlacedTask[] {
  return lines.map((text, at) => {
    const [id = "", ...dependsOn] = text.split(/[ <]+/);
    return { task: plainTask({ id, title: id, dependsOn }), line: 10 + at };
  });
}

test.each<[string, string[]]>([
  ["no task at all", []],
  ["tasks that depend on nothing", ["a", "b"]],
  ["a chain, forwards and backwards", ["a", "b < a", "d < c", "c < b"]],
  ["a diamond", ["a", "b < a", "c < a", "d < b c"]],
  ["the same dependency twice", ["a", "b < a a"]],
  ["ids that differ in case", ["a", "A < a"]],
  ["names of things that every object has", ["constructor", "__proto__ < constructor"]],
])("%s can be worked on", (_name, lines) => {
  expect(planProblem(plan(...lines))).toBeNull();
});

test.each<[string, string[], string]>([
  ["a duplicate id", ["a", "b", "a"], 'the id "a" is used twice, in lines 10 and 12'],
  ["three of the same id", ["a", "a", "a"], 'the id "a" is used twice, in lines 10 and 11'],
  ["an unknown dependency", ["a", "b < c"], 'line 11: "b" depends on "c", which does not exist'],
  [
    "an unknown dependency beside a known one",
    ["a", "b < a z"],
    'line 11: "b" depends on "z", which does not exist',
  ],
  ["a task that depends on itself", ["a < a"], 'the dependencies go round in a circle: "a" (line 10) → "a"'],
  [
    "two that wait for each other",
    ["a < b", "b < a"],
    'the dependencies go round in a circle: "a" (line 10) → "b" (line 11) → "a"',
  ],
  [
    "a circle that others lead to",
    ["x < a", "a < b", "b < c", "c < a"],
    'the dependencies go round in a circle: "a" (line 11) → "b" (line 12) → "c" (line 13) → "a"',
  ],
  ["a duplicate first of all", ["a < z", "a"], 'the id "a" is used twice, in lines 10 and 11'],
])("%s is named", (_name, lines, problem) => {
  expect(planProblem(plan(...lines))).toBe(problem);
});

test("a long chain is no problem", () => {
  const lines = Array.from({ length: 2_000 }, (_, at) => (at === 0 ? "t0" : `t${at} < t${at - 1}`));
  expect(planProblem(plan(...lines.toReversed()))).toBeNull();
});
