import { isAbsolute, join } from "node:path";
import { workingDirectory, type Conversation, type Tool } from "./conversation.ts";
import type { Action } from "./reply.ts";

export interface ToolCall {
  readonly name: string;
  readonly namespace?: string;
  /** Plain text for a freeform tool, else the arguments. */
  readonly input: string | Readonly<Record<string, unknown>>;
}

type ToolUse = (conversation: Conversation) => ToolCall["input"];

const PATIENCE_MS = 600_000;

/** The call with which this client does what the model wants; undefined when it declared no tool for it. */
export function toolCallFor(action: Action, conversation: Conversation): ToolCall | undefined {
  switch (action.does) {
    case "write":
      return (
        firstDeclared(writeTools(action.path, action.content), conversation) ??
        toolCallFor({ does: "shell", command: writeCommand(action.path, action.content) }, conversation)
      );
    case "shell":
      return firstDeclared(
        action.inBackground === true ? serverTools(action.command) : shellTools(action.command),
        conversation,
      );
    case "call":
      return { name: action.tool, input: action.arguments };
    case "mcp":
      return mcpCall(action.tool, action.arguments, conversation.tools);
  }
}

/** Some shells answer before their command has ended: the call that goes on waiting for it. */
export function callToGoOnWaiting({ messages, tools }: Conversation): ToolCall | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool" || !isDeclared("write_stdin", tools)) return undefined;
  const session = /Process running with session ID (\d+)/.exec(last.text)?.[1];
  if (session === undefined) return undefined;
  return { name: "write_stdin", input: { session_id: Number(session), chars: "", yield_time_ms: 300_000 } };
}

function writeTools(path: string, content: string): Readonly<Record<string, ToolUse>> {
  const place = (conversation: Conversation): string =>
    isAbsolute(path) ? path : join(workingDirectory(conversation.messages), path);
  return {
    Write: (conversation) => ({ file_path: place(conversation), content }),
    write_file: (conversation) => ({ file_path: place(conversation), content }),
    create: (conversation) => ({ path: place(conversation), file_text: content }),
    write: (conversation) => ({ filePath: place(conversation), content }),
    apply_patch: ({ tools }) => {
      const patch = patchFor(path, content);
      return tools.some(({ name, isFreeform }) => name === "apply_patch" && isFreeform === true)
        ? patch
        : { input: patch };
    },
  };
}

function shellTools(command: string): Readonly<Record<string, ToolUse>> {
  const description = "A command of the script";
  return {
    Bash: () => ({ command, description, timeout: PATIENCE_MS }),
    run_shell_command: () => ({ command, description }),
    exec_command: () => ({ cmd: command, yield_time_ms: 30_000 }),
    shell_command: () => ({ command, timeout_ms: PATIENCE_MS }),
    shell: () => ({ command: ["bash", "-lc", command], timeout_ms: PATIENCE_MS }),
    bash: () => ({ command, description, mode: "sync", timeout: PATIENCE_MS, initial_wait: 300 }),
  };
}

function serverTools(command: string): Readonly<Record<string, ToolUse>> {
  const description = "A server of the script";
  const detached = `(${command}) >/dev/null 2>&1 &`;
  return {
    ...shellTools(detached),
    Bash: () => ({ command, description, run_in_background: true }),
    run_shell_command: () => ({ command, description, is_background: true }),
    bash: ({ tools }) =>
      isDeclared("read_bash", tools)
        ? { command, description, mode: "async" }
        : { command: detached, description, timeout: PATIENCE_MS },
  };
}

function firstDeclared(
  uses: Readonly<Record<string, ToolUse>>,
  conversation: Conversation,
): ToolCall | undefined {
  const found = Object.entries(uses).find(([name]) => isDeclared(name, conversation.tools));
  return found && { name: found[0], input: found[1](conversation) };
}

/** Clients put the name of the server before that of the tool, or declare the tool only after a search. */
function mcpCall(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  tools: readonly Tool[],
): ToolCall | undefined {
  const isIt = ({ name }: Tool): boolean =>
    name === tool || name.endsWith(`_${tool}`) || name.endsWith(`-${tool}`);
  const found = tools.find(isIt);
  if (found !== undefined) {
    return { name: found.name, ...(found.namespace !== undefined && { namespace: found.namespace }), input };
  }
  if (!isDeclared("tool_search", tools)) return undefined;
  return { name: "tool_search", input: { query: tool.replaceAll("_", " "), limit: 20 } };
}

function isDeclared(name: string, tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.name === name);
}

function patchFor(path: string, content: string): string {
  const lines = content.replace(/\n$/, "").split("\n");
  const added = lines.map((line) => `+${line}`).join("\n");
  return `*** Begin Patch\n*** Add File: ${path}\n${added}\n*** End Patch\n`;
}

function writeCommand(path: string, content: string): string {
  return `printf '%s' ${shellQuoted(content)} > ${shellQuoted(path)}`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
