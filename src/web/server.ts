import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { createAdaptorServer } from "@hono/node-server";
import { Hono, type Context } from "hono";
import { RalphError } from "../core/ralph-error.ts";
import { guardAccess, hostInUrl } from "./access.ts";
import { EventStream } from "./event-stream.ts";
import { LiveProject } from "./live-project.ts";
import { Refusal } from "./refusal.ts";
import { actRoutes } from "./routes/act.ts";
import { iterationRoutes } from "./routes/iterations.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { pageRoutes } from "./routes/page.ts";
import { runRoutes } from "./routes/runs.ts";
import { textRoutes } from "./routes/texts.ts";
import { securityHeaders } from "./security-headers.ts";
import type { WebPorts } from "./web-ports.ts";

export interface ServerParts {
  readonly ports: WebPorts;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly token: string;
}

export interface RunningServer {
  /** With the token. */
  readonly url: string;
  readonly port: number;
  /** Streams end; whoever is not answered by then is not. */
  stop(): Promise<void>;
}

const FAREWELL_MS = 150;

/** Serves the page of one project. */
export async function startServer({ ports, host, port, token }: ServerParts): Promise<RunningServer> {
  const stopping = new AbortController();
  let answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({ fetch: (request) => answer(request) }) as Server;
  await listen(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  const app = createApp(ports, { host, port: bound, token }, stopping.signal);
  answer = (request) => app.fetch(request);
  return {
    url: `http://${hostInUrl(reachableName(host), bound)}/?token=${encodeURIComponent(token)}`,
    port: bound,
    async stop() {
      stopping.abort();
      const closed = once(server, "close");
      server.close();
      const impatience = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
      await closed;
      clearTimeout(impatience);
    },
  };
}

function createApp(
  ports: WebPorts,
  address: { readonly host: string; readonly port: number; readonly token: string },
  stop: AbortSignal,
): Hono {
  const app = new Hono();
  const live = new LiveProject(ports, stop);
  const events = new EventStream(live, stop);
  app.use(securityHeaders);
  app.use(guardAccess({ ...address, mayAct: ports.mayAct }));
  overviewRoutes(app, live, events);
  runRoutes(app, live, ports);
  iterationRoutes(app, live, ports);
  textRoutes(app, live, ports);
  actRoutes(app, live, ports);
  app.all("/api/*", (context) => {
    throw new Refusal(404, `there is nothing at ${context.req.method} ${context.req.path}`);
  });
  pageRoutes(app, ports);
  app.notFound(() => {
    throw new Refusal(405, "POST is not answered here");
  });
  app.onError(explain);
  return app;
}

/** A sentence, as JSON for the page and as plain text for a person who opens an address; never a stack. */
function explain(error: Error, context: Context): Response {
  const { status, message, hint } = refusalFrom(error);
  if (context.req.path.startsWith("/api/")) return context.json({ error: { message, hint } }, status);
  return context.text(`ralph: ${message}\n${hint === null ? "" : `  → ${hint}\n`}`, status);
}

function refusalFrom(error: Error): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RalphError) return new Refusal(500, error.message, error.hint ?? null);
  return new Refusal(500, `internal error: ${error.message}`, "the run is not touched by this; try again");
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw notListening(cause as NodeJS.ErrnoException, host, port);
  }
}

function notListening(cause: NodeJS.ErrnoException, host: string, port: number): RalphError {
  const failed = (message: string, hint: string): RalphError =>
    new RalphError("usage", message, { hint, cause });
  switch (cause.code) {
    case "EADDRINUSE":
      return failed(`port ${port} is used by another program`, "ralph web --port 0 takes one that is free");
    case "EACCES":
      return failed(
        `port ${port} may not be used by you`,
        "take one from 1024 on, or 0 for one that is free",
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return failed(
        `this machine has no address "${host}"`,
        "ralph web --host 0.0.0.0 --token … listens on all",
      );
    default:
      return failed(`cannot listen on ${host}, port ${port}: ${cause.message}`, "ralph web --port 0");
  }
}

/** A name by which others reach a server that listens everywhere. */
function reachableName(host: string): string {
  if (host !== "0.0.0.0" && host !== "::") return host;
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? hostname();
}
