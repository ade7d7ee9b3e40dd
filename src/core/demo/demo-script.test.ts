import { expect, test } from "vitest";
import { demoSteps, parseDemoScript } from "./demo-script.ts";

const script = parseDemoScript(
  JSON.stringify({
    tasks: { one: [[{ say: "first" }], [{ say: "second" }]], constructor: [[{ hang: true }]] },
    default: [[{ promise: "COMPLETE" }]],
  }),
);

test.each<[string, number, unknown]>([
  ["one", 1, [{ say: "first" }]],
  ["one", 2, [{ say: "second" }]],
  ["one", 9, [{ say: "second" }]],
  ["other", 1, [{ promise: "COMPLETE" }]],
  ["toString", 3, [{ promise: "COMPLETE" }]],
  ["constructor", 1, [{ hang: true }]],
])("task %s, iteration %i", (task, ordinal, steps) => {
  expect(demoSteps(script, task, { ordinal, number: 1 })).toEqual(steps);
});

test("a script may go by the number of the iteration alone", () => {
  const inOrder = parseDemoScript(JSON.stringify({ iterations: [[{ say: "first" }], [{ say: "then" }]] }));
  const steps = [1, 2, 3].map((number) => demoSteps(inOrder, "any", { ordinal: 1, number }));
  expect(steps).toEqual([[{ say: "first" }], [{ say: "then" }], [{ say: "then" }]]);
});

test("a script may say nothing about a task", () => {
  expect(demoSteps(parseDemoScript("{}"), "one", { ordinal: 1, number: 1 })).toBeNull();
});

test.each<[string, RegExp]>([
  ["{", /^it is not JSON: /],
  ["[]", /^the script must be an object such as /],
  ['{"task": {}}', /^"task" is unknown; a script has "tasks" and "default", or "iterations"$/],
  ['{"tasks": []}', /^"tasks" must be an object of task ids$/],
  ['{"tasks": {"a": []}}', /^tasks\.a must be a list with one list of steps for each iteration$/],
  ['{"tasks": {"a": [{"say": "x"}]}}', /^tasks\.a\[0\] must be a list of steps$/],
  ['{"default": [[], ["say"]]}', /^default\[1\]\[0\] must be an object with one key, one of: say, write, /],
  ['{"default": [[{"say": "x", "hang": true}]]}', /^default\[0\]\[0\] must be an object with one key/],
  [
    '{"default": [[{"sing": "x"}]]}',
    /^default\[0\]\[0\] has the unknown step "sing"; known are: say, write, /,
  ],
  ['{"default": [[{"say": 1}]]}', /^default\[0\]\[0\]\.say must be a text$/],
  ['{"default": [[{"write": {"path": "a"}}]]}', /^default\[0\]\[0\]\.write must be an object such as /],
  ['{"default": [[{"sleep": -1}]]}', /\.sleep must be a whole number from 0$/],
  ['{"default": [[{"crash": 256}]]}', /\.crash must be an exit code from 0 to 255$/],
  ['{"default": [[{"killSelf": "KILL"}]]}', /\.killSelf must be a signal such as "SIGKILL"$/],
  ['{"default": [[{"leave": "cat"}]]}', /\.leave must be "child", "setsid" or "stubborn"$/],
  ['{"default": [[{"hang": false}]]}', /\.hang must be true$/],
])("a broken script is explained: %s", (json, message) => {
  expect(() => parseDemoScript(json)).toThrow(message);
});
