import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TaskSource } from "../../engine/ports.ts";
import { createRoadmapSource } from "./roadmap-source.ts";
import { scanRoadmap } from "./scan-roadmap.ts";

let root: string;
let path: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  path = join(root, "roadmap.md");
  source = createRoadmapSource({ root, path: "roadmap.md" });
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
    const others = tasks.filter((task) => task.done && task.id !== "target").map((task) => task.id);
    expect(await source.takeBackMarks(new Set(others))).toEqual(["target"]);
    expect(readFileSync(path, "utf8")).toBe(open);
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
          expected[item.offset] = 0x78;
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

test("a roadmap that is gone is put back", async () => {
  writeFileSync(path, "- [ ] **a**: x\r\n");
  await source.observe();
  rmSync(path);
  expect(await source.takeBackMarks(new Set())).toEqual([]);
  expect(readFileSync(path, "utf8")).toBe("- [ ] **a**: x\r\n");
});

test("a plan that cannot be worked on is refused before anything runs", async () => {
  writeFileSync(path, "- [ ] **a**: x\n- [ ] **a**: y\n");
  await expect(source.observe()).rejects.toMatchObject({
    code: "bad-tasks",
    message: 'roadmap.md: the id "a" is used twice, in lines 1 and 2',
  });
});
