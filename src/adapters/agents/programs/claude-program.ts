import type {
  AgentAdapter,
  AgentCommand,
  AgentReader,
  Launch,
  ReaderRequest,
  Send,
} from "../agent-adapter.ts";
import { TELLS } from "../stream-adapter.ts";
import { createStreamReader } from "../stream-reader.ts";
import { mcpServersJson } from "./mcp-servers-json.ts";

/** Claude Code. Its prompt and further messages go in as a stream of JSON, and each is echoed when it is heard. */
export const claudeProgram: AgentAdapter = {
  can: { resumes: true, takesMessages: true, takesMcpServers: true, tells: TELLS.claude },
  command: claudeCommand,
  createReader: createClaudeReader,
};

/** By itself it tries for three minutes, and says so only in its stream: our own waiting is seen, and survives. */
const RETRIES = "3";

function claudeCommand({ agent, session, mcpServer, env, isRoot }: Launch): AgentCommand {
  const command = [
    "claude",
    "--print",
    "--mcp-config",
    mcpServersJson([mcpServer]),
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
  let written = 0;
  const waiting = new Map<number, (isHeard: boolean) => void>();
  const settle = (): void => {
    const heard = reader.heard();
    for (const [number, resolve] of waiting) {
      if (number > heard) continue;
      waiting.delete(number);
      resolve(true);
    }
  };
  return {
    ...reader,
    converse(write) {
      const send: Send = async (text) => {
        const number = ++written;
        if (!(await write(messageOf(text)))) return false;
        return new Promise((resolve) => {
          waiting.set(number, resolve);
          settle();
        });
      };
      void send(prompt);
      return send;
    },
    stdoutLine(line) {
      reader.stdoutLine(line);
      settle();
    },
    // A message that it has not heard yet begins another turn after the result.
    isOver: () => reader.isOver() && reader.heard() >= written,
    result(ending) {
      for (const resolve of waiting.values()) resolve(false);
      waiting.clear();
      return reader.result(ending);
    },
  };
}

function messageOf(text: string): string {
  const message = { role: "user", content: [{ type: "text", text }] };
  return `${JSON.stringify({ type: "user", message })}\n`;
}
