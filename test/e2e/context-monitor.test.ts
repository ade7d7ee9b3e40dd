import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHookFolder, type HookCall, type HookFolder } from "./hook-client.ts";

let folder: HookFolder;

beforeEach(() => {
  folder = createHookFolder();
});
afterEach(() => folder.dispose());

const WINDOW = 200_000;

/** What the agent is told when its transcript is this. */
async function told(transcript: string, session = "s", call: HookCall = {}): Promise<string | null> {
  const input = {
    session_id: session,
    transcript_path: folder.write("t.jsonl", transcript),
    tool_name: "Bash",
  };
  const { hookSpecificOutput, ...rest } = await folder.ask("post-tool-use", { ...call, input });
  expect(rest).toEqual({});
  if (hookSpecificOutput === undefined) return null;
  expect(hookSpecificOutput.hookEventName).toBe("PostToolUse");
  return hookSpecificOutput.additionalContext;
}

function letters(percent: number): string {
  return "x".repeat((percent / 100) * WINDOW * 4);
}

function message(usage: object | undefined, others: object = {}): string {
  return `${JSON.stringify({ type: "assistant", message: { role: "assistant", usage }, ...others })}\n`;
}

function used(tokens: number): object {
  return {
    input_tokens: 1_000,
    cache_creation_input_tokens: 2_000,
    cache_read_input_tokens: tokens - 4_000,
    output_tokens: 1_000,
  };
}

test("every threshold is told once", async () => {
  expect(await told(letters(49))).toBe(null);
  const levels: (string | undefined)[] = [];
  for (const percent of [50, 60, 70, 80, 90]) {
    levels.push((await told(letters(percent)))?.split(":")[0]);
    expect(await told(letters(percent + 1))).toBe(null);
  }
  expect(levels).toEqual(["NOTICE", "NOTICE", "WARNING", "WARNING", "CRITICAL"]);
  expect(await told(letters(99))).toBe(null);
});

test("several thresholds at once are told as the highest", async () => {
  expect(await told(letters(75))).toMatch(
    /^WARNING: 75 % of the context window is used \(150,000 of 200,000/,
  );
  expect(await told(letters(55))).toBe(null);
  expect(await told(letters(65))).toBe(null);
  expect(await told(letters(92))).toMatch(/^CRITICAL: 92 %/);
});

test("every session is told for itself, in the iteration's folder too", async () => {
  expect(await told(letters(50), "one")).toContain("NOTICE");
  expect(await told(letters(50), "two")).toContain("NOTICE");
  const env = { RALPH_ITERATION_DIR: join(folder.root, "iteration") };
  mkdirSync(env.RALPH_ITERATION_DIR);
  expect(await told(letters(50), "one", { env })).toContain("NOTICE");
  expect(await told(letters(50), "one", { env })).toBe(null);
});

test("what the model reported counts, not the length of the transcript", async () => {
  const large = `${JSON.stringify({ type: "user", text: letters(95) })}\n`;
  expect(await told(large + message(used(20_000)))).toBe(null);
  expect(await told(message(used(190_000)) + message(used(110_000)) + "\n{")).toMatch(/^NOTICE: 55 %/);
});

test("subagents and messages without usage do not count", async () => {
  const last =
    message(used(150_000), { isSidechain: true }) + message({ input_tokens: 0 }) + message(undefined);
  expect(await told(message(used(124_000)) + last)).toMatch(/^NOTICE: 62 %/);
});

test("usage far from the end of a large transcript is found, or the size counts", async () => {
  const line = `${JSON.stringify({ type: "user", text: "x".repeat(500_000) })}\n`;
  expect(await told(message(used(145_000)) + line.repeat(4))).toMatch(/^WARNING: 72 %/);
  expect(await told(message(used(10_000)) + line.repeat(20), "two")).toMatch(/^CRITICAL: 12\d\d %/);
});

test("another window may be set", async () => {
  const call = { env: { CLAUDE_CONTEXT_WINDOW: "1000000" } };
  expect(await told(message(used(450_000)), "s", call)).toBe(null);
  expect(await told(message(used(510_000)), "s", call)).toMatch(/^NOTICE: 51 %/);
  const nonsense = { env: { CLAUDE_CONTEXT_WINDOW: "much" } };
  expect(await told(message(used(100_000)), "t", nonsense)).toMatch(/^NOTICE: 50 %/);
});

test("nothing is told when there is nothing to go by", async () => {
  const inputs = [
    {},
    "",
    "garbage",
    { session_id: "s", transcript_path: "/nonexistent/x.jsonl" },
    { transcript_path: folder.root },
    { transcript_path: 7 },
    { transcript_path: "" },
  ];
  for (const input of inputs) expect(await folder.ask("post-tool-use", { input })).toEqual({});
});

test("nothing is told when it could not be remembered: it would be told again and again", async () => {
  expect(await told(letters(95), "s", { env: { TMPDIR: join(folder.root, "no-such") } })).toBe(null);
});
