import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StreamFormat } from "../../src/core/streams/stream-format.ts";
import { createEntryPrinter, entryLines, tellsTime } from "../../src/core/views/transcript-lines.ts";
import { beginningOf, readTranscriptLines, type TranscriptEntry } from "../../src/core/views/transcript.ts";

const RECORDINGS = join(import.meta.dirname, "..", "recordings");
const FORMATS: readonly StreamFormat[] = ["claude", "codex", "gemini", "opencode", "copilot", "acp"];

/** What the agent itself printed; recordings of conversations have both sides. */
function linesOf(format: StreamFormat, name: string): readonly string[] {
  const lines = readFileSync(join(RECORDINGS, format, name), "utf8")
    .split("\n")
    .filter(Boolean);
  if (format !== "acp") return lines;
  return lines.flatMap((line) => {
    const { ms: _ms, dir, ...message } = JSON.parse(line) as Record<string, unknown>;
    return dir === "a→c" ? [JSON.stringify(message)] : [];
  });
}

function entriesIn(lines: readonly string[], workspace: string | null = null): readonly TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  const reading = readTranscriptLines(beginningOf(lines), {
    workspace,
    onEntry: (entry) => entries.push(entry),
  });
  for (const [place, line] of lines.entries()) reading.line(line, place);
  reading.end();
  return entries;
}

const clock = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** Printed as it comes, line by line. */
function printed(lines: readonly string[], isFull: boolean): string {
  let text = "";
  const beginning = beginningOf(lines);
  const printer = createEntryPrinter((more) => (text += more), {
    isFull,
    clock: tellsTime(beginning.format) ? clock : null,
  });
  const reading = readTranscriptLines(beginning, { onEntry: (entry) => printer.entry(entry) });
  for (const [place, line] of lines.entries()) {
    reading.line(line, place);
    printer.head(reading.open()[0]);
  }
  reading.end();
  return text;
}

describe("recordings of real agents", () => {
  test.each(FORMATS)("%s as a terminal shows them", async (format) => {
    const names = readdirSync(join(RECORDINGS, format)).filter((name) => name.endsWith(".jsonl"));
    const shown = names.map((name) => {
      const lines = linesOf(format, name);
      expect(beginningOf(lines).format).toBe(lines.length === 0 ? "text" : format);
      const folded = printed(lines, false);
      const full = printed(lines, true);
      return `=== ${name}\n${folded}${full === folded ? "" : `--- full\n${full}`}`;
    });
    await expect(shown.join("\n")).toMatchFileSnapshot(`transcripts/${format}.txt`);
  });

  test.each(FORMATS)("%s: printed while they come they are the same", (format) => {
    for (const name of readdirSync(join(RECORDINGS, format)).filter((one) => one.endsWith(".jsonl"))) {
      const lines = linesOf(format, name);
      const isTimed = tellsTime(beginningOf(lines).format);
      let text = "";
      const printer = createEntryPrinter((more) => (text += more), { clock: isTimed ? clock : null });
      for (const entry of entriesIn(lines)) printer.entry(entry);
      expect(printed(lines, false)).toBe(text);
    }
  });
});

const SESSION = { session_id: "s" };
const says = (...content: readonly object[]): string =>
  JSON.stringify({ type: "assistant", ...SESSION, message: { id: "m", content } });
const answers = (id: string, content: unknown, isError = false): string =>
  JSON.stringify({
    type: "user",
    ...SESSION,
    message: { content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }] },
  });
const calls = (id: string, name: string, input: object): object => ({ type: "tool_use", id, name, input });
const BEGIN = JSON.stringify({ type: "system", subtype: "init", cwd: "/w", model: "m", ...SESSION });

/** With what the recordings have not. */
const WORK = [
  BEGIN,
  says({ type: "thinking", thinking: "The test fails.\nI look at it first." }),
  says({ type: "text", text: "I fix the rounding." }, calls("1", "Read", { file_path: "/w/src/price.ts" })),
  answers("1", "1\texport const price = 1;\n2\t\n3\texport const vat = 2;"),
  says(
    calls("2", "Edit", {
      file_path: "/w/src/price.ts",
      old_string: "const a = 1;\nconst b = 2;\nreturn a;",
      new_string: "const a = 1;\nconst b = 3;\nreturn a;",
    }),
    calls("3", "Grep", { pattern: "price", path: "/w/src" }),
  ),
  answers("3", "src/price.ts"),
  answers("2", "The file /w/src/price.ts has been updated."),
  says(calls("4", "Bash", { command: "npm test\necho done", description: "Runs the tests" })),
  answers("4", "Exit code 1\n✗ rounds up", true),
  says(calls("5", "Task", { description: "look for callers", prompt: "Find all callers of price." })),
  JSON.stringify({
    type: "assistant",
    ...SESSION,
    parent_tool_use_id: "5",
    message: { id: "n", content: [calls("6", "Glob", { pattern: "**/*.ts" })] },
  }),
  answers("6", "a.ts\nb.ts"),
  answers("5", [{ type: "text", text: "Two callers." }]),
  "npm warn something on stderr",
  says(calls("7", "Bash", { command: "sleep 600" })),
];

