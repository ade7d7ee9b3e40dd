import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SourceKind } from "../../core/plan.ts";
import { addTask, type AddedTask, retitleTask } from "./add-task.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function add(kind: SourceKind, path: string, title: string): AddedTask {
  return addTask({ root }, { kind, label: path, path: kind === "prompt" ? null : path }, title);
}

/** The file has `§` where the new text is to appear. */
function check(kind: SourceKind, pattern: string, added: string, id: string, title = "new one"): void {
  const path = join(root, "file");
  writeFileSync(path, pattern.replace("§", ""));
  expect(add(kind, "file", title)).toEqual({ id, path: "file" });
  expect(readFileSync(path, "utf8")).toBe(pattern.replace("§", () => added));
}

describe("a checklist gets a new box after the last one", () => {
  test.each([
    ["a short list", "- [ ] a\n- [x] b§\n", "\n- [ ] new one"],
    ["no last newline", "- [ ] a§", "\n- [ ] new one"],
    ["Windows line endings", "- [ ] a§\r\n\r\nText\r\n", "\r\n- [ ] new one"],
    ["several of them", "- [ ] a\r\n- [ ] b§\r\n", "\r\n- [ ] new one"],
    ["stars", "* [ ] a§\n", "\n* [ ] new one"],
    ["numbers", "1. [ ] a\n9. [ ] b§\n", "\n10. [ ] new one"],
    ["numbers with a bracket", "1) [ ] a§\n", "\n2) [ ] new one"],
    ["an indent", "- Group\n  - [ ] a§\n- Other\n", "\n  - [ ] new one"],
    ["a byte order mark", "\uFEFF- [ ] a§\n", "\n- [ ] new one"],
    [
      "what belongs to the last one",
      "- [ ] a\n  text\n\n  - nested\n    ```\n    x\n    ```§\n\nAfter\n",
      "\n- [ ] new one",
    ],
    ["blank lines between", "- [ ] a\n\n- [ ] b\n\n  text§\n\n", "\n\n- [ ] new one"],
    ["an optional section after it", "- [ ] a§\n\n## Optional\n- [ ] b\n", "\n- [ ] new one"],
    ["only optional ones", "## Optional\n- [ ] b§\n", "\n- [ ] new one"],
    ["code after it", "- [ ] a§\n\n```\n- [ ] x\n```\n", "\n- [ ] new one"],
    ["no box yet", "# Plan\n§", "- [ ] new one\n"],
    ["no box and no newline yet", "# Plan§", "\n- [ ] new one\n"],
    ["nothing yet", "§", "- [ ] new one\n"],
    ["multi-byte characters before it", "# Übung 🎉\n- [ ] ü§\n", "\n- [ ] new one"],
  ])("%s", (_name, pattern, added) => check("checklist", pattern, added, "new-one"));

  test("of a title that is there already", () => {
    check("checklist", "- [ ] a§\n", "\n- [ ] a", "a-2", " a\n ");
  });

  test("but not into code that is never closed", () => {
    writeFileSync(join(root, "file"), "```\n");
    expect(() => add("checklist", "file", "new")).toThrow("file: there is no place for another task");
    expect(readFileSync(join(root, "file"), "utf8")).toBe("```\n");
  });
});

describe("a roadmap gets the next free id", () => {
  test.each([
    ["the usual ids", "- [ ] **task-001**: a\n- [x] **task-003**: b\n  - ralph: true§\n", "task-004"],
    ["ids of one other kind", "- [ ] **feat-9**: a§\n", "feat-10"],
    ["ids of several kinds", "- [ ] **feat-009**: a\n- [ ] **fix-2**: b§\n", "task-001"],
    ["several kinds, ours among them", "- [ ] **task-0009**: a\n- [ ] **fix-2**: b§\n", "task-0010"],
    ["ids without numbers", "- [ ] **login**: a§\n", "task-001"],
  ])("%s", (_name, pattern, id) => check("roadmap", pattern, `\n- [ ] **${id}**: new one`, id));
});

