import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryRepository } from "../fixtures/temporary-repository.ts";

const RALPH = join(import.meta.dirname, "..", "..", "bin", "ralph");
const MEGABYTE = 1_000_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-analyze-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Analyzed {
  readonly code: number;
  readonly stderr: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly peakMegabytes: number;
}

/** Runs the program; GNU time is not everywhere, so it says itself how much memory it took. */
async function analyze(args: readonly string[], input = "", cwd = folder): Promise<Analyzed> {
  const report = join(folder, "peak.cjs");
  writeFileSync(
    report,
    'process.on("exit", () => require("fs").writeSync(2, "\\npeak=" + process.resourceUsage().maxRSS));',
  );
  const env = { PATH: process.env["PATH"], HOME: folder, NODE_OPTIONS: `--require ${report}` };
  const child = spawn(RALPH, ["analyze", ...args], { cwd, env, stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number];
  const peak = Number(/\npeak=(\d+)$/.exec(stderr)?.[1] ?? Number.NaN);
  return {
    code,
    stderr: stderr.replace(/\npeak=\d+$/, ""),
    json: stdout === "" ? {} : (JSON.parse(stdout) as Record<string, unknown>),
    peakMegabytes: (peak * 1_024) / MEGABYTE,
  };
}

function save(text: string | Uint8Array, name = "output.txt"): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** The same bytes again and again, 200 MB of them. */
async function saveMuch(part: Uint8Array, ending = ""): Promise<string> {
  const stream = createWriteStream(join(folder, "much.txt"));
  for (let written = 0; written < 200 * MEGABYTE; written += part.length)
    if (!stream.write(part)) await once(stream, "drain");
  stream.end(ending);
  await finished(stream);
  return "much.txt";
}

describe("what is printed", () => {
  test("has all keys that scripts rely on, and null for what is not known", async () => {
    const { code, json } = await analyze([save("Created `src/a.ts`.\n<promise>COMPLETE</promise>\n")]);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      agent: "text",
      final_text: "Created `src/a.ts`.\n<promise>COMPLETE</promise>",
      claim: "complete",
      promise: "COMPLETE",
      promise_matches: true,
      blocked_reason: null,
      decide_question: null,
      decide_options: [],
      status_block: null,
      exit_signal: null,
      confidence: 100,
      work_type: null,
      tests_status: null,
      is_test_only: false,
      is_stuck: false,
      contradictions: [],
      citations: ["src/a.ts"],
      answers: [],
      files_written: [],
      tool_calls: null,
      session_id: null,
      usage: { input_tokens: null, output_tokens: null, cache_read_tokens: null, cost_usd: null },
      failure: null,
      error_signature: null,
    });
  });

  test("is what a stream tells, whether or not its name is given", async () => {
    const stream = join(import.meta.dirname, "..", "recordings", "codex", "success.jsonl");
    for (const flags of [[], ["--agent", "codex"]])
      expect(await analyze([stream, ...flags])).toMatchObject({
        stderr: "",
        json: { agent: "codex", claim: "complete", tool_calls: 2, failure: null },
      });
    const { json } = await analyze([stream, "--agent", "text"]);
    expect(json).toMatchObject({ agent: "text", claim: "none", tool_calls: null });
  });

  test("comes from stdin too", async () => {
    const { json } = await analyze(
      ["-"],
      "<promise>DECIDE:a or b? | a | b | default=a | deadline=2m</promise>",
    );
    expect(json).toMatchObject({
      claim: "undecided",
      decide_question: "a or b?",
      decide_options: ["a", "b"],
      decide_default: "a",
      decide_deadline_seconds: 120,
    });
  });

  test("tells what the agent says of work that is already done, and its answers", async () => {
    const { json } = await analyze(
      ["-"],
      "Concern 1: the test was renamed.\n\n<promise>ALREADY_DONE:more() exists</promise>",
    );
    expect(json).toMatchObject({
      claim: "already_done",
      already_done_reason: "more() exists",
      confidence: 100,
      promise_matches: false,
      answers: [{ about: "concern", number: 1, text: "the test was renamed." }],
    });
  });

  test("knows what the flags tell", async () => {
    const stderr = save("Error: read ECONNRESET\n", "errors.txt");
    const file = save("<promise>DONE</promise>\n");
    const flags = ["--promise", "DONE", "--stderr", stderr, "--exit-code", "1", "--agent", "mine"];
    const { code, json } = await analyze([file, ...flags]);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      agent: "mine",
      claim: "complete",
      failure: { class: "transient", message: "Error: read ECONNRESET", resets_at: null },
      error_signature: "Error: read ECONNRESET",
    });
  });

  test("knows when a limit ends", async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const file = save(`You've hit your usage limit. Try again at ${at}.\n`);
    expect((await analyze([file, "--exit-code", "1"])).json).toMatchObject({
      failure: { class: "limit", resets_at: at },
    });
  });

  test("reads what is no event of the agent's own format as nothing", async () => {
    const { code, stderr, json } = await analyze([save("hi"), "--agent", "claude"]);
    expect([code, json["agent"], json["claim"], stderr]).toEqual([0, "claude", "none", ""]);
  });

  test("expects the promise of the configuration, and the flag's before it", async () => {
    const repository = temporaryRepository();
    repository.write(".ralph/ralph.toml", '[promise]\ncompletion = "READY"\nrequire_xml = false\n');
    repository.write("output.txt", "ready\n");
    expect((await analyze(["output.txt"], "", repository.root)).json).toMatchObject({
      claim: "complete",
      promise: "READY",
    });
    expect((await analyze(["output.txt", "--promise", "DONE"], "", repository.root)).json).toMatchObject({
      claim: "none",
    });
    repository.dispose();
  });
});