describe("entries", () => {
  test("of a whole piece of work, folded and full", async () => {
    await expect(`${printed(WORK, false)}--- full\n${printed(WORK, true)}`).toMatchFileSnapshot(
      "transcripts/work.txt",
    );
  });

  test("of a call have its input, its result and its diff", () => {
    const entries = entriesIn(WORK);
    expect(entries.find(({ title }) => title === "Edit src/price.ts")).toMatchObject({
      kind: "edit",
      state: "good",
      brief: "+1 −1",
      diff: " const a = 1;\n-const b = 2;\n+const b = 3;\n return a;",
    });
    expect(entries.find(({ title }) => title.startsWith("Run npm test"))).toMatchObject({
      kind: "tool",
      state: "bad",
      brief: "Exit code 1",
      input: "command:\nnpm test\necho done\ndescription: Runs the tests",
    });
    expect(entries.filter(({ isNested }) => isNested).map(({ title }) => title)).toEqual(["Search **/*.ts"]);
    expect(entries.at(-1)).toMatchObject({ title: "Run sleep 600", state: "open" });
  });

  test("have nothing that could move a terminal, and no secret", () => {
    const hostile = "\u001b[2J\u001b]0;title\u0007red\u202e hunter22\u0000";
    const lines = [
      BEGIN,
      says({ type: "text", text: hostile }, calls("1", hostile, { command: hostile, [hostile]: hostile })),
      answers("1", hostile, true),
      says(calls("2", "Write", { file_path: hostile, content: hostile })),
      hostile,
    ];
    const entries: TranscriptEntry[] = [];
    const reading = readTranscriptLines(beginningOf(lines), {
      onEntry: (entry) => entries.push(entry),
      redact: (text) => text.replaceAll("hunter22", "***"),
    });
    for (const line of lines) reading.line(line, 0);
    reading.end();
    const shown = entries.flatMap((entry) => entryLines(entry, { isFull: true })).join("\n");
    expect(shown).toContain("red ***");
    // oxlint-disable-next-line no-control-regex -- escapes are what it is about
    expect(shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]|hunter22/);
  });

  test("are bounded, whatever comes", () => {
    const long = "x".repeat(3_000_000);
    const lines = [
      BEGIN,
      says({ type: "text", text: long }, calls("1", "Bash", { command: long })),
      answers("1", long),
    ];
    for (const entry of entriesIn(lines))
      for (const text of [entry.title, entry.brief, entry.input, entry.result, entry.diff])
        expect(text.length).toBeLessThan(100_000);
    const open = Array.from({ length: 500 }, (_, index) =>
      says(calls(String(index), "Bash", { command: "true" })),
    );
    expect(entriesIn([BEGIN, ...open])).toHaveLength(501);
  });

  test("of a call that was given out before its end have the result on their own", () => {
    const many = Array.from({ length: 60 }, (_, index) => says({ type: "text", text: `word ${index}` }));
    const lines = [BEGIN, says(calls("1", "Bash", { command: "sleep 9" })), ...many, answers("1", "slept")];
    const runs = entriesIn(lines).filter(({ title }) => title === "Run sleep 9");
    expect(runs.map(({ state, brief }) => `${state} ${brief}`)).toEqual(["open ", "good slept"]);
  });

  test("of plain text are its lines as they came", () => {
    const lines = Array.from({ length: 95 }, (_, index) => (index % 7 === 0 ? "" : `line ${index}`));
    expect(printed(lines, false)).toBe(`${lines.join("\n")}\n`);
  });

  test("of a stream with noise before it are those of its format", () => {
    expect(beginningOf(["a warning", BEGIN, ...WORK])).toEqual({ format: "claude", workspace: "/w" });
    expect(beginningOf(["{", "no events"])).toEqual({ format: "text", workspace: null });
  });
});
