import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { RALPH } from "./project.ts";

export interface McpExit {
  readonly code: number | null;
  readonly stderr: string;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: unknown;
}

/** Speaks with the built program as agents do: JSON-RPC, a line each, on its stdin and stdout. */
export interface McpClient {
  request(method: string, params?: unknown): Promise<JsonRpcAnswer>;
  call(tool: string, input?: unknown): Promise<ToolAnswer>;
  /** The opening of every session; answers what the server says of itself. */
  initialize(protocolVersion?: string): Promise<Record<string, unknown>>;
  write(text: string): void;
  /** Closes its stdin, and waits. */
  end(): Promise<McpExit>;
  readonly exited: Promise<McpExit>;
}

interface JsonRpcAnswer {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

interface CallResult {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
}

export function startMcp(
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): McpClient {
  const child = spawn(RALPH, ["mcp", ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const waiting = new Map<number, (answer: JsonRpcAnswer) => void>();
  let stderr = "";
  let lastId = 0;
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  createInterface(child.stdout).on("line", (line) => {
    const answer = JSON.parse(line) as JsonRpcAnswer;
    waiting.get(answer.id)?.(answer);
  });
  const exited = once(child, "close").then(([code]) => ({ code: code as number | null, stderr }));
  const client: McpClient = {
    exited,
    write: (text) => child.stdin.write(text),
    async request(method, params = {}) {
      const id = (lastId += 1);
      const answered = new Promise<JsonRpcAnswer>((resolve) => waiting.set(id, resolve));
      client.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      const gone = exited.then(() => {
        throw new Error(`the server ended before it answered ${method}: ${stderr}`);
      });
      return Promise.race([answered, gone]);
    },
    async call(name, input = {}) {
      const { result } = await client.request("tools/call", { name, arguments: input });
      const { content, isError = false, structuredContent } = result as unknown as CallResult;
      return { text: content.map(({ text }) => text).join(""), isError, structured: structuredContent };
    },
    async initialize(protocolVersion = "2025-06-18") {
      const clientInfo = { name: "test", version: "1" };
      const answer = await client.request("initialize", { protocolVersion, capabilities: {}, clientInfo });
      client.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      return answer.result ?? {};
    },
    async end() {
      child.stdin.end();
      return exited;
    },
  };
  return client;
}
