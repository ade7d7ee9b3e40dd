import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FolderTask, iterationFolder, type IterationFolder } from "../../src/adapters/agents/launch.ts";
import { startMcp, type McpClient } from "./mcp-client.ts";

const TASK: FolderTask = {
  task: "task-007",
  about: {
    title: "Log in",
    description: "Users log in with a password.",
    criteria: ["a wrong password is refused"],
  },
  stage: "build",
  ordinal: 2,
  maxIterations: 30,
};

let folder: IterationFolder;
/** No repository: where the server runs is not its business. */
let home: string;
let client: McpClient;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "ralph-test-"));
  folder = iterationFolder(randomUUID());
  folder.make(TASK);
  client = start({ RALPH_ITERATION_DIR: folder.path });
});

afterEach(async () => {
  await client.end();
  folder.dispose();
  rmSync(home, { recursive: true });
});

function start(env: Readonly<Record<string, string>>, ...args: readonly string[]): McpClient {
  return startMcp(home, { PATH: process.env["PATH"] ?? "", HOME: home, ...env }, ...args);
}

describe("a session", () => {
  test("begins with who serves, and lists five tools with their arguments", async () => {
    expect(await client.initialize()).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "ralph" },
      capabilities: { tools: {} },
    });
    const { result } = await client.request("tools/list");
    const tools = result?.["tools"] as { name: string; description: string; inputSchema: object }[];
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      "ask_decision",
      "get_task",
      "report_progress",
      "task_blocked",
      "task_complete",
    ]);
    for (const { description } of tools) expect(description.length).toBeGreaterThan(40);
    expect(tools.find(({ name }) => name === "ask_decision")?.inputSchema).toMatchObject({
      properties: { question: { type: "string" }, options: { type: "array" }, deadline: { type: "string" } },
      required: ["question"],
    });
  });

  test.each([
    ["2024-11-05", /^2024-11-05$/],
    ["2099-01-01", /^20\d\d-\d\d-\d\d$/],
  ])("of a client of %s finds a common version", async (offered, agreed) => {
    expect((await client.initialize(offered))["protocolVersion"]).toMatch(agreed);
  });

  test("ends well when the client closes it, and leaves nothing else behind", async () => {
    await client.initialize();
    expect(await client.end()).toEqual({ code: 0, stderr: "" });
    expect(readdirSync(home)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual(["task.json"]);
  });

  test("that never began ends well too", async () => {
    expect(await client.end()).toEqual({ code: 0, stderr: "" });
  });

  test("outlives garbage and unknown requests", async () => {
    await client.initialize();
    client.write('garbage\n\n[1, 2]\n{"jsonrpc":"1.0"}\n{"id":\n');
    expect((await client.request("no/such")).error?.code).toBe(-32601);
    expect(
      (await client.request("tools/call", { name: "mark_done", arguments: {} })).error?.message,
    ).toContain("mark_done");
    expect((await client.request("tools/call", { arguments: 7 })).error?.code).toBe(-32602);
    expect((await client.call("report_progress", { message: "still here" })).isError).toBe(false);
  });
});

