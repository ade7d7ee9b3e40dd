import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, createServer, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readAllowedHost, writeTarget, type AllowedHost } from "../../core/network/allowed-hosts.ts";
import { startNetworkFilter, type NetworkFilter } from "./network-filter.ts";

let folder: string;
let socket: string;
let filter: NetworkFilter;
let web: Server;
let echo: TcpServer;
let refused: string[];
let seen: {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ralph-filter-"));
  socket = join(folder, "network");
  refused = [];
  seen = [];
  web = createHttpServer((asked, answer) => {
    void text(asked).then((body) => {
      seen.push({ url: asked.url ?? "", headers: asked.headers, body });
      answer.writeHead(201, { "X-From": "web", "Set-Cookie": ["a=1", "b=2"] }).end("hello".repeat(20_000));
    });
  }).listen(0, "127.0.0.1");
  // Says what it got when it has got all of it.
  echo = createServer({ allowHalfOpen: true }, (one) => {
    one.on("error", () => {});
    void text(one).then((got) => one.end(`got ${got}`));
  }).listen(0, "127.0.0.1");
  await Promise.all([once(web, "listening"), once(echo, "listening")]);
});
afterEach(async () => {
  await filter.close();
  web.closeAllConnections();
  web.close();
  echo.close();
  rmSync(folder, { recursive: true });
});

async function filterFor(
  hosts: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  filter = await startNetworkFilter({
    socket,
    env,
    hosts: hosts.map((host) => readAllowedHost(host) as AllowedHost),
    onRefused: (target) => refused.push(writeTarget(target)),
  });
}

