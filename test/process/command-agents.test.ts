import { PLAIN } from "../../src/core/agents.ts";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lastTranscript } from "../../src/adapters/files/ralph-folder.ts";
import { createAgents, type AgentsOptions } from "../../src/adapters/agents/command-agents.ts";
import type { DemoStep } from "../../src/core/demo/demo-script.ts";
import type { AgentReport } from "../../src/core/streams/agent-report.ts";
import type { AgentRequest, Progress } from "../../src/engine/ports.ts";
import { agentsOptions } from "../fixtures/agents-options.ts";
import { demoRequest } from "../fixtures/demo-request.ts";
import { startFixture } from "../fixtures/start-fixture.ts";

const SENTINEL = "sentinel-4f9a!secret";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(
  steps: readonly DemoStep[],
  over: Partial<AgentRequest> = {},
  options: Partial<AgentsOptions> = {},
): Promise<AgentReport> {
  const baseEnv = { ...process.env, SENTINEL_TOKEN: SENTINEL };
  const agents = createAgents(agentsOptions(folder, { baseEnv, ...options }));
  return agents.run(demoRequest(folder, steps, over), new AbortController().signal);
}

/** An agent that is a shell script. */
function shell(script: string, ...args: string[]): Partial<AgentRequest> {
  return {
    agent: {
      ...PLAIN,
      name: "shell",
      format: "text",
      command: ["bash", "-c", script, "bash", ...args],
    },
  };
}

function transcriptOf(report: AgentReport): Buffer {
  return readFileSync(join(folder, ".ralph", report.transcript.path));
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("the transcript", () => {
  test("has the iteration's number, and the prompt beside it", async () => {
    const report = await run([{ say: "hi" }], { iteration: 7, prompt: "do this\n" });
    expect(report.transcript.path).toBe("logs/iteration-007.log");
    expect(readFileSync(join(folder, ".ralph/logs/iteration-007.prompt.md"), "utf8")).toBe("do this\n");
    await run([{ say: "hi" }], { iteration: 1234 });
    expect(existsSync(join(folder, ".ralph/logs/iteration-1234.log"))).toBe(true);
  });

  test("holds what came on stdout and on stderr", async () => {
    const report = await run([], shell("echo out; echo err >&2"));
    expect(transcriptOf(report).toString().split("\n").toSorted()).toEqual(["", "err", "out"]);
    expect(report.finalText).toBe("out");
  });

  test("holds bytes that are no text exactly as they came", async () => {
    const report = await run([{ garbage: 3_000_000 }, { promise: "COMPLETE" }]);
    const bytes = transcriptOf(report);
    expect(bytes.length).toBe(3_000_000 + "\n<promise>COMPLETE</promise>\n".length);
    expect(sha256(bytes.subarray(0, 3_000_000))).toBe(sha256(garbage(3_000_000)));
    expect(report.transcript).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
    expect(report.claim.is).toBe("complete");
  });

  test("is not followed through a link", async () => {
    const victim = join(folder, "victim");
    writeFileSync(victim, "precious");
    await run([{ say: "first" }], { iteration: 1 });
    symlinkSync(victim, join(folder, ".ralph/logs/iteration-002.log"));
    await run([{ say: "second" }], { iteration: 2 });
    expect(readFileSync(victim, "utf8")).toBe("precious");
    expect(readFileSync(join(folder, ".ralph/logs/iteration-002.log"), "utf8")).toBe("second\n");
  });

  test("must not lie in a folder that is a link", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "ralph-elsewhere-"));
    symlinkSync(elsewhere, join(folder, "logs"));
    await expect(run([{ say: "hi" }], {}, { ralphDir: folder })).rejects.toMatchObject({
      code: "not-writable",
    });
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });
});

