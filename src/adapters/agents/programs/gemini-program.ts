import { globSync } from "node:fs";
import { join } from "node:path";
import type { Usage } from "../../../core/streams/agent-report.ts";
import { fieldsOf, numberOf } from "../../../core/streams/json-fields.ts";
import { readEnd } from "../../process/atomic-file.ts";
import type { AgentAdapter, AgentCommand, Launch } from "../agent-adapter.ts";
import { streamAdapter } from "../stream-reader.ts";
import { jsonObject } from "./program-belongings.ts";

/** Gemini CLI. It takes MCP servers only from settings files, which are not ours to write. */
export const geminiProgram: AgentAdapter = {
  ...streamAdapter("gemini"),
  can: { ...streamAdapter("gemini").can, takesMcpServers: false },
  command: geminiCommand,
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

/**
 * By the protocol it counts as input what came from the cache, and leaves out the thoughts. Its record of the session
 * has them apart: the last requests there, as many as add up to the input that it told.
 */
export function usageInRecord(told: Usage, sessionId: string, env: Launch["env"]): Usage {
  // Each project has a folder there; in a sandbox, for example, it is elsewhere.
  const folder = join(env["HOME"] ?? "/", ".gemini", "tmp");
  const name = `*/chats/*-${sessionId.slice(0, 8).replaceAll(/[^\w-]/g, "")}.jsonl`;
  const [record] = globSync(name, { cwd: folder });
  const end = record === undefined ? null : readEnd(join(folder, record), { followsLinks: false });
  const lines = end?.text.split("\n") ?? [];
  let [input, output, cached] = [0, 0, 0];
  for (const line of lines.toReversed()) {
    if (input >= (told.inputTokens ?? 0)) break;
    const tokens = fieldsOf(jsonObject(line)?.["tokens"]);
    const count = (name: string): number => numberOf(tokens[name]) ?? 0;
    input += count("input");
    output += count("output") + count("thoughts");
    cached += count("cached");
  }
  if (input !== told.inputTokens || cached > input) return told;
  return { ...told, inputTokens: input - cached, outputTokens: output, cacheReadTokens: cached };
}