function portOf(server: Server | TcpServer): number {
  return (server.address() as AddressInfo).port;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function get(url: string, options: object = {}, body = ""): Promise<Answer> {
  const asking = request({ socketPath: socket, path: url, headers: { Host: "lies.example" }, ...options });
  asking.end(body);
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

async function tunnel(target: string): Promise<{ readonly head: string; readonly way: Socket }> {
  const way = connect({ path: socket, allowHalfOpen: true });
  way.write(`CONNECT ${target} HTTP/1.1\r\n\r\n`);
  const [first] = (await once(way, "data")) as [Buffer];
  way.pause();
  return { head: first.toString(), way };
}

describe("a request for a page", () => {
  test("is handed on, with its host as the address has it and without what was for the proxy", async () => {
    await filterFor([`127.0.0.1:${portOf(web)}`]);
    const headers = {
      Host: "lies.example",
      "Proxy-Authorization": "Basic x",
      Connection: "x-own",
      "X-Own": "1",
      "X-Kept": "2",
    };
    const {
      status,
      body,
      headers: got,
    } = await get(`http://127.0.0.1:${portOf(web)}/a?b=c`, { method: "POST", headers }, "words");
    expect({ status, from: got["x-from"], cookies: got["set-cookie"] }).toEqual({
      status: 201,
      from: "web",
      cookies: ["a=1", "b=2"],
    });
    expect(body).toHaveLength(100_000);
    expect(seen).toMatchObject([
      { url: "/a?b=c", body: "words", headers: { host: `127.0.0.1:${portOf(web)}`, "x-kept": "2" } },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect(seen[0]?.headers).not.toHaveProperty("x-own");
  });

  test("of a host that is not in the list is refused in a sentence", async () => {
    await filterFor(["api.example.com"]);
    const { status, body } = await get(`http://127.0.0.1:${portOf(web)}/secret?key=1`);
    expect(status).toBe(403);
    expect(body).toBe(
      `127.0.0.1:${portOf(web)} is not in "sandbox.network": this sandbox does not let you reach it\n`,
    );
    expect(refused).toEqual([`127.0.0.1:${portOf(web)}`]);
    expect(seen).toEqual([]);
  });

  test.each([["/a"], ["https://api.example.com/"], ["http://"], ["ftp://api.example.com/"]])(
    "for %s is none for a proxy",
    async (path) => {
      await filterFor(["api.example.com"]);
      expect((await get(path)).status).toBe(400);
    },
  );

  test("says when nobody answers there", async () => {
    const port = portOf(echo);
    echo.close();
    await filterFor([`127.0.0.1:${port}`]);
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({
      status: 502,
      body: `127.0.0.1:${port} cannot be reached: ECONNREFUSED\n`,
    });
  });
});

describe("a tunnel", () => {
  test("carries bytes both ways, each to its end", async () => {
    await filterFor([`localhost:${portOf(echo)}`]);
    const { head, way } = await tunnel(`LOCALHOST:${portOf(echo)}`);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    way.end("x".repeat(1_000_000));
    expect(await text(way)).toBe(`got ${"x".repeat(1_000_000)}`);
  });

  test.each([["10.0.0.1:443"], ["api.example.com:22"], ["[::1]:443"]])("to %s is refused", async (target) => {
    await filterFor(["api.example.com"]);
    const { head, way } = await tunnel(target);
    expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    way.end();
    expect(refused).toHaveLength(1);
  });

  test.each([["nonsense"], ["a:b"], ["api.example.com"]])("to %s makes no sense", async (target) => {
    await filterFor(["api.example.com"]);
    const { head, way } = await tunnel(target);
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    way.end();
  });

  test("ends with the filter", async () => {
    await filterFor([`127.0.0.1:${portOf(echo)}`]);
    const { way } = await tunnel(`127.0.0.1:${portOf(echo)}`);
    const ended = once(way.resume(), "end");
    await filter.close();
    await ended;
    await filterFor([]);
  });
});

test("garbage and visitors who leave do no harm", async () => {
  await filterFor([`127.0.0.1:${portOf(web)}`]);
  for (const words of [
    "\0\0\0",
    "GET\r\n\r\n",
    `CONNECT 127.0.0.1:${portOf(echo)} HTTP/1.1\r\n\r\n`,
    "CONNECT ",
  ]) {
    const visitor = connect({ path: socket });
    await once(visitor, "connect");
    visitor.end(words);
    visitor.destroy();
  }
  expect((await get(`http://127.0.0.1:${portOf(web)}/`)).status).toBe(201);
});

describe("behind a proxy of the operator's", () => {
  let asked: string[];
  let proxy: Server;

  beforeEach(async () => {
    asked = [];
    const note = ({ method, url, headers }: IncomingMessage): number =>
      asked.push(`${method} ${url} ${headers["proxy-authorization"]}`);
    proxy = createHttpServer((one, answer) => {
      note(one);
      answer.end("from the proxy");
    }).on("connect", (one: IncomingMessage, way: Socket) => {
      note(one);
      if (one.url?.startsWith("closed") === true) return void way.end("HTTP/1.1 407 No\r\n\r\n");
      way.end("HTTP/1.1 200 OK\r\n\r\nfirst words");
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
  });
  afterEach(() => void proxy.close());

  test("hosts of the list are asked for there, with its password, and no others", async () => {
    const address = `http://me:p%40ss@127.0.0.1:${portOf(proxy)}`;
    await filterFor(["api.example.com", "closed.example.com"], { HTTPS_PROXY: address, http_proxy: address });
    const login = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect((await get("http://api.example.com/x")).body).toBe("from the proxy");
    const { head, way } = await tunnel("api.example.com:443");
    expect(`${head}${await text(way)}`).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nfirst words$/s);
    expect((await tunnel("evil.example.com:443")).head).toMatch(/ 403 /);
    expect((await tunnel("closed.example.com:443")).head).toMatch(
      / 502 .*your own proxy 127\.0\.0\.1:\d+ answers 407/s,
    );
    expect(asked).toEqual([
      `GET http://api.example.com/x ${login}`,
      `CONNECT api.example.com:443 ${login}`,
      `CONNECT closed.example.com:443 ${login}`,
    ]);
  });

  test("this machine itself is reached without it", async () => {
    await filterFor([`127.0.0.1:${portOf(web)}`], { ALL_PROXY: `127.0.0.1:${portOf(proxy)}` });
    expect((await get(`http://127.0.0.1:${portOf(web)}/`)).status).toBe(201);
    expect(asked).toEqual([]);
  });
});
