import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LAUNCH } from "../../../../test/fixtures/launch.ts";
import type { AgentReader, Send } from "../agent-adapter.ts";
import { claudeProgram } from "./claude-program.ts";

const RECORDING = join(import.meta.dirname, "../../../../test/recordings/claude-conversations/inject.jsonl");
const GONE = { is: "exited", code: 0 } as const;

interface Conversation {
  readonly reader: AgentReader;
  readonly send: Send;
  /** What has been written to it, line by line. */
  readonly written: readonly unknown[];
  /** One event of its stream. */
  readonly says: (event: unknown) => void;
  /** From now on nothing can be written. */
  readonly close: () => void;
}

function converse(prompt: string): Conversation {
  const written: unknown[] = [];
  let isOpen = true;
  const promise = { completion: "COMPLETE", requireXml: true };
  const reader = claudeProgram.createReader({ prompt, promise }, { ...LAUNCH, prompt });
  const send = reader.converse?.((text) => {
    if (isOpen)
      written.push(
        ...text
          .split("\n")
          .filter(Boolean)
          .map((line): unknown => JSON.parse(line)),
      );
    return Promise.resolve(isOpen);
  });
  if (send === undefined) throw new Error("it does not converse");
  return {
    reader,
    send,
    written,
    says: (event) => reader.stdoutLine(JSON.stringify(event)),
    close: () => (isOpen = false),
  };
}

const userMessage = (text: string): object => ({
  type: "user",
  message: { role: "user", content: [{ type: "text", text }] },
});
const replayed = (text: string): object => ({ ...userMessage(text), isReplay: true });
const INIT = { type: "system", subtype: "init", session_id: "s", model: "m" };
const RESULT = { type: "result", subtype: "success", is_error: false, result: "Done.", session_id: "s" };
const TOOL_RESULT = {
  type: "user",
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
};

/** What a promise has come to so far. */
async function soFar(promise: Promise<boolean>): Promise<boolean | "open"> {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve("open" as const)]);
}

describe("a conversation with claude", () => {
  test("begins with the prompt, whole and in one line", () => {
    const { written } = converse('Do it.\n\n- with "care"\n- and ünïcode 🎉\n');
    expect(written).toEqual([userMessage('Do it.\n\n- with "care"\n- and ünïcode 🎉\n')]);
  });

  test("delivers a message when it is echoed, not when it is written", async () => {
    const { send, says, written } = converse("Do it.");
    says(INIT);
    says(replayed("Do it."));
    const delivery = send("Look at the tests.");
    expect(written.slice(1)).toEqual([userMessage("Look at the tests.")]);
    expect(await soFar(delivery)).toBe("open");
    says(TOOL_RESULT);
    expect(await soFar(delivery)).toBe("open");
    says(replayed("Look at the tests."));
    expect(await soFar(delivery)).toBe(true);
  });

  test("does not take the echo of the prompt for that of the message after it", async () => {
    const { send, says } = converse("Do it.");
    const delivery = send("Look at the tests.");
    says(replayed("Do it."));
    expect(await soFar(delivery)).toBe("open");
    says(replayed("Look at the tests."));
    expect(await soFar(delivery)).toBe(true);
  });

  test("delivers several messages in their order", async () => {
    const { send, says } = converse("Do it.");
    const [first, second] = [send("one"), send("two")];
    says(replayed("Do it."));
    says(replayed("one"));
    expect([await soFar(first), await soFar(second)]).toEqual([true, "open"]);
    says(replayed("two"));
    expect(await soFar(second)).toBe(true);
  });

  test("tells of a message that nobody heard when the process is gone", async () => {
    const { send, says, reader } = converse("Do it.");
    says(replayed("Do it."));
    const delivery = send("too late");
    expect(await soFar(delivery)).toBe("open");
    reader.result(GONE);
    expect(await delivery).toBe(false);
    expect(await send("later still")).toBe(false);
  });

  test("tells of a message that could not be written, and does not wait for its echo", async () => {
    const { send, says, reader, close } = converse("Do it.");
    says(replayed("Do it."));
    close();
    expect(await send("nobody reads this")).toBe(false);
    says(RESULT);
    expect(reader.isOver?.()).toBe(true);
  });

  test("is over with the result", () => {
    const { says, reader } = converse("Do it.");
    says(INIT);
    says(replayed("Do it."));
    expect(reader.isOver?.()).toBe(false);
    says(RESULT);
    expect(reader.isOver?.()).toBe(true);
  });

  test("is not over while a message waits that it has not heard: another turn follows", async () => {
    const { send, says, reader } = converse("Do it.");
    says(INIT);
    says(replayed("Do it."));
    const delivery = send("One more thing.");
    says(RESULT);
    expect(reader.isOver?.()).toBe(false);
    says(INIT);
    says(replayed("One more thing."));
    expect(await delivery).toBe(true);
    expect(reader.isOver?.()).toBe(false);
    says({ ...RESULT, result: "Done too." });
    expect(reader.isOver?.()).toBe(true);
    expect(reader.result(GONE)).toMatchObject({ failure: null, finalText: "Done too.", sessionId: "s" });
  });
});

interface RecordedLine {
  readonly dir: "in" | "out";
  readonly line: { readonly message?: { readonly content: readonly { readonly text?: string }[] } };
}

test("a recorded conversation: the message arrives within the turn, with the result of the tool", async () => {
  const lines = readFileSync(RECORDING, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RecordedLine);
  const sent = lines.filter(({ dir }) => dir === "in");
  const { send, says, reader, written } = converse(sent[0]?.line.message?.content[0]?.text ?? "");
  const states: (boolean | "open")[] = [];
  let delivery: Promise<boolean> | null = null;
  for (const { dir, line } of lines.slice(1)) {
    if (dir === "in") delivery = send(line.message?.content[0]?.text ?? "");
    else says(line);
    if (delivery !== null) states.push(await soFar(delivery));
    expect(reader.isOver?.()).toBe(line === lines.at(-1)?.line);
  }
  expect(written).toEqual(sent.map(({ line }) => line));
  expect(states).toEqual(["open", "open", "open", "open", true, true, true]);
  expect(reader.result(GONE)).toMatchObject({
    failure: null,
    toolCalls: 1,
    sessionId: "c924bd9e-5692-4d37-b5b1-bc7dd49b5665",
    usage: { inputTokens: 2_500, outputTokens: 81, costUsd: 0.012220000000000002 },
    unknownEvents: 0,
  });
});
