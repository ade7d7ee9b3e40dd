import type {
  AgentAdapter,
  AgentCommand,
  AgentReader,
  Launch,
  ReaderRequest,
  Send,
  Write,
} from "../agent-adapter.ts";
import { TELLS } from "../stream-adapter.ts";
import { createStreamReader } from "../stream-reader.ts";
import { hookArguments } from "./claude-hooks.ts";
import { mcpServersJson } from "./mcp-servers-json.ts";
import { programBelongings } from "./program-belongings.ts";

/** Claude Code. Its prompt and further messages go in as a stream of JSON, and each is echoed when it is heard. */
export const claudeProgram: AgentAdapter = {
  can: { resumes: true, takesMessages: true, takesMcpServers: true, tells: TELLS.claude },
  command: claudeCommand,
  belongings: (_, env) => programBelongings("claude", env),
  createReader: createClaudeReader,
};

/** By itself it tries for three minutes, and says so only in its stream: our own waiting is seen, and survives. */
const RETRIES = "3";

function claudeCommand(launch: Launch): AgentCommand {
  const { agent, session, mcpServer, env, isRoot } = launch;
  const command = [
    "claude",
    "--print",
    "--mcp-config",
    mcpServersJson([mcpServer]),
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
    ...agent.args,
  ];
  return {
    command,
    input: null,
    env: {
      CLAUDE_CODE_MAX_RETRIES: env["CLAUDE_CODE_MAX_RETRIES"] ?? RETRIES,
      // Otherwise it refuses to work for root without asking.
      ...(isRoot && agent.permissions === "full" && { IS_SANDBOX: "1" }),
    },
  };
}

const PERMISSIONS = {
  full: ["--dangerously-skip-permissions"],
  edits: ["--permission-mode", "acceptEdits"],
  own: [],
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
