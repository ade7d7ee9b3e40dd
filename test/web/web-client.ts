import { openProject } from "../../src/app/project.ts";
import { openWebScreen } from "../../src/app/screens.ts";
import { request as httpRequest } from "node:http";
import { startServer, type RunningServer } from "../../src/web/server.ts";
import type { WebPorts } from "../../src/web/web-ports.ts";

export const TOKEN = "a-token-for-tests";

/** The server of a repository, and a browser that came by the printed address. */
export interface Page {
  readonly server: RunningServer;
  readonly ports: WebPorts;
  readonly origin: string;
  readonly cookie: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The answer to a question that must succeed. */
  json<Answer>(path: string): Promise<Answer>;
  act(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  stop(): Promise<void>;
}

export interface PageOptions {
  readonly mayAct?: boolean;
  readonly ports?: Partial<WebPorts>;
  readonly env?: NodeJS.ProcessEnv;
}

export async function openPage(
  root: string,
  { mayAct = true, ports = {}, env = {} }: PageOptions = {},
): Promise<Page> {
  const project = await openProject({ cwd: root, env });
  const screen = await openWebScreen(project, mayAct);
  const allPorts: WebPorts = { ...screen.ports, lines: ({ type }) => [type], ...ports };
  const server = await startServer({ ports: allPorts, host: "127.0.0.1", port: 0, token: TOKEN });
  const origin = `http://127.0.0.1:${server.port}`;
  const entered = await fetch(`${origin}/?token=${TOKEN}`, { redirect: "manual" });
  const cookie = (entered.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page: Page = {
    server,
    ports: allPorts,
    origin,
    cookie,
    get: (path, headers = {}) => fetch(`${origin}${path}`, { headers: { cookie, ...headers } }),
    async json<Answer>(path: string) {
      const response = await page.get(path);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return JSON.parse(text) as Answer;
    },
    act: (body, headers = {}) =>
      fetch(`${origin}/api/act`, {
        method: "POST",
        headers: { cookie, origin, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async stop() {
      await server.stop();
      await screen.close();
    },
  };
  return page;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** A request with exactly this path and these headers, which a browser would not let a page send. */
export function rawRequest(
  { port }: RunningServer,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
  body = "",
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers, setHost: false });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    request.end(body);
  });
}
