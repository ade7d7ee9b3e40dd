import type { AgentAdapter, AgentCommand, Launch } from "../agent-adapter.ts";
import { TELLS } from "../stream-adapter.ts";
import { createStreamReader } from "../stream-reader.ts";
import { programBelongings } from "./program-belongings.ts";

/**
 * Gemini CLI. MCP servers it takes from settings files alone, in the user's HOME or in the repository, and neither is
 * ours to write to; by the Agent Client Protocol it takes them.
 */
export const geminiProgram: AgentAdapter = {
  can: { resumes: true, takesMessages: false, takesMcpServers: false, tells: TELLS.gemini },
  command: geminiCommand,
  belongings: (_, env) => programBelongings("gemini", env),
  createReader: (request) => createStreamReader("gemini", request),
};

/** Without a model it first asks another one which to take. */
const DEFAULT_MODEL = "gemini-2.5-pro";

function geminiCommand({ agent, prompt, session }: Launch): AgentCommand {
  const command = [
    "gemini",
    "--output-format",
    "stream-json",
    "--skip-trust",
    ...PERMISSIONS[agent.permissions],
    "--model",
    agent.model ?? DEFAULT_MODEL,
    session.isNew ? "--session-id" : "--resume",
    session.id,
    ...agent.args,
  ];
  // One process instead of two.
  return { command, input: prompt, env: { GEMINI_CLI_NO_RELAUNCH: "true" } };
}

const PERMISSIONS = {
  full: ["--yolo"],
  edits: ["--approval-mode", "auto_edit"],
  own: [],
} as const;
