import { describe, expect, test } from "vitest";
import type { Task } from "../../core/plan/task.ts";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { scanChecklist } from "./scan-checklist.ts";

function tasksOf(text: string): Task[] {
  return scanChecklist(Buffer.from(text)).map((item) => item.task);
}

function titlesOf(text: string): string[] {
  return tasksOf(text).map((task) => task.title);
}

function idsOf(text: string): string[] {
  return tasksOf(text).map((task) => task.id);
}

describe("what is a task", () => {
  test.each<[string, string, string[]]>([
    ["every kind of bullet", "- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n2) [ ] e\n", ["a", "b", "c", "d", "e"]],
    ["a box below a plain bullet", "- Backend\n  - [ ] a\n- Frontend\n  - [ ] b\n", ["a", "b"]],
    ["a box after text", "Do this:\n- [ ] a\n", ["a"]],
    ["a box with a tab after the bullet", "-\t[ ] a\n", ["a"]],
    ["a box in a list that is indented a little", "   - [ ] a\n", ["a"]],
    ["the item after a deeper one", "- [ ] a\n  - [ ] a1\n- [ ] b\n", ["a", "b"]],
    ["an item that is indented too little to be nested", "1. [ ] a\n  - [ ] b\n", ["a", "b"]],
    ["items between blank lines", "- [ ] a\n\n\n- [ ] b\n", ["a", "b"]],
    ["items after a lone carriage return", "- [ ] a\r- [ ] b\r", ["a", "b"]],
    [
      "an item after code that was never closed in the item before",
      "- [ ] a\n  ```\n  x\n- [ ] b\n",
      ["a", "b"],
    ],
    ["an item after a comment", "<!-- x -->\n- [ ] a\n<!--\n- [ ] hidden\n-->\n- [ ] b\n", ["a", "b"]],
    [
      "an item below a mention of a comment",
      "Use `<!--` here.\n- [ ] a <!-- note\n- [ ] b\n",
      ["a <!-- note", "b"],
    ],
    ["an item after a rule that looks like front matter", "---\n- [ ] a\n", ["a"]],
    ["an item after front matter", "---\ntitle: x\n---\n- [ ] a\n", ["a"]],
    ["an item after a byte order mark", "\uFEFF- [ ] a\n", ["a"]],
    ["an item without a last newline", "- [ ] a", ["a"]],
  ])("%s", (_name, text, titles) => {
    expect(titlesOf(text)).toEqual(titles);
  });

  test.each([
    ["in a fence", "```\n- [ ] a\n```\n"],
    ["in a fence with a language", "~~~markdown title=x\n- [ ] a\n~~~\n"],
    ["in a long fence around a short one", "````\n```\n- [ ] a\n```\n````\n"],
    ["in a fence that is never closed", "```\n- [ ] a\n"],
    ["in a comment", "<!--\n- [ ] a\n-->\n"],
    ["in a comment that is never closed", "<!--\n- [ ] a\n"],
    ["on the line of a comment", "<!-- - [ ] a -->\n"],
    ["in front matter", "---\nx: |\n  - [ ] a\n---\n"],
    ["in indented code", "Text.\n\n    - [ ] a\n"],
    ["in a quote", "> - [ ] a\n"],
    ["without a title", "- [ ]\n- [ ] \n"],
    ["without a space after it", "- [ ]a\n"],
    ["without a bullet", "[ ] a\n"],
    ["with another mark", "- [-] a\n- [~] b\n- [] c\n- [xx] d\n"],
    ["as a link", "- [ ](a)\n- [x](b)\n"],
    ["in inline code", "- `[ ] a`\n"],
    ["after a number in a sentence", "The year was\n1986. [ ] a\n"],
  ])("a box %s is text", (_name, text) => {
    expect(titlesOf(text)).toEqual([]);
  });
});

