import type { AgentAdapter, AgentCommand, Launch } from "../agent-adapter.ts";
import { createStreamReader, TELLS } from "../stream-reader.ts";
import { programBelongings } from "./program-belongings.ts";

/** Gemini CLI. It takes MCP servers only from settings files, which are not ours to write. */
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
  return { command, input: withoutMentions(prompt), env: { GEMINI_CLI_NO_RELAUNCH: "true" } };
}

/** It takes `@name` anywhere for a file to include or a helper to ask, unless a backslash stands before it. */
function withoutMentions(prompt: string): string {
  return prompt.replaceAll(/(?<!\\)@(?=\S)/g, "\\@");
}

const PERMISSIONS = {
  full: ["--yolo"],
  edits: ["--approval-mode", "auto_edit"],
  own: [],
  // Nobody can be asked, so tools that need a permission are not there.
  read: ["--approval-mode", "default"],
} as const;
