import * as fc from "fast-check";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../fixtures/growth.ts";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "../../src/adapters/process/line-splitter.ts";
import { createEchoFilter } from "../../src/core/words/prompt-echo.ts";
import { readPassage, withoutReturn } from "../../src/core/words/read-passage.ts";
import { createSignalReader } from "../../src/core/words/read-signals.ts";
import type { SignalReport } from "../../src/core/streams/agent-report.ts";
import { analyzeText, block, EXPECTED } from "./analyze-text.ts";

const piece = fc.oneof(
  fc.constantFrom(
    "<promise>COMPLETE</promise>",
    "<promise>",
    "</promise>",
    "COMPLETE",
    "BLOCKED:no key",
    "<promise>DECIDE:a? | b | default=b</promise>",
    "---RALPH_STATUS---",
    "---END_RALPH_STATUS---",
    "STATUS: COMPLETE",
    "EXIT_SIGNAL: true",
    "EXIT_SIGNAL: true | false",
    "RECOMMENDATION: go on",
    "```",
    "~~~~",
    "> ",
    "- ",
    "<!--",
    "-->",
    "| File | Change |\n|---|---|\n",
    "| src/a.ts | created |",
    "Created `src/a.ts`, b.py:10-20 and ",
    "Files changed:",
    "src/ü.ts",
    "0 tests failed",
    "TODO: x",
    "Error: at 0x12",
    "\x1b[31m",
    "\0",
    "\r",
    "\ufeff",
  ),
  fc.constantFrom("\n", "\n", "\n\n", " "),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const output = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

/** Longer than what is kept of a text. */
const LONG = fc
  .tuple(fc.constantFrom("a line", "a\n", "\nb\n", "x".repeat(500)), fc.integer({ min: 1, max: 10 }))
  .map(([line, times]) => `${line}\n`.repeat(times * Math.ceil(8_000 / line.length)));

function analyzeBytes(bytes: Buffer, cuts: readonly number[]): SignalReport {
  const reader = createSignalReader(EXPECTED);
  const splitter = createLineSplitter((line) => reader.readLine(line));
  let at = 0;
  for (const length of cuts) {
    splitter.push(bytes.subarray(at, at + length));
    at += length;
  }
  splitter.push(bytes.subarray(at));
  splitter.end();
  return reader.report(null);
}

test("many lines at once are read as each alone, also among the prompt's own", () => {
  const prompt = "Do it.\n\n```\n<promise>COMPLETE</promise>\n```\nThen stop.";
  const analyze = (text: string, requireXml: boolean, isPassage: boolean): SignalReport => {
    const expected = { ...EXPECTED, requireXml };
    const reader = createSignalReader(expected);
    const own = createEchoFilter(prompt, expected, reader);
    if (isPassage) readPassage(text, own);
    else for (const line of text.split("\n")) own.readLine(withoutReturn(line));
    own.end();
    return reader.report(null);
  };
  const parts = fc.array(fc.oneof(output, fc.constant(prompt), fc.constant("\n\n\n"), LONG), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(parts, fc.boolean(), (texts, requireXml) => {
      const text = texts.join("\n");
      expect(analyze(text, requireXml, true)).toEqual(analyze(text, requireXml, false));
    }),
    { numRuns: 80 },
  );
});

test("no character makes a difference between many lines at once and each alone", () => {
  const ranges = [
    [0, 0x180],
    [0x2020, 0x2070],
    [0xfef0, 0xff10],
  ] as const;
  const codes = ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at));
  for (const code of codes) {
    const lines = ["one", `t${String.fromCharCode(code)}wo`, "three"];
    const reader = createSignalReader(EXPECTED);
    readPassage(lines.join("\n"), reader);
    expect(reader.report(null).finalText).toBe(analyzeText(lines.join("\n")).finalText);
  }
});

test("any output can be read, and what is found is bounded", () => {
  fc.assert(
    fc.property(output, (text) => {
      const { signals, claim } = analyzeText(text);
      expect(signals.confidence).toBeGreaterThanOrEqual(0);
      expect(signals.confidence).toBeLessThanOrEqual(100);
      if (claim.is === "none") expect(signals.confidence).toBeLessThanOrEqual(90);
      expect(signals.citations.length).toBeLessThanOrEqual(200);
      expect(new Set(signals.citations).size).toBe(signals.citations.length);
    }),
    { numRuns: 500, seed: 20_261_115 },
  );
});

test("how the bytes come in pieces changes nothing", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        output.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      ),
      fc.array(fc.nat(20), { maxLength: 20 }),
      (bytes, cuts) => {
        expect(analyzeBytes(bytes, cuts)).toEqual(analyzeBytes(bytes, []));
      },
    ),
    { numRuns: 500, seed: 20_261_115 },
  );
});

test("nothing in a quote claims anything", () => {
  fc.assert(
    fc.property(output, (text) => {
      const quoted = text.replaceAll("\r", "").replaceAll(/^/gm, "> ");
      expect(analyzeText(quoted).claim).toEqual({ is: "none" });
      expect(analyzeText(quoted).signals).toMatchObject({ confidence: 0, contradictions: [], citations: [] });
    }),
    { seed: 20_261_115 },
  );
});

test("nothing in a fence claims anything, but for a whole status block", () => {
  fc.assert(
    fc.property(output, (text) => {
      const inside = text.replaceAll(/`|~|RALPH_STATUS/g, "");
      const { claim, signals } = analyzeText(`\`\`\`\`\n${inside}\n\`\`\`\``);
      expect(claim).toEqual({ is: "none" });
      expect(signals).toMatchObject({ confidence: 0, contradictions: [], exitSignal: null });
    }),
    { seed: 20_261_115 },
  );
});