describe("what belongs to a task", () => {
  test("nested items are its criteria, indented text its description", () => {
    const [task] = tasksOf(
      "- [ ] Log in\n  With a password\n  or a key.\n\n  - [ ] works offline\n  - [x] is fast\n    on old machines\n      - no, really\n  - plain\n\n  ```sh\n    run\n  ```\n- [ ] next\n",
    );
    expect(task).toMatchObject({
      title: "Log in",
      description: "With a password\nor a key.\n\n```sh\n  run\n```",
      criteria: ["works offline", "is fast on old machines", "no, really", "plain"],
    });
  });

  test("text that is not indented goes on with the paragraph until a blank line", () => {
    const [first, second] = tasksOf("- [ ] a\nlazy\n  - [ ] inner\n\nnot its own\n\n- [ ] b\n");
    expect(first).toMatchObject({ description: "lazy", criteria: ["inner"] });
    expect(second).toMatchObject({ title: "b", description: "" });
  });

  test("tabs indent as spaces do", () => {
    expect(tasksOf("- [ ] a\n\t- one\n\t\t- two\n")[0]?.criteria).toEqual(["one", "two"]);
  });

  test("a ticked box is done, whatever is ticked below it", () => {
    expect(tasksOf("- [x] a\n- [X] b\n- [ ] c\n  - [x] c1\n").map((task) => task.done)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("a title as long as a book is cut and kept in the description", () => {
    const title = "word ".repeat(100).trim();
    const [task] = tasksOf(`- [ ] ${title}\n`);
    expect(task?.title).toHaveLength(200);
    expect(task?.description).toBe(title);
  });

  test("bytes that are not UTF-8 do not matter", () => {
    const file = Buffer.concat([
      Buffer.from("- [ ] a "),
      Buffer.from([0xff, 0xc3, 0x0a]),
      Buffer.from("- [ ] b à\n"),
    ]);
    expect(scanChecklist(file).map((item) => item.task.title)).toEqual(["a \uFFFD\uFFFD", "b à"]);
  });
});

describe("ids", () => {
  test("are made of the title, or written in front of it", () => {
    expect(
      idsOf(
        "- [ ] Add `--json` to list!\n- [ ] **task-001**: Title\n- [ ] **API.2:** Other\n- [ ] **Bold** word\n",
      ),
    ).toEqual(["add-json-to-list", "task-001", "API.2", "bold-word"]);
    expect(titlesOf("- [ ] **task-001**: Title\n")).toEqual(["Title"]);
  });

  test("stay different for equal titles, in the order of the file", () => {
    expect(idsOf("- [ ] a\n- [x] a\n- [ ] a 2\n- [ ] **b-2**: x\n- [ ] b\n- [ ] b\n")).toEqual([
      "a",
      "a-2",
      "a-2-2",
      "b-2",
      "b",
      "b-3",
    ]);
  });

  test("that somebody wrote are theirs, whatever stands above", () => {
    expect(idsOf("- [ ] login\n- [ ] **login**: The other\n")).toEqual(["login-2", "login"]);
  });

  test("stay the same when lines are inserted above or a box is ticked", () => {
    const before = idsOf("- [ ] a\n- [ ] b\n");
    expect(idsOf("# New\n\n- [ ] c\n- [x] a\ntext\n- [ ] b\n")).toEqual(expect.arrayContaining(before));
  });

  test("are short, and tell long and foreign titles apart", () => {
    const long = "a very long title that goes on and on beyond all measure";
    const ids = idsOf(
      `- [ ] ${long} one\n- [ ] ${long} two\n- [ ] Übung macht den Meister\n- [ ] 任务一\n- [ ] 任务二\n`,
    );
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]{1,40}$/);
    expect(ids[2]).toMatch(/^ubung-macht-den-meister-[0-9a-f]{6}$/);
    expect(ids[3]).toMatch(/^task-[0-9a-f]{6}$/);
  });
});

describe("optional sections", () => {
  test.each([
    "Optional",
    "**Optional**",
    "Optional improvements",
    "Future",
    "Future work",
    "🚀 Future ideas:",
    "Nice to have",
    "Nice-to-haves",
    "Later",
    "4. Backlog",
    "Stretch goals",
    "Phase 3: Optional",
    "Polish (optional)",
    "Optional: polish",
    "Later / maybe",
  ])("%s", (heading) => {
    expect(tasksOf(`## ${heading}\n- [ ] a\n`)[0]?.optional).toBe(true);
  });

  test.each([
    "Tasks",
    "Optional chaining support",
    "Future-proof API",
    "Latency",
    "Backlogs API",
    "Futures",
    "Optionally typed",
  ])("%s is none", (heading) => {
    expect(tasksOf(`## ${heading}\n- [ ] a\n`)[0]?.optional).toBe(false);
  });

  test("reach to the next heading of the same or a higher level", () => {
    const text =
      "# Plan\n- [ ] a\n## Optional\n- [ ] b\n### Details\n- [ ] c\n## Tasks\n- [ ] d\n\nFuture\n------\n- [ ] e\n\nMore\n====\n- [ ] f\n";
    expect(tasksOf(text).map((task) => task.optional)).toEqual([false, true, true, false, true, false]);
  });
});

test.each(["- [ ] a\n", "[", "- ", "#", "`", "* ", "\t", "<!--\n", "- [ ] ![](](", "a\n", "1. "])(
  "reading %j again and again takes time in proportion to the length",
  (text) => {
    const scan = (length: number): void => void scanChecklist(Buffer.from(text.repeat(length / text.length)));
    expect(growthOfFour(scan, 300_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  },
);