describe("a second reader", () => {
  const SAYS = '<review>{"criteria": [{"criterion": 1, "answer": "met", "reason": "a.txt:1"}]}</review>';
  const found = { criteria: [{ criterion: 1, answer: "met", reason: "a.txt:1" }], concerns: [] };

  test("has a transcript of its own beside that of the iteration", async () => {
    await run([{ say: "work" }], { iteration: 7 });
    const report = await run([{ say: SAYS }], { iteration: 7, part: "reader", prompt: "read this\n" });
    expect(report.transcript.path).toBe("logs/iteration-007.reader.log");
    expect(report.review).toEqual(found);
    const logs = join(folder, ".ralph/logs");
    expect(readFileSync(join(logs, "iteration-007.log"), "utf8")).toBe("work\n");
    expect(readFileSync(join(logs, "iteration-007.reader.prompt.md"), "utf8")).toBe("read this\n");
    expect(lastTranscript(join(folder, ".ralph"))).toBe(7);
    const agents = createAgents(agentsOptions(folder));
    expect((await agents.recoverReport(7, 0)).transcript.path).toBe("logs/iteration-007.log");
  });

  test("begins afresh, in a stage of its own, and gets no messages", async () => {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 1, costUsd: 1 };
    const seen: Progress[] = [];
    const agents = createAgents(agentsOptions(folder, { onProgress: (progress) => seen.push(progress) }));
    const request = demoRequest(folder, [{ sleep: 1_300 }, { shell: "echo $RALPH_STAGE" }], {
      part: "reader",
      session: { id: "earlier", used: usage },
      mayGetMessages: true,
    });
    const running = agents.run(request, new AbortController().signal);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await agents.send(request.iteration, "hear me")).toBe(false);
    expect((await running).finalText).toBe("reader");
    expect(seen[0]).toMatchObject({ stage: "reader" });
  });

  test("is heard by the tool before its words, and only it", async () => {
    const submitted = JSON.stringify({ tool: "submit_review", ...found });
    const forged = `echo '${submitted}' >> "$RALPH_ITERATION_DIR/reports.jsonl"; sleep 0.2; echo`;
    const words = "'<review>{}</review>'";
    const script = `until [ -f "$RALPH_ITERATION_DIR/task.json" ]; do sleep 0.05; done; ${forged} ${words}`;
    expect((await run([], { ...shell(script), part: "reader" })).review).toEqual(found);
    expect(await run([], shell(script))).not.toHaveProperty("review");
  });

  test("may say more than is kept of its last words", async () => {
    const criteria = Array.from({ length: 5 }, (_, at) => {
      return { criterion: at + 1, answer: "not_met", reason: "x".repeat(1_200) };
    });
    const report = await run([{ say: `<review>${JSON.stringify({ criteria })}</review>` }], {
      part: "reader",
    });
    expect(report.finalText.length).toBeLessThan(4_001);
    expect(report.review?.criteria).toEqual(criteria);
  });

  test("that has given its review did not fail by what it might not do besides", async () => {
    const report = await run([], { ...shell(`echo '${SAYS}'; exit 3`), part: "reader" });
    expect(report).toMatchObject({ failure: null, review: found });
    expect(await run([], { ...shell("exit 3"), part: "reader" })).toMatchObject({
      failure: { class: "agent" },
    });
  });

  test("that cannot be understood has no review", async () => {
    expect(await run([{ say: "All is well." }], { part: "reader" })).not.toHaveProperty("review");
  });
});

describe("a secret", () => {
  test("in the output never reaches the disk, the report or the screen", async () => {
    const shown: string[] = [];
    const [head, tail] = [SENTINEL.slice(0, 9), SENTINEL.slice(9)];
    const script = `
      printf '%s' '${head}'; sleep 0.05; printf '%s\\n' '${tail}'
      head -c 300000 /dev/zero | tr '\\0' 'x'; printf '%s' '${head}'; sleep 0.05; printf '%s and more' '${tail}'
      echo; echo "err $SENTINEL_TOKEN" >&2
      echo "<promise>BLOCKED:needs $SENTINEL_TOKEN</promise>"
      exit 3`;
    const report = await run([], shell(script), { onOutput: (text) => shown.push(text) });
    const bytes = transcriptOf(report);
    expect(bytes.toString().match(/\[redacted\]/g)).toHaveLength(4);
    expect(report.claim).toEqual({ is: "blocked", reason: "needs [redacted]" });
    expect(report.failure?.message).toBe("exit code 3: err [redacted]");
    expect(bytes.includes(SENTINEL)).toBe(false);
    expect(JSON.stringify(report)).not.toContain(SENTINEL);
    expect(shown.join("")).not.toContain(SENTINEL);
    expect(shown.join("").length).toBe(bytes.length);
  });

  test("in the prompt never stays on the disk, but the agent gets it", async () => {
    const prompt = `use ${SENTINEL} here\n`;
    const report = await run([], {
      ...shell(`grep -c "$SENTINEL_TOKEN" "$1"; echo "$1" >&2`, "{prompt_file}"),
      prompt,
    });
    expect(report.finalText).toBe("1");
    const files = globSync("**/*", { cwd: join(folder, ".ralph"), withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    expect(files).toHaveLength(2);
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), "utf8")).not.toContain(SENTINEL);
    const copy = transcriptOf(report)
      .toString()
      .split("\n")
      .find((line) => line.startsWith("/"));
    expect(existsSync(copy ?? "")).toBe(false);
  });

  test("of the agent's own settings counts too", async () => {
    const { agent } = shell("echo $MY_API_KEY");
    const report = await run([], { agent: { ...agent!, env: { MY_API_KEY: "quite-secret-value" } } });
    expect(transcriptOf(report).toString()).toBe("[redacted]\n");
  });
});

