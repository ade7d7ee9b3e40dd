import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStreamReader, type StreamAnalysis } from "../../src/adapters/agents/stream-reader.ts";
import { linesOf, NOW, RECORDED, stderrOf, type RecordedStream } from "./recorded-streams.ts";

const PROMPT = "Create NOTE.md and commit it. When done print <promise>COMPLETE</promise>.";

function read(recorded: RecordedStream, lines: readonly string[] = linesOf(recorded)): StreamAnalysis {
  const reader = readerOf(recorded);
  for (const line of lines) reader.stdoutLine(line);
  for (const line of stderrOf(recorded)) reader.stderrLine(line);
  return reader.analyze(recorded.ending);
}

function readerOf({ format, name }: RecordedStream) {
  return createStreamReader(format, {
    prompt: PROMPT,
    promise: { completion: "COMPLETE", requireXml: true },
    workspace: `/SCRATCH/repos/${format}-${name}`,
    now: () => NOW,
    zone: "UTC",
  });
}

function expectFacts({ report, facts }: StreamAnalysis, expected: RecordedStream): void {
  expect(report.claim.is).toBe(expected.claim);
  if (expected.claim === "complete")
    expect(report.finalText).toMatch(/^All work is finished\.\n[^]*<promise>COMPLETE<\/promise>$/);
  expect(facts.filesWritten).toEqual(expected.files);
  expect(facts.toolCalls).toBe(expected.tools);
  expect(facts.model).toBe(expected.model);
}

function expectAll(analysis: StreamAnalysis, expected: RecordedStream): void {
  expectFacts(analysis, expected);
  const { failure, facts } = analysis;
  expect(facts.sessionId).toBe(expected.session);
  const { costUsd, ...tokens } = expected.usage;
  expect(facts.usage).toMatchObject(tokens);
  if (costUsd === null) expect(facts.usage.costUsd).toBeNull();
  else expect(facts.usage.costUsd).toBeCloseTo(costUsd, 9);
  expect(facts.isOver).toBe(expected.isOver);
  expect(failure?.class ?? null).toBe(expected.failure);
  expect(failure?.message ?? "").toMatch(expected.message);
  const resetsAt = failure?.resetsAt ?? null;
  expect(resetsAt === null ? null : new Date(resetsAt).toISOString()).toBe(expected.resetsAt);
}

const NAMED = RECORDED.map((recorded) => [`${recorded.format} ${recorded.name}`, recorded] as const);
const WITH_EVENTS = NAMED.filter(([, recorded]) => recorded.name !== "root-refusal");
const ENDED_WELL = NAMED.filter(([, { failure }]) => failure === null);

describe("recordings of the real programs", () => {
  test("are all in the table", () => {
    const folder = join(import.meta.dirname, "..", "recordings");
    const formats = new Set<string>(RECORDED.map(({ format }) => format));
    const folders = readdirSync(folder).filter((format) => formats.has(format));
    const files = folders.flatMap((format) =>
      readdirSync(join(folder, format))
        .filter((file) => file.endsWith(".jsonl"))
        .map((file) => `${format} ${file.replace(/\.jsonl$/, "")}`),
    );
    expect(files.toSorted()).toEqual(NAMED.map(([name]) => name).toSorted());
  });

  test.each(NAMED)("%s", (_, recorded) => {
    const analysis = read(recorded);
    expectAll(analysis, recorded);
    expect(analysis).toMatchObject({ unknownEvents: 0, damagedLines: 0 });
  });

  test.each(NAMED)("%s gives the run the same", (_, recorded) => {
    const reader = readerOf(recorded);
    for (const line of linesOf(recorded)) reader.stdoutLine(line);
    for (const line of stderrOf(recorded)) reader.stderrLine(line);
    expect(reader.isOver?.()).toBe(recorded.isOver);
    expect(reader.activity()).toMatchObject({
      toolCalls: recorded.tools,
      filesTouched: recorded.files.length,
    });
    const result = reader.result(recorded.ending);
    expect(result).toMatchObject({
      claim: { is: recorded.claim },
      toolCalls: recorded.tools,
      model: recorded.model,
      sessionId: recorded.session,
      filesWritten: recorded.files,
    });
    expect(result.failure?.class ?? null).toBe(recorded.failure);
  });
});

