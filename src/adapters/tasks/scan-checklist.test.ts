import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import type { Task } from "../../core/plan.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { CHECKLIST } from "./checklist-format.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { createFileSource } from "./task-format.ts";

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

let root: string;
let path: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  path = join(root, "TODO.md");
  source = createFileSource({ root, path: "TODO.md" }, CHECKLIST);
});
afterEach(() => rmSync(root, { recursive: true }));

/** What the marking must give: `§` stands where the box of the task `target` is, before and after. */
function withBox(pattern: Buffer, mark: string): Buffer {
  return Buffer.from(pattern.toString("latin1").replace("\xC2\xA7", mark), "latin1");
}

describe("marking changes the one byte in the box", () => {
  const patterns: [string, string][] = [
    ["an only line", "- [§] target\n"],
    ["no last newline", "- [§] target"],
    ["Windows line endings", "# Plan\r\n\r\n- [ ] a\r\n- [§] target\r\n- [ ] b\r\n"],
    ["old Mac line endings", "- [ ] a\r- [§] target\r- [ ] b"],
    ["mixed line endings", "- [ ] a\r\n- [§] target\n- [x] b\r"],
    ["a byte order mark", "\uFEFF- [§] target\n"],
    ["a byte order mark and front matter", "\uFEFF---\na: 1\n---\n- [§] target\n"],
    ["trailing spaces and tabs", "- [§] target  \t \n\n \n"],
    ["a star", "* [§] target\n"],
    ["a plus", "+ [§] target\n"],
    ["a number with a dot", "12. [§] target\n"],
    ["a number with a bracket", "3) [§] target\n"],
    ["spaces before the box", "-    [§] target\n"],
    ["a tab before the box", "-\t[§] target\n"],
    ["an indented list", "  - [§] target\n"],
    ["below a plain bullet", "- Group\n\t- [§] target\n"],
    ["an id in front", "- [ ] other\n- [§] **target**: Something\n"],
    ["an id in front, the colon inside", "- [§] **target:** Something\n"],
    ["the second of two equal titles, marked before", "- [x] first\n- [ ] first\n- [§] target\n"],
    ["nested boxes that stay", "- [§] target\n  - [ ] one\n  - [x] two\n"],
    ["a box in its own description", "- [§] target\n  like `- [ ] target`\n"],
    ["the same line in a fence above", "```\n- [ ] target\n```\n- [§] target\n"],
    ["the same line in a comment above", "<!--\n- [ ] target\n-->\n- [§] target\n"],
    ["the same line in a quote above", "> - [ ] target\n\n- [§] target\n"],
    ["the same line in indented code above", "Text:\n\n    - [ ] target\n\n- [§] target\n"],
    ["the same line in front matter", "---\n- [ ] target\n---\n- [§] target\n"],
    ["a fence with Windows line endings above", "```\r\n- [ ] target\r\n```\r\n- [§] target\r\n"],
    ["a mention of a comment above", "Write `<!--` to hide.\n\n- [§] target\n"],
    ["multi-byte characters around", "- [ ] Übung 🎉 à\n- [§] target\n- [ ] ünter\n"],
    ["a capital tick elsewhere", "- [X] done\n- [§] target\n"],
    ["other marks around", "- [-] dropped\n- [~] later\n- [§] target\n"],
    ["an empty box above", "- [ ]\n- [§] target\n"],
    ["NUL bytes", "- [ ] a\0b\n- [§] target\n\0"],
    ["a table and a link", "| [ ] |\n|---|\n[ ]: target\n\n- [§] target\n"],
    ["an optional section", "## Optional\n- [§] target\n"],
    ["a line separator of another kind", "- [ ] a\u2028- [ ] target\n- [§] target\n"],
  ];
  test.each(patterns)("%s", async (_name, text) => {
    await check(Buffer.from(text));
  });

  test("bytes that are not UTF-8", async () => {
    await check(
      Buffer.concat([
        Buffer.from([0xff, 0xfe, 0x80, 0x0a]),
        Buffer.from("- [§] target\n"),
        Buffer.from([0xc3]),
      ]),
    );
  });

  async function check(pattern: Buffer): Promise<void> {
    writeFileSync(path, withBox(pattern, " "));
    await source.mark("target");
    expect(readFileSync(path).toString("latin1")).toBe(withBox(pattern, "x").toString("latin1"));
    expect((await source.observe()).tasks.find((task) => task.id === "target")?.done).toBe(true);
    const unmarked = source.markedIn(readFileSync(path), "target", false);
    expect(unmarked.toString("latin1")).toBe(withBox(pattern, " ").toString("latin1"));
  }
});