describe("the prompt", () => {
  test("comes on stdin, which then ends", async () => {
    const report = await run([], { ...shell("cat; echo; echo end"), prompt: "the prompt" });
    expect(report.finalText).toBe("the prompt\nend");
  });

  test("comes as an argument or a file, and stdin is empty", async () => {
    const prompt = 'two words, "quotes" and $HOME\n';
    const report = await run([], {
      ...shell('cat; echo "$1"; cat "$2"', "{prompt}", "{prompt_file}"),
      prompt,
    });
    expect(report.finalText).toBe(`${prompt}\n${prompt}`.trim());
  });

  test("may be big and stay unread", async () => {
    const report = await run([], {
      ...shell("echo '<promise>COMPLETE</promise>'"),
      prompt: "line\n".repeat(1_000_000),
    });
    expect(report).toMatchObject({ ending: { is: "exited", code: 0 }, claim: { is: "complete" } });
  });

  test("claims nothing when it is echoed", async () => {
    expect((await run([{ echoPrompt: true }])).claim).toEqual({ is: "none" });
    expect((await run([{ echoPrompt: true }, { say: "Did it." }, { promise: "COMPLETE" }])).claim.is).toBe(
      "complete",
    );
  });
});

test("the agent's world is told by its environment", async () => {
  const numbers = { iteration: 16, ordinal: 3 };
  const report = await run([], { ...shell("pwd; env | grep ^RALPH_ | sort"), ...numbers, marker: "mark" });
  expect(report.finalText.split("\n")).toEqual([
    folder,
    `RALPH_DIR=${join(folder, ".ralph")}`,
    "RALPH_ITERATION=3",
    expect.stringMatching(/^RALPH_ITERATION_DIR=\//),
    "RALPH_ITERATION_NUMBER=16",
    "RALPH_MARKER=mark",
    "RALPH_MAX_ITERATIONS=5",
    "RALPH_RUN_ID=run-1",
    "RALPH_STAGE=build",
    "RALPH_TASK_ID=task-1",
  ]);
});

test("progress is told while the agent runs", async () => {
  const seen: Progress[] = [];
  const script = `echo first; echo "\x1b[31m working with $SENTINEL_TOKEN\x1b[0m ${"x".repeat(300)}"; sleep 1.3`;
  await run([], { ...shell(script), iteration: 4 }, { onProgress: (progress) => seen.push(progress) });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    iteration: 4,
    task: "task-1",
    stage: "build",
    agent: "shell",
    timeoutMs: 20_000,
  });
  expect(seen[0]).toMatchObject({
    toolCalls: 0,
    filesTouched: 0,
    lastTool: null,
    currentFile: null,
    costUsd: null,
  });
  expect(seen[0]!.elapsedMs).toBeGreaterThan(990);
  expect(seen[0]!.outputBytes).toBeGreaterThan(300);
  expect(seen[0]!.lastLine).toMatch(/^working with \[redacted\] x+$/);
  expect(seen[0]!.lastLine).toHaveLength(200);
});

describe("a budget", () => {
  const STEP = JSON.stringify({
    type: "step_finish",
    sessionID: "s",
    part: { reason: "tool-calls", tokens: { input: 10, output: 10 }, cost: 0.6 },
  });
  const costing = (steps: number, then: string): Partial<AgentRequest> => {
    const script = `for i in $(seq ${steps}); do echo '${STEP}'; done; ${then}`;
    return {
      agent: { ...PLAIN, name: "costly", format: "opencode", command: ["bash", "-c", script] },
    };
  };

  test("that an agent passes ends it, and what it has cost is recorded", async () => {
    const report = await run([], { ...costing(2, "exec sleep 60"), budgetUsd: 1 });
    expect(report).toMatchObject({
      ending: { is: "stopped" },
      failure: {
        class: "agent",
        kind: "budget",
        message: "stopped: this iteration has cost $1.20 of the $1.00 that the budget had left",
      },
      usage: { costUsd: 1.2 },
    });
  });

  test("that it does not pass changes nothing", async () => {
    const report = await run([], { ...costing(1, "sleep 2"), budgetUsd: 1 });
    expect(report).toMatchObject({ ending: { is: "exited", code: 0 }, usage: { costUsd: 0.6 } });
    expect(report.failure?.kind).not.toBe("budget");
  });
});

describe("memory stays small and nothing is lost", () => {
  test.each<[string, DemoStep, number]>([
    ["in a flood of lines", { flood: 200_000_000 }, 200_000_000],
    ["in one endless line", { longLine: 600_000_000 }, 600_000_000],
  ])("%s", async (_, step, bytes) => {
    const result = (await startFixture("measure-agent", JSON.stringify(step)).result) as {
      report: AgentReport;
      fileBytes: number;
      growthBytes: number;
    };
    expect(result.report.ending).toEqual({ is: "exited", code: 0 });
    expect(result.report.claim.is).toBe("complete");
    expect(result.fileBytes).toBe(bytes + "\n<promise>COMPLETE</promise>\n".length);
    expect(result.report.transcript.bytes).toBe(result.fileBytes);
    expect(result.growthBytes).toBeLessThan(120_000_000);
  });
});

/** What the demo agent's garbage must be. */
function garbage(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
