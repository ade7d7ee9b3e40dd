import { PLAIN } from "../../core/agent-named.ts";
import { expect, test } from "vitest";
import type { AgentRequest } from "../../engine/ports.ts";
import { agentEnvironment } from "./agent-environment.ts";

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