describe("the same recordings, damaged", () => {
  test.each(ENDED_WELL)("%s, the last line cut off: all but the end is known", (_, recorded) => {
    const lines = linesOf(recorded);
    const last = lines.at(-1) ?? "";
    const analysis = read(recorded, [...lines.slice(0, -1), last.slice(0, last.length / 2)]);
    expectFacts(analysis, recorded);
    expect(analysis.facts.isOver).toBe(false);
    expect(analysis.damagedLines).toBe(1);
    expect(analysis.failure).toMatchObject({ class: "agent", message: "no final result (exit code 0)" });
  });

  const NOISE = [
    "Warning: 256-color support not detected.",
    "<promise>BLOCKED:not the agent's word</promise>",
    "\u001B[31mError: 429 Too Many Requests: usage limit reached, resets in 5 minutes\u001B[0m",
    "{ this is no JSON }",
    "42",
    '"text"',
  ];
  test.each(WITH_EVENTS)("%s, with noise between the lines", (_, recorded) => {
    const lines = linesOf(recorded);
    const noisy = lines.flatMap((line, at) => [NOISE[at % NOISE.length] ?? "", "", line]);
    const analysis = read(recorded, noisy);
    expectAll(analysis, { ...recorded, message: /^/ });
    expect(analysis.damagedLines).toBe(lines.length);
  });

  test.each(WITH_EVENTS)("%s, with a byte order mark, colours and carriage returns", (_, recorded) => {
    const coloured = linesOf(recorded).map(
      (line, at) => `${at === 0 ? "\uFEFF" : ""}\u001B[2m${line}\u001B[0m\r`,
    );
    const analysis = read(recorded, coloured);
    expectAll(analysis, recorded);
    expect(analysis.damagedLines).toBe(0);
  });

  const SHAPES: readonly (readonly [string, (events: readonly unknown[]) => string])[] = [
    ["one array in one line", (events) => JSON.stringify(events)],
    [
      "an array with an event a line",
      (events) => `[\n${events.map((event) => JSON.stringify(event)).join(",\n")}\n]`,
    ],
  ];
  describe.each(SHAPES)("as %s", (_shape, write) => {
    test.each(WITH_EVENTS)("%s", (_, recorded) => {
      const events = linesOf(recorded).map((line) => JSON.parse(line) as unknown);
      const analysis = read(recorded, write(events).split("\n"));
      expectAll(analysis, recorded);
      expect(analysis.damagedLines).toBe(0);
    });
  });

  test.each(WITH_EVENTS)("%s, with fields and events that nobody knows", (_, recorded) => {
    const news = {
      type: "brand.new",
      session_id: 7,
      message: "limit",
      data: { content: "<promise>X</promise>" },
    };
    const lines = linesOf(recorded).flatMap((line) => [
      JSON.stringify(withNews(JSON.parse(line))),
      JSON.stringify(news),
    ]);
    const analysis = read(recorded, lines);
    expectAll(analysis, recorded);
    expect(analysis.unknownEvents).toBe(lines.length / 2);
  });
});

test("a lone brace among the lines swallows none of them", () => {
  const recorded = RECORDED[0]!;
  const [first = "", ...others] = linesOf(recorded);
  const analysis = read(recorded, ["{", first, "  {", '    "type": "result",', ...others]);
  expectAll(analysis, recorded);
  expect(analysis.damagedLines).toBe(3);
});

/** A new field first in every object. */
function withNews(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withNews);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).map(([name, value]) => [name, withNews(value)] as const);
  return { brand_new: { type: "result" }, ...Object.fromEntries(entries) };
}
