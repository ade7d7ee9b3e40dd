import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Task } from "../../core/plan.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { type RoadmapDefaults, roadmapFormat, scanRoadmap } from "./roadmap-format.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { createFileSource } from "./task-format.ts";

let root: string;
let path: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  path = join(root, "roadmap.md");
  source = createFileSource({ root, path: "roadmap.md" }, roadmapFormat());
});
afterEach(() => rmSync(root, { recursive: true }));

describe("marking changes the one byte in the box", () => {
  test.each([
    ["properties below", "- [§] **target**: t\n  - ralph: true\n  - success: [ ] is [x]\n"],
    ["Windows line endings", "# R\r\n\r\n- [ ] **a**: x\r\n- [§] **target**: t\r\n  - ralph: true\r\n"],
    ["a byte order mark", "\uFEFF- [§] **target**: t\n"],
    ["no last newline", "- [§] **target**: t\n  - ralph: true"],
    ["tabs", "-\t[§] **target**: t\n\t- ralph: true\n"],
    ["the colon inside the bold", "- [§] **target:** t\n"],
    ["the same words in a fence", "```\n- [ ] **target**: t\n```\n- [§] **target**: t\n"],
    ["the same words in a comment", "<!--\n- [ ] **target**: t\n-->\n- [§] **target**: t\n"],
    ["its id as another's dependency", "- [ ] **a**: x\n  - depends: target\n- [§] **target**: t\n"],
    ["equal titles", "- [ ] **a**: t\n- [§] **target**: t\n- [ ] **b**: t\n"],
    ["phases around", "## Phase 1\n- [x] **a**: x\n## Phase 2 [ ]\n- [§] **target**: t\n"],
    ["dates around", "- [2026-01-29] note\n- [§] **target**: t [2026-01-29]\n"],
    ["a number", "10. [§] **target**: t\n    - priority: 1\n"],
    ["an id that an id of ours could be", "- [ ] Target\n- [§] **target**: t\n"],
  ])("%s", async (_name, pattern) => {
    const [open, marked] = [pattern.replace("§", " "), pattern.replace("§", "x")];
    writeFileSync(path, open);
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe(marked);
    const { tasks } = await source.observe();
    expect(tasks.find((task) => task.id === "target")?.done).toBe(true);
    expect(source.markedIn(readFileSync(path), "target", false).toString()).toBe(open);
  });

  test("of random roadmaps, one task and one byte", async () => {
    const property = fc.constantFrom(
      "ralph: true",
      "timeout: 5",
      "success: [ ] x",
      "depends: none",
      "fast",
      "**a-1**: [ ]",
    );
    const entry = fc.record({
      bullet: fc.constantFrom("-", "*", "+", "3."),
      isDone: fc.boolean(),
      title: fc.constantFrom("one", "two [x]", "ü 🎉", "**two**: x"),
      properties: fc.array(property, { maxLength: 3 }),
      after: fc.constantFrom("", "\n", "## Phase\n", "<!-- - [ ] **a-0**: x -->\n"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        fc.boolean(),
        async (entries, choice, isWindows) => {
          const lines = entries.map(
            (one, at) =>
              `${one.bullet} [${one.isDone ? "x" : " "}] **a-${at}**: ${one.title}\n${one.properties.map((text) => `    - ${text}\n`).join("")}${one.after}`,
          );
          const bytes = Buffer.from(isWindows ? lines.join("").replaceAll("\n", "\r\n") : lines.join(""));
          const items = scanRoadmap(bytes);
          expect(items.map(({ id, task }) => [id, task.done])).toEqual(
            entries.map((one, at) => [`a-${at}`, one.isDone]),
          );
          const item = items[choice % items.length];
          fc.pre(item !== undefined && !item.task.done);
          writeFileSync(path, bytes);
          await source.mark(item.id);
          const expected = Buffer.from(bytes);
          expected[scanChecklist(bytes)[choice % items.length]?.offset ?? 0] = 0x78;
          expect(readFileSync(path).equals(expected)).toBe(true);
        },
      ),
      { numRuns: 300, seed: 20_261_115 },
    );
  });
});

test("a task is found again after somebody edited the file, even if it has become unusable", async () => {
  writeFileSync(path, "- [ ] **a**: x\n- [ ] **target**: t\n");
  await source.observe();
  const edited = "- [ ] **a**: x\n  - timeout: soon\n\n- [ ] **new**: y\n- [ ] **target**: t\n";
  writeFileSync(path, edited);
  await expect(source.observe()).rejects.toMatchObject({ code: "bad-tasks" });
  await source.mark("target");
  expect(readFileSync(path, "utf8")).toBe(edited.replace("[ ] **target**", "[x] **target**"));
});

test("a plan that cannot be worked on is refused before anything runs", async () => {
  writeFileSync(path, "- [ ] **a**: x\n- [ ] **a**: y\n");
  await expect(source.observe()).rejects.toMatchObject({
    code: "bad-tasks",
    message: 'roadmap.md: the id "a" is used twice, in lines 1 and 2',
  });
});

function tasksOf(text: string, defaults?: RoadmapDefaults): readonly Task[] {
  return roadmapFormat(defaults).read(Buffer.from(text), "roadmap.md").tasks;
}

function withProperty(line: string): Task | undefined {
  return tasksOf(`- [ ] **other**: x\n- [ ] **task-001**: y\n  - ${line}\n`)[1];
}

test("the example of the manual", () => {
  const [task, ...more] = tasksOf(`## Tasks

### Phase 1: Implementation

- [ ] **task-001**: Implement user authentication with tests
  - ralph: true
  - max_iterations: 30
  - completion_promise: AUTH_FEATURE_COMPLETE
  - timeout: 60min
  - success: All tests pass, coverage > 80%
  - cli: codex
`);
  expect(more).toEqual([]);
  expect(task).toEqual({
    id: "task-001",
    title: "Implement user authentication with tests",
    phase: "Phase 1: Implementation",
    description: "",
    criteria: [],
    success: "All tests pass, coverage > 80%",
    dependsOn: [],
    priority: null,
    agent: "codex",
    timeoutMs: 3_600_000,
    maxIterations: 30,
    promise: "AUTH_FEATURE_COMPLETE",
    loops: true,
    done: false,
    optional: false,
  });
});

describe("a property", () => {
  test.each<[string, Partial<Task>]>([
    ["ralph: true", { loops: true }],
    ["ralph: false", { loops: false }],
    ["ralph: Yes", { loops: true }],
    ["Ralph: off", { loops: false }],
    ["max_iterations: 7", { maxIterations: 7 }],
    ["max-iterations: 7", { maxIterations: 7 }],
    ["completion_promise: DONE WITH IT", { promise: "DONE WITH IT" }],
    ['completion_promise: "DONE"', { promise: "DONE" }],
    ["completion_promise: `DONE`", { promise: "DONE" }],
    ["completion_promise: <promise>DONE</promise>", { promise: "DONE" }],
    ["timeout: 45", { timeoutMs: 2_700_000 }],
    ["timeout: 0.5", { timeoutMs: 30_000 }],
    ["timeout: 45min", { timeoutMs: 2_700_000 }],
    ["timeout: 2h", { timeoutMs: 7_200_000 }],
    ["timeout: 90s", { timeoutMs: 90_000 }],
    ["timeout: 1h30m", { timeoutMs: 5_400_000 }],
    ["success: a: b, c", { success: "a: b, c" }],
    ["success:", { success: null }],
    ["cli: claude", { agent: "claude" }],
    ["depends: other", { dependsOn: ["other"] }],
    ["depends:   other ,other, ", { dependsOn: ["other"] }],
    ["depends_on: [other]", { dependsOn: ["other"] }],
    ["depends: **other**", { dependsOn: ["other"] }],
    ["depends: none", { dependsOn: [] }],
    ["depends:", { dependsOn: [] }],
    ["priority: 1", { priority: 1 }],
    ["changes: none", { changes: "none" }],
    ["Changes: `None`", { changes: "none" }],
    ["priority: -2.5", { priority: -2.5 }],
    ["**priority**: 3", { priority: 3 }],
    ["**priority:** 3", { priority: 3 }],
    ["`priority`: 3", { priority: 3 }],
    ["success: in two\n    lines", { success: "in two lines" }],
  ])("%j", (line, expected) => {
    expect(withProperty(line)).toMatchObject({ criteria: [], ...expected });
  });

  test.each([
    ["ralph: maybe", 'ralph is "maybe"; expected true or false'],
    ["ralph:", "ralph is empty; expected true or false"],
    ["max_iterations: many", 'max_iterations is "many"; expected a whole number of at least 1'],
    ["max_iterations: 0", 'max_iterations is "0"; expected a whole number of at least 1'],
    ["max_iterations: 1.5", 'max_iterations is "1.5"; expected a whole number of at least 1'],
    [
      "timeout: soon",
      'timeout is "soon"; expected a number of minutes, or a duration such as 45min, 2h or 90s',
    ],
    ["timeout: 0", 'timeout is "0"; expected a number of minutes'],
    ["timeout: -5", 'timeout is "-5"; expected a number of minutes'],
    ["completion_promise:", "completion_promise is empty; expected the text"],
    ["cli: claude or codex", 'cli is "claude or codex"; expected the name of one agent'],
    ["changes: some", 'changes is "some"; expected none'],
    ["changes:", "changes is empty; expected none"],
    ["priority: high", 'priority is "high"; expected a number'],
  ])("%j is refused", (line, problem) => {
    expect(() => withProperty(line)).toThrow(`roadmap.md: line 3: ${problem}`);
  });

  test.each([
    ["an unknown key", "owner: Anna"],
    ["a sentence with a colon", "Note: the API is slow"],
    ["a known word without a colon", "ralph is true"],
    ["a known word without a space", "timeout:45"],
    ["a box", "[ ] success: it works"],
    ["a longer word", "timeouts: 45"],
  ])("%s is a criterion", (_name, line) => {
    const task = withProperty(line);
    expect(task?.criteria).toEqual([line.replace("[ ] ", "")]);
    expect(task).toMatchObject({ timeoutMs: null, success: null, loops: false });
  });

  test("counts only directly below the task, and only below it", () => {
    const [task] = tasksOf(
      "- [ ] **a**: x\n  - details:\n    - timeout: 45\n\n- timeout: 45\n\ntimeout: 45\n",
    );
    expect(task).toMatchObject({ timeoutMs: null, criteria: ["details:", "timeout: 45"] });
  });

  test("given twice: the last counts", () => {
    expect(withProperty("priority: 1\n  - priority: 2")).toMatchObject({ priority: 2 });
  });
});

describe("defaults", () => {
  test("are for tasks that loop and say nothing themselves", () => {
    const text =
      "- [ ] **a**: x\n- [ ] **b**: x\n  - ralph: true\n- [ ] **c**: x\n  - ralph: true\n  - max_iterations: 3\n  - completion_promise: MINE\n";
    const got = tasksOf(text, { defaultIterations: 50, defaultPromise: "TASK_DONE" });
    expect(got.map(({ loops, maxIterations, promise }) => ({ loops, maxIterations, promise }))).toEqual([
      { loops: false, maxIterations: null, promise: null },
      { loops: true, maxIterations: 50, promise: "TASK_DONE" },
      { loops: true, maxIterations: 3, promise: "MINE" },
    ]);
  });

  test("without them the settings of the run decide", () => {
    expect(tasksOf("- [ ] **a**: x\n  - ralph: true\n")[0]).toMatchObject({
      maxIterations: null,
      promise: null,
    });
  });
});

describe("a task", () => {
  test.each<[string, string, Partial<Task>]>([
    ["a ticked box", "- [x] **a**: t\n", { done: true }],
    ["a capital tick", "- [X] **a**: t\n", { done: true }],
    ["a star", "* [ ] **a**: t\n  * ralph: true\n", { loops: true }],
    ["a plus", "+ [ ] **a**: t\n  + ralph: true\n", { loops: true }],
    ["a number", "1. [ ] **a**: t\n   - ralph: true\n", { loops: true }],
    ["tabs", "- [ ] **a**: t\n\t- ralph: true\n", { loops: true }],
    ["Windows line endings", "- [ ] **a**: t\r\n  - ralph: true\r\n", { loops: true }],
    ["a byte order mark", "\uFEFF- [ ] **a**: t\n  - ralph: true\n", { loops: true }],
    ["front matter", "---\nralph: no\n---\n- [ ] **a**: t\n  - ralph: true", { loops: true }],
    ["a blank line before the properties", "- [ ] **a**: t\n\n  - ralph: true\n", { loops: true }],
    ["properties without an indent are not its own", "- [ ] **a**: t\n- ralph: true\n", { loops: false }],
    ["a property in code", "- [ ] **a**: t\n  ```\n  - ralph: true\n  ```\n", { loops: false }],
    ["a property in a comment", "- [ ] **a**: t\n  <!-- - ralph: true -->\n", { loops: false }],
    [
      "text among the properties",
      "- [ ] **a**: t\n  More.\n  - ralph: true\n",
      { description: "More.", loops: true },
    ],
    [
      "criteria among the properties",
      "- [ ] **a**: t\n  - fast\n  - ralph: true\n  - small\n",
      { criteria: ["fast", "small"] },
    ],
    ["a date in the title", "- [ ] **a**: t [2026-01-29]\n", { title: "t [2026-01-29]" }],
    ["an optional phase", "## Future\n- [ ] **a**: t\n", { optional: true }],
    ["the colon inside the bold", "- [ ] **a:** t\n", { title: "t" }],
    ["another bold word in the title", "- [ ] **a**: **b**: t\n", { title: "**b**: t" }],
  ])("with %s", (_name, text, expected) => {
    const tasks = tasksOf(text);
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatchObject({ id: "a", ...expected });
  });

  test("without an id is called after its title", () => {
    expect(tasksOf("- [ ] Log in\n  - ralph: true\n- [ ] **b**: x\n  - depends: log-in\n")[0]).toMatchObject({
      id: "log-in",
      loops: true,
    });
  });
});

test.each([
  ["a duplicate id", "- [ ] **a**: x\n- [x] **a**: y\n", 'the id "a" is used twice, in lines 1 and 2'],
  [
    "an unknown dependency",
    "# P\n\n- [ ] **a**: x\n  - depends: b\n",
    'line 3: "a" depends on "b", which does not exist',
  ],
  [
    "a circle",
    "- [ ] **a**: x\n  - depends: b\n- [ ] **b**: y\n  - depends: a\n",
    'the dependencies go round in a circle: "a" (line 1) → "b" (line 3) → "a"',
  ],
])("%s is refused, naming ids and lines", (_name, text, problem) => {
  expect(() => tasksOf(text)).toThrow(`roadmap.md: ${problem}`);
});
