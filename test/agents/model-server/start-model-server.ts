import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { anthropicMessages } from "./anthropic-messages.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { replyTo, type Memory } from "./reply-to.ts";
import { SCENARIOS } from "./scenarios.ts";
import { sendJson, sendReply } from "./send-reply.ts";

/**
 * A model on loopback that follows a script. Clients take `<url>/s/<scenario>[@tag]` for the address of their
 * provider; the tag keeps the counts of tests apart.
 */
export interface ModelServer {
  readonly url: string;
  /** How often the model was asked to work; titles and the like do not count. */
  requests(scenarioAtTag: string): number;
  /** The last bodies that came, those of titles and the like too. */
  bodies(scenarioAtTag: string): readonly unknown[];
  close(): Promise<void>;
}

const FORMATS = [anthropicMessages, openaiResponses, openaiChat, gemini];
const BODIES_MAX = 50;

type Memories = Map<string, Memory>;

export async function startModelServer(port = 0): Promise<ModelServer> {
  const memories: Memories = new Map();
  const server = createServer((request, response) => {
    // A client that goes away in the middle is no trouble of the server.
    handle(request, response, memories).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: (key) => memories.get(key)?.requests ?? 0,
    bodies: (key) => memories.get(key)?.bodies ?? [],
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handle(request: IncomingMessage, response: ServerResponse, memories: Memories): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://loopback");
  const [, key, path] = /^\/s\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
  const name = key?.split("@")[0] ?? "";
  const scenario = SCENARIOS[name];
  if (key === undefined || path === undefined || scenario === undefined) {
    const known = Object.keys(SCENARIOS).join(", ");
    return sendJson(response, 404, { error: { message: `no scenario "${name}"; there are ${known}` } });
  }
  const received = await readText(request);
  if (path.endsWith("/models")) {
    return sendJson(response, 200, { object: "list", data: [{ id: "scripted-model", object: "model" }] });
  }
  if (/\/count_tokens$|:countTokens$/.test(path)) {
    return sendJson(response, 200, { input_tokens: 1_000, totalTokens: 1_000 });
  }
  const format = FORMATS.find((format) => format.path.test(path));
  if (format === undefined || request.method !== "POST") {
    return sendJson(response, 404, { error: { message: `nothing at ${path}` } });
  }
  const body: unknown = JSON.parse(received);
  const memory = memories.get(key) ?? { requests: 0, answers: 0, bodies: [] };
  memories.set(key, memory);
  memory.bodies = [...memory.bodies, body].slice(-BODIES_MAX);
  const { reply, turn } = replyTo(format.read(body), scenario, memory);
  return sendReply(response, format, reply, turn, format.wantsStream(body, path));
}