describe("a tool", () => {
  beforeEach(async () => {
    await client.initialize();
  });

  test("tells the task, as text and as data", async () => {
    const { text, structured } = await client.call("get_task");
    expect(structured).toEqual({
      id: "task-007",
      title: "Log in",
      description: "Users log in with a password.",
      acceptance_criteria: ["a wrong password is refused"],
      stage: "build",
      iteration: 2,
      max_iterations: 30,
    });
    expect(JSON.parse(text)).toEqual(structured);
  });

  test("takes a report down, and says what happens next", async () => {
    const answers = [
      await client.call("report_progress", { message: "half of it", percent: 50 }),
      await client.call("task_complete", { summary: "all of it" }),
      await client.call("task_blocked", { reason: "no key\nfor the service" }),
      await client.call("ask_decision", { question: "which?" }),
      await client.call("ask_decision", {
        question: "WebSockets or polling?",
        options: ["WebSockets", "polling"],
        default: "polling",
        deadline: "30m",
      }),
    ];
    expect(answers.map(({ text }) => text)).toEqual([
      "Noted. Go on with the task.",
      "Noted as a claim. It is checked against git and the project's own checks after you stop; now end your turn.",
      "Noted. The task waits for a person now; do no more work on it and end your turn.",
      "Noted. The answer comes with a later iteration; do no more work and end your turn.",
      'Noted. The answer comes with a later iteration ("polling" is taken after 30m without one); do no more work and end your turn.',
    ]);
    expect(folder.readReports()).toEqual([
      { tool: "report_progress", message: "half of it", percent: 50 },
      { tool: "task_complete", summary: "all of it" },
      { tool: "task_blocked", reason: "no key\nfor the service" },
      { tool: "ask_decision", question: "which?", options: [], default: null, deadlineMs: null },
      {
        tool: "ask_decision",
        question: "WebSockets or polling?",
        options: ["WebSockets", "polling"],
        default: "polling",
        deadlineMs: 1_800_000,
      },
    ]);
  });

  test.each<[string, object, string]>([
    ["task_complete", {}, "summary"],
    ["task_blocked", { reason: " " }, "reason is empty"],
    ["task_blocked", { reason: ["no key"] }, "reason"],
    ["task_blocked", { reason: "x".repeat(2_001) }, "2000"],
    ["ask_decision", { question: "" }, "question is empty"],
    ["ask_decision", { question: "which?", options: ["a", "b"], default: "c" }, "none of the options: a, b"],
    [
      "ask_decision",
      { question: "which?", default: "a", deadline: "soon" },
      'deadline "soon" is no duration',
    ],
    ["ask_decision", { question: "which?", deadline: "30m" }, "a deadline needs a default"],
    ["report_progress", { message: "half of it", percent: 101 }, "percent"],
  ])("%s refuses %j", async (tool, input, objection) => {
    const { text, isError } = await client.call(tool, input);
    expect(text).toContain(objection);
    expect(isError).toBe(true);
    expect(folder.readReports()).toEqual([]);
  });

  test("says so when it cannot take anything down", async () => {
    mkdirSync(join(folder.path, "reports.jsonl"));
    const { text, isError } = await client.call("task_complete", { summary: "all of it" });
    expect(text).toMatch(/^not noted \(.*\): say it in your final message instead$/);
    expect(isError).toBe(true);
  });

  test("shares the folder with other servers of the iteration", async () => {
    const others = Array.from({ length: 3 }, () => start({}, "--folder", folder.path));
    await Promise.all(others.map((other) => other.initialize()));
    const calls = [client, ...others].flatMap((one) =>
      Array.from({ length: 25 }, () => one.call("report_progress", { message: "x".repeat(1_500) })),
    );
    await Promise.all(calls);
    await Promise.all(others.map((other) => other.end()));
    expect(folder.readReports()).toHaveLength(100);
  });
});

describe("for a second reader", () => {
  const REVIEW = {
    criteria: [{ criterion: 1, answer: "not_met", reason: "login.ts:7 lets everybody in" }],
    concerns: [{ concern: 1, answer: "harmless", reason: "the task asks for it" }],
  };

  beforeEach(async () => {
    await client.end();
    folder.make({ ...TASK, stage: "reader", part: "reader" });
    client = start({ RALPH_ITERATION_DIR: folder.path });
    await client.initialize();
  });

  test("there is the task and the review, and no claim", async () => {
    const { result } = await client.request("tools/list");
    const tools = result?.["tools"] as { name: string; inputSchema: object }[];
    expect(tools.map(({ name }) => name).toSorted()).toEqual(["get_task", "submit_review"]);
    const entries = (properties: object): object => ({ type: "array", items: { properties } });
    expect(tools.find(({ name }) => name === "submit_review")?.inputSchema).toMatchObject({
      properties: {
        criteria: entries({ answer: { enum: ["met", "not_met", "cannot_tell"] } }),
        concerns: entries({ answer: { enum: ["harmless", "real"] } }),
      },
      required: ["criteria"],
    });
  });

  test("its review is taken down, and of several the last counts", async () => {
    const first = { criteria: [{ criterion: 1, answer: "met", reason: "at first sight" }] };
    for (const review of [first, REVIEW]) {
      const { text, isError } = await client.call("submit_review", review);
      expect({ text, isError }).toEqual({ text: "Noted. Do no more and end your turn.", isError: false });
    }
    expect(folder.readReports().at(-1)).toEqual({ tool: "submit_review", review: REVIEW });
  });

  test.each<[object, string]>([
    [{}, "criteria"],
    [{ criteria: [] }, "it answers nothing"],
    [{ criteria: [{ criterion: 0, answer: "met", reason: "" }] }, "criterion"],
    [{ criteria: [{ criterion: 1, answer: "fine", reason: "" }] }, "answer"],
    [{ criteria: [{ criterion: 1, answer: "met", reason: "x".repeat(2_001) }] }, "2000"],
  ])("a review is refused that is %j", async (review, objection) => {
    const { text, isError } = await client.call("submit_review", review);
    expect(text).toContain(objection);
    expect(isError).toBe(true);
    expect(folder.readReports()).toEqual([]);
  });
});

describe("without an iteration", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    ["no variable", {}, [], "RALPH_ITERATION_DIR is not set"],
    ["an empty variable", { RALPH_ITERATION_DIR: "" }, [], "RALPH_ITERATION_DIR is not set"],
    ["a folder that is gone", { RALPH_ITERATION_DIR: "/nowhere" }, [], "/nowhere is not the folder"],
    ["a folder of something else", {}, ["--folder", "."], "is not the folder of an iteration"],
  ])("%s is refused in a sentence", async (_, env, args, sentence) => {
    const { code, stderr } = await start(env, ...args).exited;
    expect(stderr).toContain(sentence);
    expect(code).toBe(64);
  });
});
