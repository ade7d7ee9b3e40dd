import { fieldsOf } from "../../../core/streams/json-fields.ts";
import type { AgentAdapter, AgentCommand, Launch, McpServer } from "../agent-adapter.ts";
import { streamAdapter } from "../stream-reader.ts";
import { jsonObject } from "./program-belongings.ts";

/** OpenCode. A message in its arguments arrives in quotes, so the prompt goes by stdin. */
export const opencodeProgram: AgentAdapter = { ...streamAdapter("opencode"), command: opencodeCommand };

const CONFIG_VARIABLE = "OPENCODE_CONFIG_CONTENT";

/** The environment in which it only reads, with our own tools. */
export const READS_ONLY: Readonly<Record<string, string>> = {
  OPENCODE_PERMISSION: JSON.stringify({
    edit: "deny",
    bash: { "*": "deny", "git diff *": "allow", "git log *": "allow", "git show *": "allow" },
    "ralph_*": "allow",
  }),
};

function opencodeCommand({ agent, prompt, session, mcpServer, env }: Launch): AgentCommand {
  const command = [
    "opencode",
    "run",
    "--format",
    "json",
    // In its stream it says nothing of errors after which it tries again by itself.
    "--print-logs",
    "--log-level",
    "ERROR",
    ...(agent.permissions === "full" ? ["--auto"] : []),
    ...(agent.model === null ? [] : ["--model", agent.model]),
    ...(session.isNew ? [] : ["--session", session.id]),
    ...agent.args,
  ];
  const config = withServer(env[CONFIG_VARIABLE], mcpServer);
  return {
    command,
    input: prompt,
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      ...(config !== null && { [CONFIG_VARIABLE]: config }),
      ...(agent.permissions === "read" && READS_ONLY),
    },
  };
}

/** What the operator has in the variable stays in it; null when it cannot be read, and so not be added to. */
function withServer(given: string | undefined, { name, command, args, env }: McpServer): string | null {
  const config = jsonObject(given ?? "{}");
  if (config === null) return null;
  const server = { type: "local", command: [command, ...args], environment: env, enabled: true };
  return JSON.stringify({ ...config, mcp: { ...fieldsOf(config["mcp"]), [name]: server } });
}
