import type {
  AgentAdapter,
  AgentCommand,
  AgentReader,
  Launch,
  McpServer,
  ReaderRequest,
} from "../agent-adapter.ts";
import { streamAdapter } from "../stream-reader.ts";

/** Codex. Whatever it is to know comes as `-c key=value`, in TOML. */
export const codexProgram: AgentAdapter = {
  ...streamAdapter("codex"),
  command: codexCommand,
  countsWholeSession: true,
  sandboxesItself: ({ permissions }) => permissions === "edits" || permissions === "read",
  createReader: createCodexReader,
};

/** Only its log says that a patch was not permitted; a command just fails in its sandbox. */
function createCodexReader(request: ReaderRequest): AgentReader {
  const reader = streamAdapter("codex").createReader(request);
  let isDenied = false;
  return {
    ...reader,
    stderrLine(line) {
      isDenied ||= /\bpatch rejected: .*rejected by user approval settings/.test(line);
      reader.stderrLine(line);
    },
    result(ending) {
      const result = reader.result(ending);
      return isDenied ? { ...result, denied: ["apply_patch"] } : result;
    },
  };
}

function codexCommand({ agent, prompt, session, gitDir, mcpServer }: Launch): AgentCommand {
  const command = [
    "codex",
    "exec",
    "--json",
    ...permissionsOf(agent.permissions, gitDir),
    ...(agent.model === null ? [] : ["--model", agent.model]),
    ...serverOf(mcpServer),
    ...agent.args,
    ...(session.isNew ? [] : ["resume", session.id]),
    "-",
  ];
  return { command, input: prompt };
}

function permissionsOf(permissions: Launch["agent"]["permissions"], gitDir: string): readonly string[] {
  switch (permissions) {
    case "full":
      return ["--dangerously-bypass-approvals-and-sandbox"];
    case "edits":
      // Its sandbox keeps git from committing, and does not say so.
      return ["--sandbox", "workspace-write", ...set("sandbox_workspace_write.writable_roots", [gitDir])];
    case "own":
      return [];
    case "read":
      // Instructions of the repository may be the work of whom it judges.
      return [...set("sandbox_mode", "read-only"), "-c", "project_doc_max_bytes=0"];
  }
}

/** Of its own environment it hands on next to nothing, so the server's is written down. */
function serverOf({ name, command, args, env }: McpServer): readonly string[] {
  const key = `mcp_servers.${name}`;
  const variables = Object.entries(env).flatMap(([variable, value]) => set(`${key}.env.${variable}`, value));
  return [...set(`${key}.command`, command), ...set(`${key}.args`, args), ...variables];
}

/** JSON's texts and lists of texts are TOML's too. */
function set(key: string, value: string | readonly string[]): readonly string[] {
  return ["-c", `${key}=${JSON.stringify(value)}`];
}
