import { expect, test } from "vitest";
import type { PluginSource, PluginTask } from "./plugin.ts";
import { pluginSource } from "./plugin-source.ts";

const PART = { plugin: "mine", kind: "source", name: "list" } as const;

/** A list in memory, a clock by hand, and what was warned of. */
function world(tasks: PluginTask[], more: Partial<PluginSource> = {}) {
  const marked: string[] = [];
  const warnings: string[] = [];
  const seen = { looks: 0, now: 0, isAway: false };
  const service: PluginSource = {
    observe() {
      seen.looks += 1;
      if (seen.isAway) throw new Error("502");
      return tasks.map((task) => ({ ...task, done: task.done === true || marked.includes(task.id) }));
    },
    mark: (id) => void marked.push(id),
    ...more,
  };
  const source = pluginSource(PART, service, {
    root: "/nowhere",
    env: {},
    warn: (text) => warnings.push(text),
    now: () => seen.now,
  });
  return { source, marked, warnings, seen };
}

const A: PluginTask = { id: "a", title: "Make a" };

test("a task has what its source says, and else what a checklist would say", async () => {
  const { source } = world([
    { ...A, criteria: ["it is there"], priority: 2 },
    { id: "b", title: "Make b", dependsOn: ["a"] },
  ]);
  const { tasks, source: identity } = await source.observe();
  expect(identity).toEqual({ kind: "plugin", label: "plugin:list", path: null });
  expect(tasks).toMatchObject([
    { id: "a", criteria: ["it is there"], priority: 2, loops: true, done: false },
    { id: "b", dependsOn: ["a"], description: "" },
  ]);
});

test("it is asked again only after some seconds, or after a mark", async () => {
  const { source, seen } = world([A]);
  await source.observe();
  seen.now = 4_999;
  await source.observe();
  expect(seen.looks).toBe(1);
  seen.now = 5_000;
  await source.observe();
  expect(seen.looks).toBe(2);
  await source.mark("a");
  expect((await source.observe()).tasks).toMatchObject([{ id: "a", done: true }]);
});

test("one that is away leaves the plan as it was, and is spoken of once", async () => {
  const { source, seen, warnings } = world([A]);
  await source.observe();
  seen.isAway = true;
  seen.now = 10_000;
  await expect(source.observe()).rejects.toMatchObject({ code: "bad-tasks" });
  await expect(source.observe()).rejects.toMatchObject({ code: "bad-tasks" });
  expect(warnings).toEqual([
    'the source "list" of the plugin "mine" failed: 502; the tasks are taken as they were',
  ]);
});

test.each([
  ["a text", "nothing", "answered something else than a list of tasks"],
  ["no id", [{ title: "x" }], "has in its task 1 no id"],
  ["a wrong field", [{ ...A, labels: ["x"] }], 'has in its task 1 a field "labels" that no task has'],
  ["an id twice", [A, A], 'the id "a" is used twice'],
  ["an unknown dependency", [{ ...A, dependsOn: ["z"] }], 'depends on "z", which does not exist'],
])("%s is refused with a sentence", async (_, answer, says) => {
  const { source } = world([], { observe: () => answer as readonly PluginTask[] });
  await expect(source.observe()).rejects.toThrow(says);
});

test("marks of an agent are taken back where the source can do that", async () => {
  const undone: string[] = [];
  const tasks = [
    { ...A, done: true },
    { id: "b", title: "Make b", done: true },
  ];
  const { source } = world(tasks, { unmark: (id) => void undone.push(id) });
  expect(await source.takeBackMarks?.(new Set(["b"]))).toEqual(["a"]);
  expect(undone).toEqual(["a"]);
  expect(await world(tasks).source.takeBackMarks?.(new Set())).toEqual([]);
});
