import { expect, test } from "vitest";
import { planProblem, type PlacedTask } from "./plan-checks.ts";
import { plainTask } from "./plan.ts";

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
  [
    "an unknown dependency, with the nearest id",
    ["parser", "printer < parsr"],
    'line 11: "printer" depends on "parsr", which does not exist. Did you mean "parser"?',
  ],
  [
    "an unknown dependency beside a known one, with the ids that there are",
    ["a", "b < a parser"],
    'line 11: "b" depends on "parser", which does not exist; the others are: a',
  ],
  [
    "an unknown number in a long list",
    ["a < 7", "b", "c", "d", "e", "f", "g"],
    'line 10: "a" depends on "7", which does not exist; the others are: b, c, d, e, f and 1 more',
  ],
  [
    "an unknown dependency of the only task",
    ["a < aa"],
    'line 10: "a" depends on "aa", which does not exist; there is no other task',
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

test("a chain may be as long as the list, and so may a circle", () => {
  const chain = Array.from({ length: 20_000 }, (_, at) => `t${at} < t${at + 1}`);
  expect(planProblem(plan(...chain, "t20000"))).toBeNull();
  expect(planProblem(plan(...chain, "t20000 < t19999"))).toBe(
    'the dependencies go round in a circle: "t19999" (line 20009) → "t20000" (line 20010) → "t19999"',
  );
});
