import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { analyzeOutput } from "../../src/adapters/agents/analyze-output.ts";
import { projectAnalysis } from "../../src/core/views/analysis.ts";
import type { StreamFormat } from "../../src/core/streams/stream-format.ts";
import { linesOf, RECORDED, stderrOf } from "./recorded-streams.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-streams-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Options {
  readonly format?: StreamFormat | "text" | null;
  readonly stderr?: string;
  readonly exitCode?: number;
  readonly cwd?: string;
}

/** Everything that `ralph analyze` prints. */
async function analyze(text: string, { format = null, stderr, exitCode, cwd = folder }: Options = {}) {
  const file = join(folder, "output.txt");
  const stderrFile = stderr === undefined ? null : join(folder, "errors.txt");
  writeFileSync(file, text);
  if (stderrFile !== null) writeFileSync(stderrFile, stderr ?? "");
  const promise = { completion: "COMPLETE", requireXml: true };
  const saved = { file, stderrFile, exitCode: exitCode ?? null, promise, cwd, format };
  const found = await analyzeOutput(saved);
  const part = found.stream === null ? null : { ...found.stream.facts, ...found.stream };
  return projectAnalysis(found.format, found.report, found.failure, part) as Record<string, unknown>;
}

const success = (format: StreamFormat) =>
  RECORDED.find((one) => one.format === format && one.name === "success")!;

describe("the format is found out", () => {
  const recorded = RECORDED.filter(({ name }) => name !== "root-refusal");
  test.each(recorded.map((one) => [`${one.format} ${one.name}`, one] as const))("%s", async (_, one) => {
    expect(await analyze(linesOf(one).join("\n"))).toMatchObject({
      agent: one.format,
      claim: one.claim,
      session_id: one.session,
      tool_calls: one.tools,
    });
  });

  test("in one long array, and behind a few lines of something else", async () => {
    const events = linesOf(success("claude")).join(",");
    expect(await analyze(`[${events}]`)).toMatchObject({ agent: "claude", claim: "complete" });
    const lines = linesOf(success("gemini")).join("\n");
    expect(await analyze(`\uFEFFWarning: no colours\nLoaded.\n${lines}\n`)).toMatchObject({
      agent: "gemini",
    });
  });

  test.each([
    ["prose", "All good.\n<promise>COMPLETE</promise>\n"],
    ["nothing", ""],
    ["JSON of nobody", '{"type":"note","text":"x"}\n<promise>COMPLETE</promise>\n'],
    [
      "prose about a stream",
      `${"This is what the stream looks like.\n".repeat(9)}{"type":"thread.started","thread_id":"x"}\n`,
    ],
  ])("%s is plain text", async (_, text) => {
    expect(await analyze(text)).toMatchObject({ agent: "text", tool_calls: null, session_id: null });
    expect(Object.keys(await analyze(text))).not.toContain("damaged_lines");
  });

  test("unless it is told", async () => {
    const lines = linesOf(success("codex")).join("\n");
    expect(await analyze(lines, { format: "text" })).toMatchObject({ agent: "text", claim: "none" });
    expect(await analyze("Hello.", { format: "codex" })).toMatchObject({
      claim: "none",
      failure: { class: "agent", message: "no final result (exit code 0)", resets_at: null },
      damaged_lines: 1,
    });
  });
});

test("everything that a stream tells is printed", async () => {
  expect(await analyze(linesOf(success("claude")).join("\n"))).toMatchObject({
    agent: "claude",
    claim: "complete",
    promise_matches: true,
    work_type: "IMPLEMENTATION",
    files_written: ["NOTE.md"],
    tool_calls: 2,
    session_id: "774e6430-8294-4b80-a0e6-4103ca13801f",
    usage: { input_tokens: 3_900, output_tokens: 123, cache_read_tokens: 1_500, cost_usd: 0.01896 },
    failure: null,
    error_signature: null,
    unknown_events: 0,
    damaged_lines: 0,
  });
});

test("files outside the workspace keep their whole name", async () => {
  const lines = linesOf(success("codex")).join("\n");
  expect(await analyze(lines)).toMatchObject({ files_written: ["/SCRATCH/repos/codex-success/NOTE.md"] });
  const cwd = "/SCRATCH/repos/codex-success";
  expect(await analyze(lines, { cwd })).toMatchObject({ files_written: ["NOTE.md"] });
});

test("stderr and the exit code tell why nothing began", async () => {
  const refusal = RECORDED.find(({ name }) => name === "root-refusal")!;
  const options = { format: "claude", stderr: stderrOf(refusal).join("\n"), exitCode: 1 } as const;
  expect(await analyze("", options)).toMatchObject({
    failure: { class: "config", message: expect.stringContaining("root/sudo") as string },
  });
});

test("the error of a failure has a signature, and a limit its end", async () => {
  const usage = RECORDED.find(({ name }) => name === "errusage-oauth")!;
  expect(await analyze(linesOf(usage).join("\n"), { exitCode: 1 })).toMatchObject({
    failure: { class: "limit", resets_at: "2026-11-15T05:46:37.000Z" },
    error_signature: "You've hit your …-hour limit · resets … (UTC)",
  });
});
