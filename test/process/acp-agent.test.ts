import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createAcpReader, type AcpReader } from "../../src/adapters/agents/acp/acp-client.ts";
import type { AgentResult, Send } from "../../src/adapters/agents/agent-adapter.ts";
import { createOutputTap } from "../../src/adapters/agents/output-tap.ts";
import { supervise, type SuperviseResult } from "../../src/adapters/process/supervise.ts";

const AGENT = fileURLToPath(new URL("../fixtures/acp-agent.ts", import.meta.url));
let runs = 0;

async function run(
  prompt: string,
  meanwhile: (send: Send, reader: AcpReader) => Promise<unknown> = async () => {},
): Promise<SuperviseResult & { result: AgentResult; said: unknown }> {
  const reader = createAcpReader({
    prompt,
    exactPrompt: prompt,
    promise: { completion: "COMPLETE", requireXml: true },
    cwd: "/",
    mcpServers: [],
    permissions: "full",
    model: null,
    resume: null,
    version: "1.2.3",
  });
  const tap = createOutputTap({ secrets: [], reader, write: async () => {}, show: undefined });
  runs += 1;
  let said: Promise<unknown> = Promise.resolve();
  const ended = await supervise(
    {
      command: [process.execPath, AGENT],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      marker: `acp-agent-test-${process.pid}-${runs}`,
      timeoutMs: 20_000,
      isOver: () => reader.isOver(),
      onStdin: (write) => {
        said = meanwhile(reader.converse(write), reader);
      },
      onStdout: tap.stdout,
      onStderr: tap.stderr,
    },
    new AbortController().signal,
  );
  await tap.end();
  return { ...ended, result: reader.result(ended.ending), said: await said };
}

test("an agent is talked to until its last word, and exits when nothing more is said to it", async () => {
  const { ending, result } = await run("Do it.");
  expect(ending).toEqual({ is: "exited", code: 0 });
  expect(result).toMatchObject({
    claim: { is: "complete" },
    failure: null,
    finalText: "Permitted: allow_once.\n<promise>COMPLETE</promise>",
    toolCalls: 1,
    usage: { inputTokens: 10, outputTokens: 5 },
    sessionId: "s",
  });
});

test("a message reaches it while it works, even one that is sent before it begins", async () => {
  const { result, said } = await run("wait", (send) => send("Use the v2 API."));
  expect(said).toBe(true);
  expect(result.finalText).toMatch(/^Heard: Use the v2 API\./);
});

test("its turn can be cancelled", async () => {
  const { ending, result } = await run("wait", async (_, reader) => {
    while (!(await reader.cancel())) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  expect(ending).toEqual({ is: "exited", code: 0 });
  expect(result.failure).toEqual({ class: "agent", message: "the turn was cancelled" });
});

test("one that dies leaves a failure, and a message that did not arrive", async () => {
  const { result, said } = await run("die", async (send) => {
    const sent = send("Use the v2 API.");
    return { sent };
  });
  expect(result.failure).toMatchObject({ class: "agent", message: "no final result (exit code 3)" });
  expect(await (said as { sent: Promise<boolean> }).sent).toBe(false);
});
