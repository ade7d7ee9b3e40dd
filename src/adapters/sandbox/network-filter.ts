import { once } from "node:events";
import {
  request as ask,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type AllowedHost, readTarget, type Target, writeTarget } from "../../core/network/allowed-hosts.ts";
import type { AgentStart } from "../process/agent-sandbox.ts";
import { fileError } from "../process/atomic-file.ts";
import { joinSockets, socketPath, tieSockets } from "./open-tunnel.ts";
import { type Rules, type Way, wayTo } from "./way-to-host.ts";

interface FilterOptions extends Rules {
  /** Where it listens: the path of a socket. */
  readonly socket: string;
  readonly onRefused: (target: Target) => void;
}

export interface NetworkFilter {
  /** Ends all connections. */
  close(): Promise<void>;
}

const REFUSED_MAX = 1_000;
const TOLD_MAX = 10;

/** A filter for as long as an agent runs, which reaches these hosts and nobody else; its end tells what was refused. */
export async function filterNetwork(
  hosts: readonly AllowedHost[],
  { folder, env }: Pick<AgentStart, "folder" | "env">,
): Promise<{ readonly socket: string; readonly close: () => Promise<string | null> }> {
  const socket = join(folder, "network");
  const refused = new Set<string>();
  const { path, letGo } = socketPath(socket);
  const filter = await startNetworkFilter({
    socket: path,
    hosts,
    env,
    onRefused: (target) => void (refused.size < REFUSED_MAX && refused.add(writeTarget(target))),
  }).catch((error: unknown) => {
    throw fileError(error, socket);
  });
  return {
    socket,
    async close() {
      await filter.close();
      letGo();
      if (refused.size === 0) return null;
      const more = refused.size > TOLD_MAX ? ` and ${refused.size - TOLD_MAX} more` : "";
      return `the agent asked for hosts that "sandbox.network" does not let it reach: ${[...refused].slice(0, TOLD_MAX).join(", ")}${more}`;
    },
  };
}

/** More at the same time nobody needs, and each takes two of our descriptors. */
const CONNECTIONS_MAX = 256;

/** Decides, outside of the sandbox, whom its agent reaches: an HTTP proxy that keeps nothing. */
export async function startNetworkFilter(options: FilterOptions): Promise<NetworkFilter> {
  const server = createServer({ requestTimeout: 0, requireHostHeader: false }, (request, response) => {
    forward(request, response, options).catch(() => response.destroy());
    for (const stream of [request, response]) stream.on("error", () => response.destroy());
  });
  const open = new Set<Socket>();
  server.maxConnections = CONNECTIONS_MAX;
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => socket.destroy());
  });
  server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (head.length > 0) socket.unshift(head);
    tunnel(request, socket, options).catch(() => socket.destroy());
  });
  server.on("clientError", (_, socket) => socket.destroy());
  server.listen(options.socket);
  await once(server, "listening");
  return {
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function tunnel(request: IncomingMessage, inside: Socket, options: FilterOptions): Promise<void> {
  const target = readTarget(request.url ?? "", null);
  if (target === null) return answer(inside, 400, "expected a host and a port");
  const way = await tryWay(target, "https", options, inside);
  if ("why" in way) return answer(inside, way.status, way.why);
  const outside = way.socket;
  tieSockets(inside, outside);
  inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
  joinSockets(inside, outside);
}

/** A request in the form that only a proxy gets, with the whole address in it. */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  options: FilterOptions,
): Promise<void> {
  const text = request.url ?? "";
  const url = URL.canParse(text) ? new URL(text) : null;
  const target = url?.protocol === "http:" ? readTarget(url.host, 80) : null;
  if (url === null || target === null)
    return reply(response, 400, "this is a proxy: expected the whole address of a page, http://…");
  const way = await tryWay(target, "http", options, request.socket);
  if ("why" in way) return reply(response, way.status, way.why);
  const { socket, via } = way;
  request.socket.once("close", () => socket.destroy());
  const onward = ask({
    method: request.method ?? "GET",
    path: via === null ? `${url.pathname}${url.search}` : url.href,
    setHost: false,
    headers: forwardedHeaders(request, {
      Host: url.host,
      ...(via?.authorization != null && { "Proxy-Authorization": via.authorization }),
    }),
    createConnection: () => socket,
  });
  onward.on("error", () => {});
  const answered = once(onward, "response");
  // The other half has its own way to fail.
  const sent = pipeline(request, onward).catch(() => {});
  const [received] = (await answered) as [IncomingMessage];
  response.writeHead(received.statusCode ?? 502, received.statusMessage, forwardedHeaders(received));
  await pipeline(received, response);
  await sent;
}

interface NoWay {
  readonly status: 403 | 502;
  readonly why: string;
}

async function tryWay(
  target: Target,
  scheme: "http" | "https",
  options: FilterOptions,
  inside: Socket,
): Promise<Way | NoWay> {
  // Whoever asked may not wait for the answer.
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  inside.once("close", onClose);
  try {
    const way = await wayTo(target, scheme, options, gone.signal);
    if (typeof way === "string") {
      options.onRefused(target);
      return { status: 403, why: `${way}: this sandbox does not let you reach it` };
    }
    if (inside.destroyed) way.socket.destroy();
    return way;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { status: 502, why: `${writeTarget(target)} cannot be reached: ${code ?? message}` };
  } finally {
    inside.off("close", onClose);
  }
}

function reply(response: ServerResponse, status: number, why: string): void {
  response
    .writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" })
    .end(`${why}\n`);
}

function answer(socket: Socket, status: number, why: string): void {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(why) + 1}\r\nConnection: close\r\n\r\n${why}\n`);
}

/** What is meant for the next in the line only. */
const FOR_THE_NEXT =
  /^(?:connection|expect|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|upgrade)$/i;

/** Without these nobody knows where a message ends. */
const FRAMES = /^(?:content-length|transfer-encoding)$/i;

/** The headers that a proxy hands on, names and values in turn, with its own put in their place. */
function forwardedHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
  own: Readonly<Record<string, string>> = {},
): string[] {
  const named = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...Object.keys(own).map((name) => name.toLowerCase()), ...named]);
  const isKept = (name: string): boolean =>
    FRAMES.test(name) || !(FOR_THE_NEXT.test(name) || dropped.has(name.toLowerCase()));
  const kept = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && isKept(name) ? [name, rawHeaders[index + 1] ?? ""] : [],
  );
  return [...kept, ...Object.entries(own).flat(), "Connection", "close"];
}