describe("random files", () => {
  const piece = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "- [ ] ",
        "- [x] ",
        "* [X] ",
        "1. [ ] ",
        "  - [ ] ",
        "\t- [ ] ",
        "- ",
        "    ",
      ),
    },
    { weight: 2, arbitrary: fc.constantFrom("\n", "\r\n", "\n\n", "\r") },
    fc.constantFrom(
      "```\n",
      "~~~",
      "<!--",
      "-->",
      "---\n",
      "# Optional\n",
      "## Plan\n",
      "> ",
      "**id**: ",
      "===\n",
      "\uFEFF",
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom("alpha", "beta", "alpha beta", "ü"),
  );
  const file = fc.oneof(
    fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(""))),
    fc
      .array(
        fc.oneof(
          piece.map((text) => Buffer.from(text)),
          fc.uint8Array({ maxLength: 4 }),
        ),
        { maxLength: 30 },
      )
      .map((pieces) => Buffer.concat(pieces)),
  );

  test("marking changes exactly one byte and one task", async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.nat(), async (bytes, choice) => {
        const before = scanChecklist(bytes);
        const open = before.filter((item) => !item.task.done);
        const item = open[choice % Math.max(open.length, 1)];
        fc.pre(item !== undefined);
        writeFileSync(path, bytes);
        await source.mark(item.task.id);
        const after = readFileSync(path);
        const expected = Buffer.from(bytes);
        expected[item.offset] = 0x78;
        expect(after.equals(expected)).toBe(true);
        expect([bytes[item.offset - 1], bytes[item.offset + 1]]).toEqual([0x5b, 0x5d]);
        expect(scanChecklist(after).map(({ task }) => task)).toEqual(
          before.map(({ task }) => (task.id === item.task.id ? { ...task, done: true } : task)),
        );
      }),
      { numRuns: 500, seed: 20_261_115 },
    );
  });
});

describe("a file that is edited, missing or strange", () => {
  test("the task is found again after somebody inserted lines and edited others", async () => {
    writeFileSync(path, "- [ ] a\n- [ ] target\n");
    await source.observe();
    writeFileSync(path, "# New\n- [ ] zero\n- [ ] a, but better\n- [ ] target\n");
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe("# New\n- [ ] zero\n- [ ] a, but better\n- [x] target\n");
  });

  test("nothing is written when there is nothing to mark", async () => {
    writeFileSync(path, "- [x] target\n");
    utimesSync(path, 1_000, 1_000);
    await source.mark("target");
    await source.mark("gone");
    expect(statSync(path).mtimeMs).toBe(1_000_000);
  });

  test("the mode of the file stays", async () => {
    writeFileSync(path, "- [ ] target\n");
    chmodSync(path, 0o640);
    await source.mark("target");
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test("a missing file is an error to look at, and nothing to mark", async () => {
    await expect(source.observe()).rejects.toMatchObject({
      code: "no-tasks",
      message: "TODO.md does not exist",
    });
    await source.mark("target");
  });

  test("a folder in its place is survived", async () => {
    mkdirSync(path);
    await expect(source.observe()).rejects.toMatchObject({
      code: "no-tasks",
      message: "TODO.md is not a file",
    });
  });

  test("a link inside the repository is written through", async () => {
    mkdirSync(join(root, "docs"));
    writeFileSync(join(root, "docs/plan.md"), "- [ ] target\n");
    symlinkSync("docs/plan.md", path);
    await source.mark("target");
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(root, "docs/plan.md"), "utf8")).toBe("- [x] target\n");
  });

  test("a link that leads outside is neither read nor written", async () => {
    const outside = mkdtempSync(join(tmpdir(), "ralph-outside-"));
    writeFileSync(join(outside, "plan.md"), "- [x] target\n");
    symlinkSync(join(outside, "plan.md"), path);
    await expect(source.observe()).rejects.toThrow("leads outside");
    await source.mark("target");
    expect(readFileSync(join(outside, "plan.md"), "utf8")).toBe("- [x] target\n");
    rmSync(outside, { recursive: true });
  });

  test("it is known by its name and its place", () => {
    const { identity } = createFileSource({ root, path: ".ralph/fix_plan.md" }, CHECKLIST);
    expect(identity).toEqual({ kind: "checklist", label: "fix_plan.md", path: ".ralph/fix_plan.md" });
  });
});
