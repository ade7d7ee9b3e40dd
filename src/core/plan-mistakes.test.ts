import { expect, test } from "vitest";
import { planMistakes } from "./plan-checks.ts";
import { plainTask, type Task } from "./plan.ts";

function story(said: Partial<Task>): { task: Task; line: number } {
  return { task: plainTask({ id: "US-1", title: "One", criteria: ["it works"], ...said }), line: 7 };
}

test("a plan with criteria for every story has no mistakes", () => {
  expect(planMistakes([story({}), story({ id: "US-2", dependsOn: ["US-1"] })])).toEqual([]);
});

test.each<[string, Partial<Task>, string]>([
  ["without criteria", { criteria: [] }, "has no acceptance criteria"],
  ["with an empty criterion", { criteria: ["it works", " "] }, "without words"],
  ["with nine criteria", { criteria: Array.from({ length: 9 }, () => "more") }, "9 acceptance criteria"],
  ["that is done already", { done: true }, '"passes": true'],
])("a story %s is a mistake, told with its line", (_name, said, mistake) => {
  expect(planMistakes([story(said)])).toEqual([expect.stringContaining(mistake)]);
  expect(planMistakes([story(said)])[0]).toMatch(/^line 7: "US-1" /);
});

test("all mistakes are told at once, those of the whole plan first", () => {
  const mistakes = planMistakes([story({ criteria: [] }), story({ done: true })]);
  expect(mistakes).toHaveLength(3);
  expect(mistakes[0]).toBe('the id "US-1" is used twice, in lines 7 and 7');
});

test("a plan without stories is a mistake", () => {
  expect(planMistakes([])).toEqual([expect.stringContaining("at least one story")]);
});
