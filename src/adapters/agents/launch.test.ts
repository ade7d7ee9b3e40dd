import { PLAIN } from "../../core/agents.ts";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { demoRequest } from "../../../test/fixtures/demo-request.ts";
import { LAUNCH } from "../../../test/fixtures/launch.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import type { AgentSandbox, AgentStart } from "../process/agent-sandbox.ts";
import type { AgentAdapter } from "./agent-adapter.ts";
import {
  agentEnvironment,
  asReader,
  type FolderTask,
  iterationFolder,
  type IterationFolder,
  startOf,
} from "./launch.ts";
import { textAdapter } from "./text-adapter.ts";

const ADAPTER: AgentAdapter = {
  ...textAdapter,
  command: () => ({ command: ["sh", "--work"], input: "Do it.\n", env: { OWN: "1" } }),
  locate: () => "/opt/native/sh",
  belongings: (_, env) => ({ folders: [], shows: [env["OWN"] ?? ""], variables: /^OWN$/ }),
};
const AGENT = { ...LAUNCH.agent, name: "mine", env: { MY_KEY: "k" } };
const LAUNCHED = { ...LAUNCH, agent: AGENT, workspace: "/", env: { PATH: "/bin:/usr/bin" } };

function sandbox(hasOwnPrograms: boolean, starts: AgentStart[] = []): AgentSandbox {
  return {
    hasOwnPrograms,
    async around(start) {
      starts.push(start);
      return { command: ["box", ...start.command], env: { ...start.env, IN: "1" }, onlyHolds: true };
    },
  };
}

test("without a sandbox the program is started as it is", async () => {
  expect(await startOf(ADAPTER, LAUNCHED, "/prompt.md", true)).toEqual({
    command: ["/opt/native/sh", "--work"],
    env: { PATH: "/bin:/usr/bin", OWN: "1" },
    input: "Do it.\n",
  });
});

test("a sandbox is told that a second reader writes nothing", async () => {
  const starts: AgentStart[] = [];
  await startOf(ADAPTER, { ...LAUNCHED, part: "reader" }, "/prompt.md", true, sandbox(false, starts));
  await startOf(ADAPTER, LAUNCHED, "/prompt.md", true, sandbox(false, starts));
  expect(starts.map(({ readsOnly }) => readsOnly)).toEqual([true, false]);
});

test("a second reader that would make a sandbox of its own leaves it to the one around it", () => {
  const request = (format: "claude" | "codex"): AgentRequest =>
    demoRequest("/tmp", [], { agent: { ...LAUNCH.agent, format }, part: "reader" });
  const permissions = ([format, isSandboxed]: readonly ["claude" | "codex", boolean]): string =>
    asReader(request(format), isSandboxed).agent.permissions;
  const all = [
    ["claude", true],
    ["codex", true],
    ["claude", false],
    ["codex", false],
  ] as const;
  expect(all.map(permissions)).toEqual(["read", "full", "read", "read"]);
});

test("a sandbox is told everything about a start, and puts another in its place", async () => {
  const starts: AgentStart[] = [];
  const start = await startOf(ADAPTER, LAUNCHED, "/prompt.md", true, sandbox(false, starts));
  expect(start).toMatchObject({
    command: ["box", "/opt/native/sh", "--work"],
    onlyHolds: true,
    input: "Do it.\n",
  });
  expect(starts).toEqual([
    {
      agent: "mine",
      command: ["/opt/native/sh", "--work"],
      env: { PATH: "/bin:/usr/bin", OWN: "1" },
      given: ["MY_KEY"],
      workspace: "/",
      folder: LAUNCH.folder,
      promptFile: "/prompt.md",
      readsOnly: false,
      marker: LAUNCH.marker,
      belongings: { folders: [], shows: ["1"], variables: /^OWN$/ },
    },
  ]);
  await startOf(ADAPTER, LAUNCHED, "/prompt.md", false, sandbox(false, starts));
  expect(starts[1]?.promptFile).toBeNull();
});

test("where programs are found inside, nobody looks for them here", async () => {
  expect((await startOf(ADAPTER, LAUNCHED, "/prompt.md", true, sandbox(true))).command).toEqual([
    "box",
    "sh",
    "--work",
  ]);
});

const request: AgentRequest = {
  agent: {
    ...PLAIN,
    name: "a",
    format: "text",
    command: ["a"],
    env: { ADDED: "1", MODEL: "mine" },
    envDeny: ["ANTHROPIC_API_KEY"],
  },
  prompt: "",
  promise: { completion: "COMPLETE", requireXml: true },
  run: "run-1",
  task: "task-1",
  stage: "build",
  iteration: 12,
  ordinal: 3,
  maxIterations: 15,
  about: { title: "A", description: "", criteria: [] },
  session: null,
  idleMs: 0,
  timeoutMs: 1_000,
  marker: "mark",
  mayGetMessages: false,
  onGone: () => {},
};

function environment(baseEnv: Record<string, string | undefined>): Record<string, string> {
  const options = { baseEnv, ralphDir: "/repo/.ralph", ownRoot: "/opt/ralph" };
  return agentEnvironment(request, options, "/tmp/iteration");
}

test("the agent is told where it is", () => {
  expect(environment({})).toEqual({
    ADDED: "1",
    MODEL: "mine",
    RALPH_RUN_ID: "run-1",
    RALPH_TASK_ID: "task-1",
    RALPH_STAGE: "build",
    RALPH_ITERATION: "3",
    RALPH_ITERATION_NUMBER: "12",
    RALPH_ITERATION_DIR: "/tmp/iteration",
    RALPH_MAX_ITERATIONS: "15",
    RALPH_DIR: "/repo/.ralph",
    RALPH_MARKER: "mark",
  });
});