test.each([
  [["nowhere.txt"], "no such file"],
  [["."], "folder"],
  [["output.txt", "--stderr", "nowhere.txt"], "no such file"],
  [["output.txt", "--exit-code", "x"], "whole number"],
  [[], "missing required argument"],
])("ralph analyze %j is refused", async (args, why) => {
  save("hi");
  const { code, stderr, json } = await analyze(args);
  expect([code, json]).toEqual([64, {}]);
  expect(stderr).toContain(why);
});

describe("any output can be read", () => {
  test.each<[string, Uint8Array]>([
    ["an empty file", Buffer.from("")],
    ["bytes that are no text", Buffer.from(Array.from({ length: 10_000 }, (_, index) => (index * 7) % 256))],
    ["a tag of a megabyte", Buffer.from(`<promise>${"x".repeat(MEGABYTE)}</promise>\n`)],
    ["a tag over a megabyte of lines", Buffer.from(`<promise>${"x\n".repeat(MEGABYTE / 2)}</promise>\n`)],
  ])("%s", async (_, bytes) => {
    expect(await analyze([save(bytes)])).toMatchObject({ code: 0, json: { claim: "none" } });
  });

  const lines = Array.from(
    { length: 10_000 },
    (_, index) => `line ${index} with <tags> and \`code\`, as they come\n`,
  );
  test.each<[string, Uint8Array, string, string]>([
    ["200 MB of lines", Buffer.from(lines.join("")), "<promise>COMPLETE</promise>\n", "complete"],
    ["one line of 200 MB", Buffer.alloc(MEGABYTE, "x"), "\n<promise>COMPLETE</promise>\n", "complete"],
    ["200 MB of NUL bytes", Buffer.alloc(MEGABYTE), "", "none"],
  ])("%s, in less than 120 MB of memory", async (_, part, ending, claim) => {
    const { code, json, peakMegabytes } = await analyze([await saveMuch(part, ending)]);
    expect([code, json["claim"]]).toEqual([0, claim]);
    expect(peakMegabytes).toBeLessThan(120);
  });
});
