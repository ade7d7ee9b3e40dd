import { callsSameHook, claudeHooks, shellWord, type WantedHook } from "../../../core/agents.ts";
import { join } from "node:path";
import { type Fields, fieldsOf, listOf, textOf } from "../../../core/streams/json-fields.ts";
import {
  type AgentAdapter,
  type AgentCommand,
  type AgentReader,
  type Launch,
  mcpServerJson,
  type ReaderRequest,
  type Send,
  type Write,
} from "../agent-adapter.ts";
import { createStreamReader, streamAdapter } from "../stream-reader.ts";
import { claudeFolder, jsonFile } from "./program-belongings.ts";

/** Claude Code. Its prompt and further messages go in as a stream of JSON, and each is echoed when it is heard. */
export const claudeProgram: AgentAdapter = {
  ...streamAdapter("claude"),
  can: { ...streamAdapter("claude").can, takesMessages: true },
  command: claudeCommand,
  createReader: createClaudeReader,
};

/** By itself it tries for three minutes, and says so at most in its stream: our own waiting is seen, and survives. */
export function fewRetries(env: Launch["env"]): Readonly<Record<string, string>> {
  return { CLAUDE_CODE_MAX_RETRIES: env["CLAUDE_CODE_MAX_RETRIES"] ?? "3" };
}

function claudeCommand(launch: Launch): AgentCommand {
  const { agent, session, mcpServer, env, isRoot } = launch;
  const command = [
    "claude",
    "--print",
    "--mcp-config",
    mcpServerJson(mcpServer),
    // Our own tools need nobody's permission.
    "--allowedTools",
    `mcp__${mcpServer.name}`,
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--replay-user-messages",
    ...PERMISSIONS[agent.permissions],
    ...(agent.model === null ? [] : ["--model", agent.model]),
    session.isNew ? "--session-id" : "--resume",
    session.id,
    ...hookArguments(launch),
    ...budgetArguments(launch),
    ...agent.args,
  ];
  return {
    command,
    input: null,
    env: {
      ...fewRetries(env),
      // Otherwise it refuses to work for root without asking.
      ...(isRoot && agent.permissions === "full" && { IS_SANDBOX: "1" }),
    },
  };
}

/** It tells what it has cost when it ends: until then only it knows. */
function budgetArguments({ budgetUsd = null, agent }: Launch): readonly string[] {
  const isSet = agent.args.some((argument) => /^--max-budget-usd(?:=|$)/.test(argument));
  return budgetUsd === null || isSet ? [] : ["--max-budget-usd", String(Math.max(0.01, budgetUsd))];
}

const PERMISSIONS = {
  full: ["--dangerously-skip-permissions"],
  edits: ["--permission-mode", "acceptEdits"],
  own: [],
  // Commands that only read are allowed in this mode; servers of the repository may be the work of whom it judges.
  read: [
    "--permission-mode",
    "dontAsk",
    "--disallowedTools",
    "Edit,Write,NotebookEdit",
    "--strict-mcp-config",
  ],
} as const;

function createClaudeReader(request: ReaderRequest, { prompt }: Launch): AgentReader {
  const reader = createStreamReader("claude", request);
  /** Those that it has not heard yet, in the order in which they were written. */
  const waiting: ((isHeard: boolean) => void)[] = [];
  let heard = 0;
  let isGone = false;
  let write: Write | null = null;
  const settle = (): void => {
    for (; heard < reader.heard(); heard += 1) waiting.shift()?.(true);
  };
  const giveUp = (resolve: (isHeard: boolean) => void): void => {
    const index = waiting.indexOf(resolve);
    if (index !== -1) waiting.splice(index, 1);
    resolve(false);
  };
  return {
    ...reader,
    converse(toStdin) {
      write = toStdin;
      const send: Send = async (text) => {
        if (isGone) return false;
        return new Promise((resolve) => {
          waiting.push(resolve);
          void toStdin(messageOf(text)).then((isWritten) => isWritten || giveUp(resolve));
        });
      };
      void send(prompt);
      return send;
    },
    // Ended by a signal it would not say what it has cost.
    cancel: async () => (await write?.(INTERRUPT)) ?? false,
    stdoutLine(line) {
      reader.stdoutLine(line);
      settle();
    },
    // A message that it has not heard yet begins another turn after the result.
    isOver: () => reader.isOver() && waiting.length === 0,
    result(ending) {
      isGone = true;
      for (const resolve of waiting.splice(0)) resolve(false);
      return reader.result(ending);
    },
  };
}

const INTERRUPT = `${JSON.stringify({
  type: "control_request",
  request_id: "stop",
  request: { subtype: "interrupt" },
})}\n`;

function messageOf(text: string): string {
  const message = { role: "user", content: [{ type: "text", text }] };
  return `${JSON.stringify({ type: "user", message })}\n`;
}

/** Hooks and instructions of the repository may be the work of whom it judges. */
export const READERS_SETTINGS = { disableAllHooks: true, claudeMdExcludes: ["**"] };

/** Our hooks, without those that its own settings have already: it would run them twice. */
function hookArguments({ agent, ownProgram, workspace, env }: Launch): readonly string[] {
  // Of several such arguments it takes the last alone.
  if (agent.args.some((argument) => /^--settings(?:=|$)/.test(argument))) return [];
  if (agent.permissions === "read") return ["--settings", JSON.stringify(READERS_SETTINGS)];
  const settings = [
    join(workspace, ".claude", "settings.json"),
    join(workspace, ".claude", "settings.local.json"),
    join(claudeFolder(env), "settings.json"),
  ].map((path) => fieldsOf(jsonFile(path)?.["hooks"]));
  const wanted = claudeHooks(ownProgram.map(shellWord).join(" ")).filter(
    (hook) => !settings.some((hooks) => has(hooks, hook)),
  );
  if (wanted.length === 0) return [];
  const hooks = Object.fromEntries(wanted.map(({ event, entry }) => [event, [entry]]));
  return ["--settings", JSON.stringify({ hooks })];
}

function has(hooks: Fields, { event, entry }: WantedHook): boolean {
  const ours = entry.hooks[0]?.command ?? "";
  const there = listOf(hooks[event]).flatMap((one) => listOf(fieldsOf(one)["hooks"]));
  return there.some((hook) => callsSameHook(textOf(fieldsOf(hook)["command"]) ?? "", ours));
}
