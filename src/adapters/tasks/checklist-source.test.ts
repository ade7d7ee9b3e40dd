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
import type { TaskSource } from "../../engine/ports.ts";
import { createChecklistSource } from "./checklist-source.ts";
import { scanChecklist } from "./scan-checklist.ts";

let root: string;
let path: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  path = join(root, "TODO.md");
  source = createChecklistSource({ root, path: "TODO.md" });
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
    const others = (await source.observe()).tasks.filter((task) => task.done && task.id !== "target");
    expect(await source.takeBackMarks(new Set(others.map((task) => task.id)))).toEqual(["target"]);
    expect(readFileSync(path).toString("latin1")).toBe(withBox(pattern, " ").toString("latin1"));
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

  test("taking all marks back leaves no task done and changes nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(file, async (bytes) => {
        writeFileSync(path, bytes);
        const marked = scanChecklist(bytes).filter((item) => item.task.done);
        expect(await source.takeBackMarks(new Set())).toEqual(marked.map((item) => item.task.id));
        const expected = Buffer.from(bytes);
        for (const { offset } of marked) expected[offset] = 0x20;
        expect(readFileSync(path).equals(expected)).toBe(true);
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

  test("nothing is written when there is nothing to mark or to take back", async () => {
    writeFileSync(path, "- [x] target\n");
    utimesSync(path, 1_000, 1_000);
    await source.mark("target");
    await source.mark("gone");
    expect(await source.takeBackMarks(new Set(["target"]))).toEqual([]);
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
    expect(await source.takeBackMarks(new Set())).toEqual([]);
  });

  test("a file that was there and is gone is put back as it was last seen", async () => {
    writeFileSync(path, "- [ ] target\r\n");
    await source.observe();
    rmSync(path);
    expect(await source.takeBackMarks(new Set())).toEqual([]);
    expect(readFileSync(path, "utf8")).toBe("- [ ] target\r\n");
  });

  test("a folder in its place is survived", async () => {
    mkdirSync(path);
    await expect(source.observe()).rejects.toMatchObject({
      code: "no-tasks",
      message: "TODO.md is not a file",
    });
    expect(await source.takeBackMarks(new Set())).toEqual([]);
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
    expect(await source.takeBackMarks(new Set())).toEqual([]);
    expect(readFileSync(join(outside, "plan.md"), "utf8")).toBe("- [x] target\n");
    rmSync(outside, { recursive: true });
  });

  test("it is known by its name and its place", () => {
    const { identity } = createChecklistSource({ root, path: ".ralph/fix_plan.md" });
    expect(identity).toEqual({ kind: "checklist", label: "fix_plan.md", path: ".ralph/fix_plan.md" });
  });
});