test("settings add and deny", () => {
  const env = environment({ ANTHROPIC_API_KEY: "stray", MODEL: "theirs", HOME: "/home/me", GONE: undefined });
  expect(env).toMatchObject({ MODEL: "mine", HOME: "/home/me" });
  expect(env).not.toHaveProperty("ANTHROPIC_API_KEY");
  expect(env).not.toHaveProperty("GONE");
});

test("our own tools are not on its path", () => {
  expect(environment({ PATH: "/opt/ralph/node_modules/.bin:/usr/bin" })["PATH"]).toBe("/usr/bin");
});

test.each([
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_CLI",
  "OPENCODE",
  "COPILOT_CLI",
  "npm_lifecycle_event",
  "npm_package_name",
  "npm_config_user_agent",
  "INIT_CWD",
])("%s does not get through", (name) => {
  expect(environment({ [name]: "1" })).not.toHaveProperty(name);
});

test.each([
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "GEMINI_API_KEY",
  "GEMINI_CLI_NO_RELAUNCH",
  "OPENCODE_DISABLE_AUTOUPDATE",
  "COPILOT_PROVIDER_BASE_URL",
  "npm_config_registry",
])("%s gets through", (name) => {
  expect(environment({ [name]: "1" })).toHaveProperty(name, "1");
});

const task: FolderTask = {
  task: "task-007",
  about: {
    title: "Log in",
    description: "Users log in\nwith a password.",
    criteria: ["a wrong password is refused"],
  },
  stage: "build",
  ordinal: 2,
  maxIterations: 30,
};
const COMPLETE = '{"tool":"task_complete","summary":"done"}\n';

let folder: IterationFolder;
let reports: string;

beforeEach(() => {
  folder = iterationFolder(randomUUID());
  folder.make(task);
  reports = join(folder.path, "reports.jsonl");
});

afterEach(() => folder.dispose());

test("the folder is private and tells the task in wire names", () => {
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder.path, "task.json")).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(folder.path, "task.json"), "utf8"))).toEqual({
    id: "task-007",
    title: "Log in",
    description: "Users log in\nwith a password.",
    acceptance_criteria: ["a wrong password is refused"],
    stage: "build",
    iteration: 2,
    max_iterations: 30,
  });
});

test("it is gone after its disposal, which may be asked for twice", () => {
  writeFileSync(reports, COMPLETE);
  folder.dispose();
  folder.dispose();
  expect(existsSync(folder.path)).toBe(false);
  expect(folder.readReports()).toEqual([]);
});

test("files of the agent are read, unless they are huge or none", () => {
  expect(folder.read("usage.json")).toBe(null);
  writeFileSync(join(folder.path, "usage.json"), "");
  expect(folder.read("usage.json")).toBe("");
  writeFileSync(join(folder.path, "usage.json"), "{}");
  expect(folder.read("usage.json")).toBe("{}");
  truncateSync(join(folder.path, "usage.json"), 2 ** 40);
  expect(folder.read("usage.json")).toBe(null);
});

describe("reports", () => {
  test("are none as long as nobody wrote any", () => {
    expect(folder.readReports()).toEqual([]);
  });

  test("come in their order", () => {
    writeFileSync(reports, `{"tool":"report_progress","message":"half"}\n${COMPLETE}`);
    expect(folder.readReports()).toEqual([
      { tool: "report_progress", message: "half" },
      { tool: "task_complete", summary: "done" },
    ]);
  });

  test("are read among garbage", () => {
    writeFileSync(reports, Buffer.from([0xff, 0xfe, 0, 10]));
    appendFileSync(
      reports,
      `not json\n[]\n{"tool":"rm"}\n${"[".repeat(100_000)}\n\n${COMPLETE}{"tool":"task_`,
    );
    expect(folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of a huge file are those at its end", () => {
    writeFileSync(reports, '{"tool":"task_blocked","reason":"at the beginning"}\n');
    truncateSync(reports, 2 ** 40);
    appendFileSync(reports, `\n${COMPLETE}`);
    expect(folder.readReports()).toEqual([{ tool: "task_complete", summary: "done" }]);
  });

  test("of very many are the last", () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, index) => `{"tool":"task_blocked","reason":"${index}"}\n`,
    );
    writeFileSync(reports, lines.join(""));
    const read = folder.readReports();
    expect(read).toHaveLength(1_000);
    expect(read.at(-1)).toEqual({ tool: "task_blocked", reason: "2999" });
  });

  test("are not read through a link", () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "ralph-test-"));
    writeFileSync(join(elsewhere, "reports.jsonl"), COMPLETE);
    symlinkSync(join(elsewhere, "reports.jsonl"), reports);
    expect(folder.readReports()).toEqual([]);
    rmSync(folder.path, { recursive: true });
    symlinkSync(elsewhere, folder.path);
    expect(folder.readReports()).toEqual([]);
    folder.dispose();
    expect(existsSync(join(elsewhere, "reports.jsonl"))).toBe(true);
    rmSync(elsewhere, { recursive: true });
  });

  test("are none in a folder, a pipe or a device", () => {
    mkdirSync(reports);
    expect(folder.readReports()).toEqual([]);
    rmSync(reports, { recursive: true });
    execFileSync("mkfifo", [reports]);
    expect(folder.readReports()).toEqual([]);
    rmSync(reports);
    symlinkSync("/dev/zero", reports);
    expect(folder.readReports()).toEqual([]);
  });
});
