import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { RalphError } from "../core/errors.ts";
import { type AccessParts, guardAccess, hostInUrl, randomToken } from "./access.ts";
import type { Api } from "./api.ts";
import { EventStream, LiveProject } from "./live-project.ts";
import { numberIn, Refusal } from "./parameters.ts";
import { actRoutes, iterationRoutes, runRoutes, taskRoutes, textRoutes } from "./routes.ts";
import { startRoutes } from "./start-routes.ts";
import type { PageFile, WebPorts } from "./web-ports.ts";

interface ServerParts {
  readonly ports: WebPorts;
  readonly host: string;
  /** 0: any that is free; of several the first that is. */
  readonly port: number | readonly number[];
  readonly token: string;
}

export interface RunningServer {
  /** With the token. */
  readonly url: string;
  readonly port: number;
  /** The same address for one browser: it works once, and for a minute. */
  invite(): string;
  /** Streams end; whoever is not answered by then is not. */
  stop(): Promise<void>;
}

const FAREWELL_MS = 150;
const INVITATION_MS = 60_000;

export async function startServer({ ports, ...wanted }: ServerParts): Promise<RunningServer> {
  return serveApp(wanted, (access, stop) => createApp(ports, access, stop));
}

export type Where = Omit<ServerParts, "ports">;
export type Access = Omit<AccessParts, "mayAct">;

/** Serves until it is stopped; `create` makes what answers. */
export async function serveApp(
  { host, port, token }: Where,
  create: (access: Access, stop: AbortSignal) => Hono,
): Promise<RunningServer> {
  const stopping = new AbortController();
  const invitations = new Set<string>();
  let answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({ fetch: (request) => answer(request) }) as Server;
  await listenOnFirst(server, host, [port].flat());
  const bound = (server.address() as AddressInfo).port;
  const app = create({ host, port: bound, token, invitations }, stopping.signal);
  answer = (request) => app.fetch(request);
  const addressWith = (pass: string): string =>
    `http://${hostInUrl(reachableName(host), bound)}/?token=${encodeURIComponent(pass)}`;
  return {
    url: addressWith(token),
    port: bound,
    invite() {
      const invitation = randomToken();
      invitations.add(invitation);
      setTimeout(() => invitations.delete(invitation), INVITATION_MS).unref();
      return addressWith(invitation);
    },
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

function createApp(ports: WebPorts, access: Access, stop: AbortSignal): Hono {
  const app = createGuardedApp({ ...access, mayAct: ports.mayAct });
  const live = new LiveProject(ports, stop);
  const events = new EventStream(live, stop);
  overviewRoutes(app, live, events);
  runRoutes(app, live, ports);
  iterationRoutes(app, live, ports);
  taskRoutes(app, live, ports);
  textRoutes(app, live, ports);
  actRoutes(app, live, ports);
  startRoutes(app, live, ports);
  pageRoutes(app, ports);
  return app;
}

/** Answers only whoever came by the printed address; the routes come after it. */
export function createGuardedApp(access: AccessParts): Hono {
  const app = new Hono();
  app.use(securityHeaders);
  app.use(guardAccess(access));
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

/** The next one where another program has the port. */
async function listenOnFirst(server: Server, host: string, ports: readonly number[]): Promise<void> {
  const [port = 0, ...others] = ports;
  try {
    await listen(server, host, port);
  } catch (error) {
    if (others.length === 0 || !isTaken(error)) throw error;
    await listenOnFirst(server, host, others);
  }
}

function isTaken(error: unknown): boolean {
  const { code } = ((error as RalphError).cause ?? {}) as NodeJS.ErrnoException;
  return code === "EADDRINUSE" || code === "EACCES";
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
      return failed(`this machine has no address "${host}"`, "ralph web --host 0.0.0.0 listens on all");
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

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cache-Control": "no-store",
} as const;

/** On every answer, also on refusals: what agents wrote is shown, never run, and stays on this machine. */
const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
};

const TYPES: Readonly<Record<PageFile, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
};

/** The three files of the page; it finds its way by the address itself, so every other address is the page. */
export function pageRoutes(
  app: Hono,
  ports: Pick<WebPorts, "pageFile">,
  change: (index: string) => string = (index) => index,
): void {
  app.all("/api/*", (context) => {
    throw new Refusal(404, `there is nothing at ${context.req.method} ${context.req.path}`);
  });
  const answer = async (context: Context, name: PageFile): Promise<Response> => {
    const file = await ports.pageFile(name);
    if (file === null)
      throw new Refusal(
        503,
        `the page was not built: ${name} is missing`,
        "install ralph again, or npm run build",
      );
    const body = name === "index.html" ? change(new TextDecoder().decode(file)) : new Uint8Array(file);
    return context.body(body, 200, { "Content-Type": TYPES[name] });
  };
  app.get("/app.js", (context) => answer(context, "app.js"));
  app.get("/app.css", (context) => answer(context, "app.css"));
  app.get("/favicon.ico", (context) => context.body(null, 204));
  app.get("*", (context) => answer(context, "index.html"));
}

function overviewRoutes(app: Hono, live: LiveProject, events: EventStream): void {
  app.get("/api/overview", async (context) =>
    context.json((await live.overview()) satisfies Api["GET /api/overview"]),
  );
  app.get("/api/events", (context) => {
    const seen = context.req.header("last-event-id") ?? "";
    if (/^\d{1,15}$/.test(seen)) return events.serve(context, Number(seen));
    const after = numberIn(context, "after", { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: -1 });
    return events.serve(context, after === -1 ? null : after);
  });
}