test("nothing in a comment claims anything", () => {
  fc.assert(
    fc.property(output, (text) => {
      const { claim, signals } = analyzeText(`<!--\n${text.replaceAll(/[>\r]/g, "")}\n-->`);
      expect(claim).toEqual({ is: "none" });
      expect(signals).toMatchObject({ confidence: 0, contradictions: [], citations: [], exitSignal: null });
    }),
    { seed: 20_261_115 },
  );
});

test("a comment without an end hides nothing", () => {
  fc.assert(
    fc.property(output, (text) => {
      const lines = text.replaceAll(/[>`~\r]/g, "");
      const { claim } = analyzeText(`<!--\n${lines}\n<promise>BLOCKED:no key</promise>`);
      expect(claim).toEqual({ is: "blocked", reason: "no key" });
    }),
    { seed: 20_261_115 },
  );
});

test("words never make a claim", () => {
  const words = fc.constantFrom(
    "done",
    "complete",
    "all tasks complete",
    "finished",
    "failed",
    "error",
    ".",
    "not",
    "\n",
  );
  fc.assert(
    fc.property(fc.array(words), (said) => {
      expect(analyzeText(said.join(" ")).claim).toEqual({ is: "none" });
    }),
    { seed: 20_261_115 },
  );
});

test("a blocker or a question beats whatever else is said", () => {
  fc.assert(
    fc.property(output, (text) => {
      const before = text.replaceAll(/[`~\r]/g, "");
      const { claim } = analyzeText(
        `${before}\n<promise>BLOCKED:no key</promise>\n${block("EXIT_SIGNAL: true")}`,
      );
      expect(claim).toEqual({ is: "blocked", reason: "no key" });
    }),
    { seed: 20_261_115 },
  );
});

describe("reading takes linear time", () => {
  const hostile: readonly [string, (size: number) => string][] = [
    ["many <", (size) => "<".repeat(size)],
    ["lines of <", (size) => "<\n".repeat(size / 2)],
    ["many backticks", (size) => "`".repeat(size)],
    ["lines of backticks", (size) => "``` x\n".repeat(size / 6)],
    ["single backticks", (size) => "` ".repeat(size / 2)],
    ["nested tags", (size) => "<promise>".repeat(size / 9)],
    ["tags that open", (size) => "<promise>\n".repeat(size / 10)],
    ["tags that close", (size) => "</promise>\n".repeat(size / 11)],
    ["blocks that open", (size) => "---RALPH_STATUS---\n".repeat(size / 19)],
    ["a block without end", (size) => `---RALPH_STATUS---\n${"STATUS: COMPLETE\n".repeat(size / 17)}`],
    ["dashes", (size) => "-".repeat(size)],
    ["spaces", (size) => `a${" ".repeat(size)}`],
    ["returns", (size) => "<\r".repeat(size / 2)],
    ["escapes", (size) => "\x1b[".repeat(size / 2)],
    ["negations", (size) => "not done ".repeat(size / 9)],
    ["failing tests", (size) => "no tests fail ".repeat(size / 14)],
    ["words after tests", (size) => `tests ${"are ".repeat(size / 4)}`],
    ["verbs", (size) => "created ".repeat(size / 8)],
    ["verbs and names", (size) => "created a/b.ts, ".repeat(size / 16)],
    ["a long name", (size) => `created ${"a/".repeat(size / 2)}`],
    ["lists of files", (size) => `Files changed:\n${"- a.ts, ".repeat(size / 8)}`],
    ["parentheses", (size) => `created a.ts ${"(".repeat(size)}`],
    ["stops", (size) => ". ".repeat(size / 2)],
    ["comments that open", (size) => "<!--\n".repeat(size / 5)],
    ["comments in a line", (size) => "<!-- ".repeat(size / 5)],
    ["comments that open and close", (size) => "--> a <!--\n".repeat(size / 11)],
    ["a comment without end", (size) => `<!--\n${"x\n".repeat(size / 2)}`],
    ["table rows", (size) => `| File | Change |\n|---|---|\n${"| a/b.ts | new |\n".repeat(size / 17)}`],
    ["table headers", (size) => "| File | Change |\n|---|---|\n\n".repeat(size / 29)],
    ["a wide table", (size) => "| File ".repeat(size / 7)],
    ["confessions", (size) => "it prints the task is not done yet when ".repeat(size / 40)],
    ["words before a confession", (size) => "the the ".repeat(size / 8)],
    ["half confessions", (size) => "could not get the a the a tests to ".repeat(size / 35)],
    ["beginnings", (size) => "before my change, ".repeat(size / 18)],
    ["other people", (size) => "users who are blocked by ".repeat(size / 25)],
    ["stubs", (size) => "stubbed out a b c d ".repeat(size / 20)],
    ["errors", (size) => `Error: ${"0x1/".repeat(size / 4)}\n`],
  ];
  test("of a prompt that is the same line again and again", () => {
    const read = (size: number): void => {
      const reader = createSignalReader(EXPECTED, "a\n".repeat(size / 2));
      for (let line = 0; line < size / 2; line += 1) reader.readLine("a");
      reader.report(null);
    };
    expect(growthOfFour(read, 10_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  });

  test.each(hostile)("of %s", (_, make) => {
    expect(growthOfFour((size) => void analyzeText(make(size)), 200_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  });
});
