import { expect, test } from "vitest";
import { createGoalSource } from "./goal-source.ts";

test("the goal is one task with all its words", async () => {
  const source = createGoalSource("make the parser handle leap years\nand document it");
  const { tasks } = await source.observe();
  expect(tasks).toHaveLength(1);
  expect(tasks[0]).toMatchObject({
    title: "make the parser handle leap years",
    description: "make the parser handle leap years\nand document it",
    done: false,
    optional: false,
  });
  expect(tasks[0]?.id).toMatch(/^goal-[0-9a-f]{6}$/);
  expect(source.identity).toEqual({ kind: "goal", label: "make the parser handle leap years", path: null });
});

test("the same words are the same task, other words another", async () => {
  const idOf = async (goal: string): Promise<string | undefined> =>
    (await createGoalSource(goal).observe()).tasks[0]?.id;
  expect(await idOf("a")).toBe(await idOf("a"));
  expect(await idOf("a")).not.toBe(await idOf("b"));
});

test("a long first line is cut", async () => {
  const { label } = createGoalSource("🎉".repeat(100)).identity;
  expect(Array.from(label)).toHaveLength(80);
});
