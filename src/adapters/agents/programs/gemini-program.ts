import { join } from "node:path";
import type { AgentAdapter, AgentCommand, Launch } from "../agent-adapter.ts";
import { TELLS } from "../stream-adapter.ts";
import { createStreamReader } from "../stream-reader.ts";

/** Gemini CLI. MCP servers it takes from settings files alone, so it gets one whose values all others go before. */
export const geminiProgram: AgentAdapter = {
  can: { resumes: true, takesMessages: false, takesMcpServers: true, tells: TELLS.gemini },
  command: geminiCommand,
  createReader: (request) => createStreamReader("gemini", request),
};

/** Without a model it first asks another one which to take. */
const DEFAULT_MODEL = "gemini-2.5-pro";
const SETTINGS_FILE = "gemini-defaults.json";
const SETTINGS_VARIABLE = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";
/** Ten by itself, which takes four minutes. */
const ATTEMPTS = 3;

function geminiCommand({ agent, prompt, session, folder, mcpServer, env }: Launch): AgentCommand {
  const command = [
    "gemini",
    ...["--output-format", "stream-json", "--skip-trust"],
    ...PERMISSIONS[agent.permissions],
    ...["--model", agent.model ?? DEFAULT_MODEL],
    ...[session.isNew ? "--session-id" : "--resume", session.id],
    ...agent.args,
  ];
  const { name, ...server } = mcpServer;
  const settings = { general: { maxAttempts: ATTEMPTS }, mcpServers: { [name]: { ...server, trust: true } } };
  // Somebody else's defaults stay theirs.
  const isFree = env[SETTINGS_VARIABLE] === undefined;
  return {
    command,
    input: prompt,
    env: {
      GEMINI_CLI_NO_RELAUNCH: "true",
      ...(isFree && { [SETTINGS_VARIABLE]: join(folder, SETTINGS_FILE) }),
    },
    files: isFree ? { [SETTINGS_FILE]: JSON.stringify(settings) } : {},
  };
}

const PERMISSIONS = {
  full: ["--yolo"],
  edits: ["--approval-mode", "auto_edit"],
  own: [],
} as const;
