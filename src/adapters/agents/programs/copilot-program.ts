import { findProgram } from "../../process/process-table.ts";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Usage } from "../../../core/streams/agent-report.ts";
import { fieldsOf, numberOf } from "../../../core/streams/json-fields.ts";
import {
  type AgentAdapter,
  type AgentCommand,
  type AgentReader,
  type Launch,
  mcpServerJson,
  type ReaderRequest,
  USAGE_FILE,
} from "../agent-adapter.ts";
import { streamAdapter } from "../stream-reader.ts";

/** Copilot CLI. Its stream has no tokens: it writes them to a file when it ends. */
export const copilotProgram: AgentAdapter = {
  ...streamAdapter("copilot"),
  can: { ...streamAdapter("copilot").can, tells: "tokens" },
  command: copilotCommand,
  countsWholeSession: true,
  locate: nativeCopilot,
  createReader: createCopilotReader,
  readUsage: readCopilotUsage,
};

function copilotCommand({ agent, prompt, session, folder, mcpServer }: Launch): AgentCommand {
  const command = [
    "copilot",
    "--output-format",
    "json",
    "--no-color",
    "--no-auto-update",
    "--no-ask-user",
    ...PERMISSIONS[agent.permissions],
    // Our own tools need nobody's permission.
    ...(agent.permissions === "full" ? [] : ["--allow-tool", mcpServer.name]),
    ...(agent.model === null ? [] : ["--model", agent.model]),
    ...(session.isNew ? ["--session-id", session.id] : [`--resume=${session.id}`]),
    "--usage-output-file",
    join(folder, USAGE_FILE),
    "--additional-mcp-config",
    mcpServerJson(mcpServer, { type: "local", tools: ["*"] }),
    ...agent.args,
  ];
  return { command, input: prompt };
}

/** Its stream names the session in the last line only, and one that was ended has none. */
function createCopilotReader(request: ReaderRequest, { session }: Launch): AgentReader {
  const reader = streamAdapter("copilot").createReader(request);
  return {
    ...reader,
    result(ending) {
      const result = reader.result(ending);
      return { ...result, sessionId: result.sessionId ?? session.id };
    },
  };
}

const PERMISSIONS = {
  full: ["--allow-all"],
  edits: ["--allow-tool", "write"],
  own: [],
  // Commands that only read need no permission; instructions of the repository may be the work of whom it judges.
  read: ["--deny-tool", "write", "--no-custom-instructions"],
} as const;

function readCopilotUsage(text: string): Usage | null {
  const models = Object.values(fieldsOf(fieldsOf(JSON.parse(text))["modelMetrics"])).map((model) =>
    fieldsOf(fieldsOf(model)["usage"]),
  );
  if (models.length === 0) return null;
  const sum = (name: string): number =>
    models.reduce((total, usage) => total + (numberOf(usage[name]) ?? 0), 0);
  const cached = sum("cacheReadTokens");
  return {
    // What came from the cache is counted among them.
    inputTokens: Math.max(0, sum("inputTokens") - cached),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: cached,
    costUsd: null,
  };
}

/** The program that npm's `copilot` starts. That one hands no signal on: ended, it would leave the agent running. */
export function nativeCopilot(loader: string): string | null {
  // On Linux there is a package for each C library.
  const other = process.platform === "linux" ? nativeFor("linuxmusl", loader) : null;
  return nativeFor(process.platform, loader) ?? other;
}

function nativeFor(platform: string, loader: string): string | null {
  try {
    const at = createRequire(realpathSync(loader));
    // Its package offers the program, and no other file.
    return findProgram(at.resolve(`@github/copilot-${platform}-${process.arch}`), "/", {});
  } catch {
    return null; // installed in another way, where it may well be the program itself
  }
}
