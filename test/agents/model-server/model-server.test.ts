import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FEEDBACK } from "./scenarios.ts";
import { startModelServer, type ModelServer } from "./start-model-server.ts";

const PROMPT = "Please write notes.md.";
const WORKING_DIRECTORY = "Working directory: /work/here\n";

/** How a client of each format asks, with a conversation of nothing but the prompt. */
const FORMATS = {
  anthropic: {
    path: "/v1/messages?beta=true",
    body: {
      model: "m",
      system: WORKING_DIRECTORY,
      tools: [{ name: "Write" }, { name: "Bash" }],
      messages: [{ role: "user", content: [{ type: "text", text: PROMPT }] }],
    },
    call: { type: "tool_use", name: "Write", input: { file_path: "/work/here/notes.md" } },
  },
  responses: {
    path: "/v1/responses",
    body: {
      model: "m",
      tools: [
        { type: "function", name: "exec_command" },
        { type: "custom", name: "apply_patch" },
      ],
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: PROMPT }] }],
    },
    call: { type: "custom_tool_call", name: "apply_patch" },
  },
  chat: {
    path: "/v1/chat/completions",
    body: {
      model: "m",
      tools: [{ type: "function", function: { name: "write" } }],
      messages: [
        { role: "system", content: WORKING_DIRECTORY },
        { role: "user", content: PROMPT },
      ],
    },
    call: { type: "function", function: { name: "write" } },
  },
  gemini: {
    path: "/v1beta/models/m:generateContent",
    body: {
      systemInstruction: { parts: [{ text: WORKING_DIRECTORY }] },
      tools: [{ functionDeclarations: [{ name: "write_file" }] }],
      contents: [{ role: "user", parts: [{ text: PROMPT }] }],
    },
    call: { functionCall: { name: "write_file", args: { file_path: "/work/here/notes.md" } } },
  },
} as const;

type Format = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Format[];

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

describe.each(NAMES)("in the format %s", (format) => {
  test("the model calls the client's own tool to write", async () => {
    const response = await ask(format, "success");
    expect(response.status).toBe(200);
    expect(flat(await response.json())).toContainEqual(
      expect.objectContaining(shallow(FORMATS[format].call)),
    );
  });

  test("an answer is the same in pieces as in one piece", async () => {
    const text = await (await ask(format, "echo", { isStream: true })).text();
    expect(text).toContain("data: {");
    expect(text).toContain(PROMPT);
    expect(JSON.stringify(await (await ask(format, "echo")).json())).toContain(PROMPT);
  });

  test("failures have the provider's status", async () => {
    expect((await ask(format, "err401")).status).toBe(401);
    expect((await ask(format, "err429")).status).toBe(429);
    expect((await ask(format, "err529")).status).toBe(format === "anthropic" ? 529 : 503);
    expect((await ask(format, "errusage")).status).toBe(429);
  });

  test("a dropped answer begins and breaks off", async () => {
    const response = await ask(format, "drop", { isStream: true });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });
});

test("requests count under their scenario and tag, titles only as bodies", async () => {
  await ask("chat", "echo@one");
  await ask("chat", "echo@one");
  await ask("chat", "echo@two");
  await post("echo@one", "/v1/chat/completions", { messages: [{ role: "user", content: "Title?" }] });
  expect(server.requests("echo@one")).toBe(2);
  expect(server.bodies("echo@one")).toHaveLength(3);
  expect(server.requests("echo@two")).toBe(1);
  expect(server.requests("echo@three")).toBe(0);
});

test("a flaky model fails twice, then works", async () => {
  const statuses = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await ask("anthropic", "flaky@counted")).status);
  expect(statuses).toEqual([529, 429, 200]);
});

test("a usage limit says when it ends, in the words of each provider", async () => {
  const inThreeHours = Date.now() / 1_000 + 3 * 3_600;
  const anthropic = await ask("anthropic", "errusage");
  expect(Number(anthropic.headers.get("anthropic-ratelimit-unified-reset"))).toBeCloseTo(inThreeHours, -2);
  const openai = (await (await ask("responses", "errusage")).json()) as { error: { resets_at: number } };
  expect(openai.error.resets_at).toBeCloseTo(inThreeHours, -2);
  expect(await (await ask("gemini", "errusage")).text()).toMatch(/"retryDelay":"10(800|799)s"/);
});

test("a lie is repeated until the prompt says that it was not believed", async () => {
  const claim = "<promise>COMPLETE</promise>";
  expect(await (await ask("anthropic", "lie-then-honest")).text()).toContain(claim);
  const text = "## Previous Iteration Feedback (DO NOT IGNORE)\n- nothing was written";
  expect(text).toMatch(FEEDBACK);
  const { path, body } = FORMATS.anthropic;
  const told = await post("lie-then-honest", path, { ...body, messages: [{ role: "user", content: text }] });
  expect(await told.text()).toContain('"tool_use"');
});

test("a conversation that remembers goes on, a fresh one begins anew", async () => {
  const { path, body } = FORMATS.chat;
  const tell = async (...messages: readonly object[]): Promise<string> =>
    (await post("resume@t", path, { ...body, messages: [...body.messages, ...messages] })).text();
  const result = { role: "tool", content: "written" };
  expect(await tell()).toContain("first.txt");
  expect(await tell(result)).toContain("4711");
  const earlier = { role: "assistant", content: "remember: 4711" };
  expect(await tell(result, earlier, { role: "user", content: "Go on." })).toContain("resumed.txt");
  expect(await tell()).toContain("fresh.txt");
});

test("tools that are found by a search are searched for, then called in their namespace", async () => {
  const { path, body } = FORMATS.responses;
  const searching = { ...body, tools: [{ type: "tool_search", execution: "client" }] };
  expect(await (await post("mcp-blocked", path, searching)).text()).toContain('"tool_search_call"');
  const namespace = {
    type: "namespace",
    name: "mcp__ralph",
    tools: [{ type: "function", name: "task_blocked" }],
  };
  const found = { type: "tool_search_output", tools: [namespace] };
  const answer = await post("mcp-blocked", path, { ...searching, input: [...body.input, found] });
  expect(flat(await answer.json())).toContainEqual(
    expect.objectContaining({ type: "function_call", name: "task_blocked", namespace: "mcp__ralph" }),
  );
});

test("an unknown scenario is refused with those there are", async () => {
  const response = await ask("chat", "nonsense");
  expect(response.status).toBe(404);
  expect(await response.text()).toContain("lie-then-honest");
});

function ask(format: Format, scenario: string, { isStream = false } = {}): Promise<Response> {
  const { path, body } = FORMATS[format];
  if (format !== "gemini") return post(scenario, path, { ...body, stream: isStream });
  return post(scenario, isStream ? path.replace("generate", "streamGenerate") : path, body);
}

function post(scenario: string, path: string, body: object): Promise<Response> {
  return fetch(`${server.url}/s/${scenario}${path}`, { method: "POST", body: JSON.stringify(body) });
}

/** All objects in a JSON value, however deep. */
function flat(value: unknown): readonly object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(flat)];
}

function shallow(expected: object): object {
  const entries = Object.entries(expected).map(([key, value]) => [
    key,
    typeof value === "object" ? expect.objectContaining(shallow(value as object)) : value,
  ]);
  return Object.fromEntries(entries) as object;
}
