import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Task } from "../../core/plan.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createGoalSource, createPromptSource } from "./prompt-source.ts";

let root: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  source = createPromptSource({ root, path: "PROMPT.md" });
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(join(root, name), text);

async function task(): Promise<Task | undefined> {
  const { tasks } = await source.observe();
  expect(tasks).toHaveLength(1);
  return tasks[0];
}

test("the whole file is one open-ended task", async () => {
  write("PROMPT.md", "\uFEFF# Build a shop\r\n\r\nWith a cart.\r\n");
  expect(await task()).toMatchObject({
    id: "prompt",
    title: "Build a shop",
    description: "# Build a shop\r\n\r\nWith a cart.\r\n",
    criteria: [],
    loops: true,
    done: false,
  });
  expect(source.identity).toEqual({ kind: "prompt", label: "PROMPT.md", path: null });
});

test.each([
  ["the first heading", "You are Ralph.\n\n## Ralph's work ##\n# Other\n", "Ralph's work"],
  ["else the first line", "\n\nYou are Ralph.\nGo on.\n", "You are Ralph."],
  ["no heading in code or comments", "```\n# no\n```\n<!-- x -->\n<!--\n# no\n-->\nYes\n", "Yes"],
  ["nothing of the front matter", "---\ntitle: no\n---\nYes\n", "Yes"],
  ["bounded", `# ${"ü".repeat(200)}\n`, `${"ü".repeat(79)}…`],
  ["the file's name if there are no words", "<!-- x -->\n", "PROMPT.md"],
])("its title is %s", async (_name, text, title) => {
  write("PROMPT.md", text);
  expect((await task())?.title).toBe(title);
});

describe("the checklist beside it", () => {
  test.each<[string, string, boolean, string[]]>([
    ["open boxes", "- [ ] a\n- [x] b\n- [ ] c\n", false, ["a", "c"]],
    ["all ticked", "- [x] a\n- [X] b\n", true, []],
    ["all ticked but the optional ones", "- [x] a\n## Optional\n- [ ] b\n", true, ["b"]],
    ["only optional ones", "## Optional\n- [ ] b\n", false, ["b"]],
    ["no box at all", "Nothing yet\n", false, []],
    ["boxes in code only", "```\n- [x] a\n```\n", false, []],
    ["nested boxes belong to theirs", "- [x] a\n  - [ ] a1\n", true, []],
  ])("%s", async (_name, text, done, criteria) => {
    write("PROMPT.md", "# Go\n");
    write("@fix_plan.md", text);
    expect(await task()).toMatchObject({ done, criteria });
  });

  test("may be called fix_plan.md, and the other name comes first", async () => {
    write("PROMPT.md", "# Go\n");
    write("fix_plan.md", "- [ ] a\n");
    expect((await task())?.criteria).toEqual(["a"]);
    write("@fix_plan.md", "- [ ] b\n");
    expect((await task())?.criteria).toEqual(["b"]);
  });

  test("stands in the same folder", async () => {
    mkdirSync(join(root, ".ralph"));
    write(".ralph/PROMPT.md", "# Go\n");
    write(".ralph/@fix_plan.md", "- [ ] a\n");
    write("@fix_plan.md", "- [ ] b\n");
    source = createPromptSource({ root, path: ".ralph/PROMPT.md" });
    expect((await task())?.criteria).toEqual(["a"]);
  });

  test("is shown as far as is reasonable", async () => {
    write("PROMPT.md", "# Go\n");
    write("@fix_plan.md", "- [ ] a\n".repeat(200));
    expect((await task())?.criteria).toHaveLength(50);
  });

  test("is the agent's to tick: nothing is marked or taken back", async () => {
    write("PROMPT.md", "# Go\n");
    write("@fix_plan.md", "- [x] a\n- [ ] b\n");
    await source.mark("prompt");
    expect(readFileSync(join(root, "@fix_plan.md"), "utf8")).toBe("- [x] a\n- [ ] b\n");
  });
});

test("an empty or missing prompt is an error", async () => {
  await expect(source.observe()).rejects.toThrow("PROMPT.md does not exist");
  write("PROMPT.md", " \n");
  await expect(source.observe()).rejects.toThrow("PROMPT.md is empty");
});

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

test("the goal needs a change of files unless it is said otherwise", async () => {
  const changesOf = async (source: TaskSource): Promise<unknown> =>
    (await source.observe()).tasks[0]?.changes;
  expect(await changesOf(createGoalSource("a"))).toBeUndefined();
  expect(await changesOf(createGoalSource("a", { changes: "none" }))).toBe("none");
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
