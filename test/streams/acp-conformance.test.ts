import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createAcpReader, type AcpReader } from "../../src/adapters/agents/acp/acp-client.ts";
import { createEventReader, jsonEvents } from "../../src/adapters/agents/stream-reader.ts";
import type { Usage } from "../../src/core/streams/agent-report.ts";
import { readAcpMessage } from "../../src/core/streams/acp-stream.ts";
import {
  CONVERSATIONS,
  FOLDER,
  linesOf,
  type Line,
  type RecordedConversation,
} from "./recorded-conversations.ts";

const ENDING = { is: "exited", code: 0 } as const;
const PROMPT = "Create NOTE.md and commit it.";
const NAMED = CONVERSATIONS.map((recorded) => [recorded.name, recorded] as const);

const requestFor = ({ name }: RecordedConversation) => ({
  prompt: PROMPT,
  promise: { completion: "COMPLETE", requireXml: true },
  workspace: `/SCRATCH/repos/acp-${name}`,
});

function expectUsage(usage: Usage, { costUsd, ...tokens }: Usage): void {
  expect(usage).toMatchObject(tokens);
  if (costUsd === null) expect(usage.costUsd).toBeNull();
  else expect(usage.costUsd).toBeCloseTo(costUsd, 9);
}

test("all recordings are in the table", () => {
  const files = readdirSync(FOLDER).map((file) => file.replace(/\.jsonl$/, ""));
  expect(files.toSorted()).toEqual(CONVERSATIONS.map(({ name }) => name).toSorted());
});

describe("read as the saved output of the agent", () => {
  const analyze = (recorded: RecordedConversation, lines: readonly string[]) => {
    const reader = createEventReader(jsonEvents(readAcpMessage), requestFor(recorded));
    for (const line of lines) reader.stdoutLine(line);
    return reader.analyze(ENDING);
  };
  const outputOf = (recorded: RecordedConversation) =>
    linesOf(recorded)
      .filter(({ isAgent }) => isAgent)
      .map(({ message }) => JSON.stringify(message));

  test.each(NAMED)("%s", (_, recorded) => {
    const { report, facts, failure, unknownEvents, damagedLines } = analyze(recorded, outputOf(recorded));
    expect({ unknownEvents, damagedLines }).toEqual({ unknownEvents: 0, damagedLines: 0 });
    expect(report.claim.is).toBe(recorded.claim);
    expect(report.finalText).toMatch(recorded.finalText);
    expect(facts).toMatchObject({
      isOver: true,
      sessionId: recorded.session,
      model: recorded.model,
      toolCalls: recorded.tools,
      lastTool: recorded.lastTool,
      filesWritten: recorded.files,
    });
    expectUsage(facts.usage, recorded.usage);
    expect(failure?.class ?? null).toBe(recorded.failure);
  });

  test.each(NAMED)("%s, without its end", (_, recorded) => {
    const lines = outputOf(recorded).filter((line) => !line.includes('"stopReason"'));
    expect(analyze(recorded, lines).failure).toMatchObject({ message: "no final result (exit code 0)" });
  });

  test.each(NAMED)("%s, with noise between the lines", (_, recorded) => {
    const noisy = outputOf(recorded).flatMap((line) => ["Error: 429 Too Many Requests", "{ no JSON }", line]);
    const { report, facts, failure } = analyze(recorded, noisy);
    expect(report.finalText).toMatch(recorded.finalText);
    expect(facts).toMatchObject({ toolCalls: recorded.tools, filesWritten: recorded.files });
    expect(failure?.class ?? null).toBe(recorded.failure);
  });
});

/** Both sides as they were, ours played by the client: it is to say what was said then. */
function replay(recorded: RecordedConversation): {
  reader: AcpReader;
  said: Line["message"][];
  sent: Promise<boolean>[];
} {
  const lines = linesOf(recorded);
  const hadMode = lines.some(({ message }) => message.method === "session/set_mode");
  const request = requestFor(recorded);
  const reader = createAcpReader({
    ...request,
    exactPrompt: PROMPT,
    cwd: request.workspace,
    mcpServers: [],
    permissions: hadMode ? "full" : "own",
    model: null,
    resume: null,
    version: "1.2.3",
  });
  const said: Line["message"][] = [];
  const sent: Promise<boolean>[] = [];
  const send = reader.converse(async (text) => {
    said.push(JSON.parse(text) as Line["message"]);
    return true;
  });
  let prompts = 0;
  for (const { isAgent, message } of lines) {
    const text = message.params?.prompt?.[0]?.text ?? "";
    if (isAgent) reader.stdoutLine(JSON.stringify(message));
    else if (message.method === "session/cancel") void reader.cancel();
    else if (message.method === "_session/steering") sent.push(send(text));
    else if (message.method === "session/prompt" && ++prompts > 1) sent.push(send(text));
  }
  return { reader, said, sent };
}

describe("replayed with our client", () => {
  test.each(NAMED)("%s", async (_, recorded) => {
    const { reader, said, sent } = replay(recorded);
    const ours = linesOf(recorded).filter(({ isAgent }) => !isAgent);
    const key = ({ id, method }: Line["message"]) => `${id} ${method}`;
    expect(said.map(key)).toEqual(ours.map(({ message }) => key(message)));
    expect(reader.isOver()).toBe(true);
    const isTold = recorded.finalText.source.includes("INJECT");
    expect(await Promise.all(sent)).toEqual(isTold ? [true] : []);
    const result = reader.result(ENDING);
    expect(result).toMatchObject({
      claim: { is: recorded.claim },
      sessionId: recorded.session,
      model: recorded.model,
      toolCalls: recorded.tools,
      filesWritten: recorded.files,
    });
    expect(result.failure?.class ?? null).toBe(recorded.failure);
    expect(result.finalText).toMatch(recorded.finalText);
    expectUsage(result.usage, recorded.usage);
  });
});
