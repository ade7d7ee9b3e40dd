import { expect, test } from "vitest";
import { changesInWords, compareTasks } from "./plan-checks.ts";
import { plainTask, type Task } from "./plan.ts";

const task = (id: string, more: Partial<Task> = {}): Task => plainTask({ id, title: `make ${id}`, ...more });

test.each([
  ["nothing", [task("a")], [task("a")], ""],
  ["marks", [task("a"), task("b")], [task("a", { done: true }), task("b", { done: true })], "ticked a, b"],
  ["a mark that is gone", [task("a", { done: true })], [task("a")], "unticked a"],
  ["a task that is gone", [task("a"), task("b")], [task("b")], "removed a"],
  ["a new task", [task("a")], [task("a"), task("b", { title: "own plan" })], 'added "own plan"'],
  [
    "a title that says something else, and with it the id",
    [plainTask({ id: "add-more", title: "Add more()" })],
    [plainTask({ id: "add-more-done", title: "Add more() (done)", done: true })],
    'ticked add-more; reworded "Add more()" to "Add more() (done)"',
  ],
  [
    "a plan that has nothing to do with the one before",
    [plainTask({ id: "x", title: "parse dates" })],
    [plainTask({ id: "y", title: "write notes" })],
    'removed x; added "write notes"',
  ],
  ["a place among the optional ones", [task("a")], [task("a", { optional: true })], "moved a"],
  [
    "other fields",
    [task("a")],
    [task("a", { criteria: ["c"], dependsOn: ["b"] })],
    "changed criteria, dependsOn of a",
  ],
  ["the order", [task("a"), task("b")], [task("b"), task("a")], "changed the order of the tasks"],
])("names %s", (_what, before, after, words) => {
  expect(changesInWords(compareTasks(before, after))).toBe(words);
});

test("names many changes in bounded words", () => {
  const before = Array.from({ length: 200 }, (_, at) => task(`old-${at}`, { title: `${at}` }));
  const words = changesInWords(compareTasks(before, []));
  expect(words.length).toBeLessThan(200);
  expect(words).toContain("changed 150 more things");
});
