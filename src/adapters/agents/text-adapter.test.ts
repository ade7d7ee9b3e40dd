import { PLAIN } from "../../core/agents.ts";
import { describe, expect, test } from "vitest";
import type { AgentReader } from "./agent-adapter.ts";
import { LAUNCH } from "../../../test/fixtures/launch.ts";
import { textAdapter } from "./text-adapter.ts";

describe("the command", () => {
  const commandOf = (...command: string[]): unknown =>
    textAdapter.command(
      { ...LAUNCH, agent: { ...PLAIN, name: "a", format: "text", command }, prompt: "do $& {prompt_file}" },
      "/p.md",
    );

  test("gets the prompt on stdin", () => {
    expect(commandOf("a", "-x")).toEqual({ command: ["a", "-x"], input: "do $& {prompt_file}" });
  });

  test("or as an argument, once and as it is", () => {
    expect(commandOf("a", "--say={prompt}")).toEqual({
      command: ["a", "--say=do $& {prompt_file}"],
      input: null,
    });
  });

  test("or as a file", () => {
    expect(commandOf("a", "{prompt_file}", "{other}")).toEqual({
      command: ["a", "/p.md", "{other}"],
      input: null,
    });
  });
});

describe("the reader", () => {
  const createReader = (): AgentReader =>
    textAdapter.createReader(
      {
        prompt: "First this.\nThen print:\n<promise>COMPLETE</promise>\nThat is all.\n",
        promise: { completion: "COMPLETE", requireXml: true },
      },
      LAUNCH,
    );

  test("reads the claim and the last words from stdout", () => {
    const reader = createReader();
    for (const line of ["working", "", "done", "<promise>COMPLETE</promise>", ""]) reader.stdoutLine(line);
    reader.stderrLine("<promise>BLOCKED:not here</promise>");
    expect(reader.result({ is: "exited", code: 0 })).toMatchObject({
      claim: { is: "complete", promise: "COMPLETE" },
      failure: null,
      finalText: "working\n\ndone\n\n<promise>COMPLETE</promise>",
      toolCalls: 0,
      usage: { inputTokens: null, outputTokens: null, cacheReadTokens: null, costUsd: null },
    });
  });

  test("does not take the prompt's words for the agent's", () => {
    const reader = createReader();
    for (const line of ["First this.", "Then print:", "<promise>COMPLETE</promise>", "That is all."])
      reader.stdoutLine(line);
    expect(reader.result({ is: "exited", code: 0 }).claim).toEqual({ is: "none" });
  });

  test("does not take the prompt's prose for the agent's either", () => {
    const reader = textAdapter.createReader(
      {
        prompt:
          "TODO: log in\nCreated src/old.ts in the last iteration.\nPrint the promise once you are done.\n",
        promise: { completion: "COMPLETE", requireXml: true },
      },
      LAUNCH,
    );
    for (const line of ["TODO: log in", "Created src/old.ts in the last", "iteration.", "Created src/new.ts"])
      reader.stdoutLine(line);
    expect(reader.result({ is: "exited", code: 0 }).signals).toMatchObject({
      contradictions: [],
      citations: ["src/new.ts"],
    });
  });

  test("reads a status block too", () => {
    const reader = createReader();
    for (const line of [
      "---RALPH_STATUS---",
      "STATUS: BLOCKED",
      "RECOMMENDATION: no key",
      "---END_RALPH_STATUS---",
    ])
      reader.stdoutLine(line);
    expect(reader.result({ is: "exited", code: 0 })).toMatchObject({
      claim: { is: "blocked", reason: "no key" },
      signals: { confidence: 100, statusBlock: { status: "BLOCKED" } },
    });
  });

  test("reads the failure from stderr", () => {
    const reader = createReader();
    reader.stderrLine("Error: no such model");
    expect(reader.result({ is: "exited", code: 1 }).failure?.message).toBe(
      "exit code 1: Error: no such model",
    );
  });

  test("reads when a limit ends by the clock and the zone it is given", () => {
    const reader = textAdapter.createReader(
      {
        prompt: "",
        promise: { completion: "COMPLETE", requireXml: true },
        now: () => Date.parse("2026-11-15T02:46:37Z"),
        zone: "Asia/Tokyo",
      },
      LAUNCH,
    );
    reader.stdoutLine("You've hit your limit · resets 3pm");
    expect(reader.result({ is: "exited", code: 1 }).failure).toEqual({
      class: "limit",
      message: "You've hit your limit · resets 3pm",
      resetsAt: Date.parse("2026-11-15T06:00:00Z"),
    });
  });

  test("has the machine's clock otherwise", () => {
    const reader = createReader();
    reader.stderrLine("Error: rate limited, try again in 2 hours");
    const { resetsAt } = reader.result({ is: "exited", code: 1 }).failure ?? {};
    expect(Math.abs((resetsAt ?? 0) - Date.now() - 7_200_000)).toBeLessThan(60_000);
  });

  test("keeps only the end of a long output", () => {
    const reader = createReader();
    for (let number = 1; number <= 10_000; number += 1) reader.stdoutLine(`line ${number}`);
    const { finalText } = reader.result({ is: "exited", code: 0 });
    expect(finalText.length).toBeLessThan(8_001);
    expect(finalText).toMatch(/^line \d+\n[^]*\nline 10000$/);
  });

  test("knows the last line with words", () => {
    const reader = createReader();
    reader.stdoutLine("one");
    reader.stderrLine("two");
    reader.stdoutLine("  ");
    expect(reader.activity()).toMatchObject({ lastLine: "two", toolCalls: 0, costUsd: null });
  });
});