describe("a tasks.json gets a story in the manner of the last one", () => {
  test.each([
    [
      "one line",
      '{"userStories":[{"id":"US-001","title":"t","passes":true}§]}',
      ',{"id":"US-002","title":"new one","passes":false}',
      "US-002",
    ],
    [
      "an indent",
      '{\n  "userStories": [\n    {\n      "id": "US-007",\n      "title": "t",\n      "priority": 3\n    }§\n  ]\n}\n',
      ',\n    {\n      "id": "US-008",\n      "title": "new one",\n      "priority": 4,\n      "passes": false\n    }',
      "US-008",
    ],
    [
      "Windows line endings, tabs, review fields, and keys nobody knows",
      '{"userStories": [\r\n\t{ "id": "S1",\r\n\t  "title": "é",\r\n\t  "reviewStatus": "approved",\r\n\t  "dependsOn": ["x"],\r\n\t  "owner": 1 }§\r\n]}',
      ',\r\n\t{ "id": "S2",\r\n\t  "title": "new one",\r\n\t  "reviewStatus": null,\r\n\t  "dependsOn": [],\r\n\t  "passes": false }',
      "S2",
    ],
    [
      "an empty list",
      '{"userStories":[§]}',
      '{"id":"US-001","title":"new one","description":"","acceptanceCriteria":[],"priority":1,"passes":false}',
      "US-001",
    ],
    [
      "an empty list in an indented file",
      '{\n  "userStories": [§]\n}\n',
      '\n    {\n      "id": "US-001",\n      "title": "new one",\n      "description": "",\n      "acceptanceCriteria": [],\n      "priority": 1,\n      "passes": false\n    }\n  ',
      "US-001",
    ],
  ])("%s", (_name, pattern, added, id) => {
    check("tasks-json", pattern, added, id);
  });

  test("with its title in quotes", () => {
    check(
      "tasks-json",
      '{"userStories":[{"id":"a-1","title":"t"}§]}',
      ',{"id":"a-2","title":"say \\"é\\"","passes":false}',
      "a-2",
      'say "é"',
    );
  });

  test("unless it is unusable", () => {
    writeFileSync(join(root, "file"), '{"userStories":[{"id":"a"}]}');
    expect(() => add("tasks-json", "file", "new")).toThrow('story "a": "title" is missing');
  });
});

test("a prompt gets it in the checklist beside it, if there is one", () => {
  writeFileSync(join(root, "PROMPT.md"), "# Go\n");
  expect(() => add("prompt", "PROMPT.md", "new")).toThrow("PROMPT.md has no list of tasks beside it");
  writeFileSync(join(root, "@fix_plan.md"), "- [ ] a\n");
  expect(add("prompt", "PROMPT.md", "new")).toEqual({ id: "new", path: "@fix_plan.md" });
  expect(readFileSync(join(root, "@fix_plan.md"), "utf8")).toBe("- [ ] a\n- [ ] new\n");
});

test("nothing can be added to a goal, and nothing without a title", () => {
  expect(() => addTask({ root }, { kind: "goal", label: "g", path: null }, "new")).toThrow("g has no file");
  expect(() => add("checklist", "file", " ")).toThrow("the new task has no title");
  expect(() => add("checklist", "file", "new")).toThrow("file does not exist");
});

describe("another title changes nothing else", () => {
  test.each<[name: string, kind: SourceKind, id: string, before: string, after: string]>([
    [
      "a written id",
      "checklist",
      "a",
      "* [ ] **a**: old  \r\n* [x] old\r\n",
      "* [ ] **a**: say é  \r\n* [x] old\r\n",
    ],
    ["the id of a title", "checklist", "old", "- [ ] old\n  - old\n", "- [ ] **old**: say é\n  - old\n"],
    [
      "a story",
      "tasks-json",
      "s",
      '{"description":"old", "userStories":[ {"id":"s","title":"old"}]}',
      '{"description":"old", "userStories":[ {"id":"s","title":"say é"}]}',
    ],
  ])("%s", (_name, kind, id, before, after) => {
    writeFileSync(join(root, "file"), before);
    expect(retitleTask(root, { kind, label: "file", path: "file" }, id, " say\té ")).toBe("file");
    expect(readFileSync(join(root, "file"), "utf8")).toBe(after);
  });

  test("and is refused where that cannot be", () => {
    const source = { kind: "tasks-json", label: "file", path: "file" } as const;
    const text = '{"userStories":[{"id":"s","title":"caf\\u00e9"}]}';
    writeFileSync(join(root, "file"), text);
    expect(() => retitleTask(root, source, "s", "tea")).toThrow("cannot be changed in file");
    expect(() => retitleTask(root, source, "t", "tea")).toThrow("file has no task t");
    expect(() => retitleTask(root, source, "s", " ")).toThrow("s has no title");
    expect(readFileSync(join(root, "file"), "utf8")).toBe(text);
  });
});
