import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryRepository, type TemporaryRepository } from "../fixtures/temporary-repository.ts";
import { openPage, rawRequest, TOKEN, type Page } from "./web-client.ts";

let repository: TemporaryRepository;
let page: Page;

beforeAll(async () => {
  repository = temporaryRepository();
  page = await openPage(repository.root, { ports: { pageFile: async (name) => Buffer.from(`<${name}>`) } });
});

afterAll(async () => {
  await page.stop();
  repository.dispose();
});

const host = (): string => `127.0.0.1:${page.server.port}`;
const OVERVIEW = "/api/overview";

describe("the token", () => {
  test("gives a cookie that scripts cannot read and other sites do not get, and leaves the address", async () => {
    const entered = await fetch(`${page.origin}/runs?token=${TOKEN}&x=1`, { redirect: "manual" });
    expect(entered.status).toBe(303);
    expect(entered.headers.get("location")).toBe("/runs?x=1");
    const cookie = entered.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(
      new RegExp(`^ralph_${page.server.port}=[^;]+; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(cookie).not.toContain(TOKEN);
  });

  test("by a link on another site leads to a page that goes on by itself, so that the cookie is sent", async () => {
    const path = `/runs?a=1&token=${TOKEN}&b="><script>`;
    const answer = await rawRequest(page.server, encodeURI(path), {
      host: host(),
      "sec-fetch-site": "cross-site",
    });
    expect(answer.status).toBe(200);
    expect(answer.headers["set-cookie"]).toHaveLength(1);
    expect(answer.body).toBe(
      '<!doctype html><meta http-equiv="refresh" content="0; url=/runs?a=1&amp;b=%22%3E%3Cscript%3E">',
    );
  });

  test("stands in the address that is printed", () => {
    expect(page.server.url).toBe(`${page.origin}/?token=${TOKEN}`);
  });

  test.each(["//evil.example/x", "/%5Cevil.example", "///evil.example"])(
    "does not lead to another host: %s",
    async (path) => {
      const answer = await rawRequest(page.server, `${path}?token=${TOKEN}`, { host: host() });
      expect(answer.status).toBe(303);
      expect(answer.headers["location"]).toMatch(/^\/[^/\\]/);
    },
  );

  test.each(["wrong", "", TOKEN.slice(0, -1), `${TOKEN}x`])("must be the very one: %j", async (token) => {
    const answer = await fetch(`${page.origin}/?token=${token}`, { redirect: "manual" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

describe("without the cookie", () => {
  test.each(["/", "/runs", "/app.js", "/index.html"])("%s tells a person what to do", async (path) => {
    const answer = await fetch(`${page.origin}${path}`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("content-type")).toContain("text/plain");
    expect(await answer.text()).toContain("open the address that ralph web has printed");
  });

  test.each([OVERVIEW, "/api/events", "/api/iterations/1/transcript", "/api/nothing"])(
    "%s is refused in JSON",
    async (path) => {
      const answer = await fetch(`${page.origin}${path}`);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({
        error: { message: expect.any(String), hint: "open the address that ralph web has printed" },
      });
    },
  );

  test("a cookie with another value is none", async () => {
    const [name] = page.cookie.split("=");
    for (const value of ["", "x", TOKEN]) {
      const answer = await page.get(OVERVIEW, { cookie: `${name}=${value}` });
      expect(answer.status).toBe(401);
    }
  });
});

describe("the host that a request names", () => {
  const status = async (named: string): Promise<number> =>
    (await rawRequest(page.server, OVERVIEW, { host: named, cookie: page.cookie })).status;

  test.each(["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])("may be %s with our port", async (name) => {
    expect(await status(`${name}:${page.server.port}`)).toBe(200);
  });

  test("may be nothing else: a name that is pointed at this machine is refused", async () => {
    const { port } = page.server;
    for (const named of [
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `0.0.0.0:${port}`,
      `127.0.0.2:${port}`,
    ])
      expect(await status(named)).toBe(421);
  });

  test("is looked at before the token", async () => {
    const answer = await rawRequest(page.server, `/?token=${TOKEN}`, { host: "evil.example" });
    expect(answer.status).toBe(421);
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
});

describe("acts", () => {
  const stop = JSON.stringify({ do: "stop" });
  const post = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await rawRequest(page.server, "/api/act", { host: host(), ...headers }, "POST", stop)).status;
  const json = { "content-type": "application/json" };

  test("are taken from our own page only", async () => {
    const cookie = { cookie: page.cookie };
    expect(await post({ ...cookie, ...json, origin: page.origin })).toBe(409);
    expect(await post({ ...cookie, ...json })).toBe(403);
    expect(await post({ ...cookie, ...json, origin: "null" })).toBe(403);
    expect(await post({ ...cookie, ...json, origin: "http://evil.example" })).toBe(403);
    expect(await post({ ...cookie, ...json, origin: `https://${host()}` })).toBe(403);
    expect(await post({ ...cookie, ...json, origin: `http://localhost:${page.server.port}` })).toBe(403);
    expect(await post({ ...json, origin: page.origin })).toBe(401);
  });

  test("are JSON: what a form can send is refused", async () => {
    const sent = { cookie: page.cookie, origin: page.origin };
    expect(await post(sent)).toBe(415);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
      expect(await post({ ...sent, "content-type": type })).toBe(415);
    expect(await post({ ...sent, "content-type": "application/json; charset=utf-8" })).toBe(409);
  });

  test("are short", async () => {
    const answer = await page.act({ do: "steer", task: null, text: "x".repeat(70_000) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual({ error: { message: "this is more than 64 kB", hint: null } });
  });

  test.each(["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])("%s is not answered", async (method) => {
    const headers = { host: host(), cookie: page.cookie };
    for (const path of ["/api/act", "/api/events", "/"])
      expect((await rawRequest(page.server, path, headers, method)).status).toBe(405);
  });
});

test("what another page embeds is refused, though its browser sends the cookie", async () => {
  for (const site of ["cross-site", "same-site"])
    expect((await page.get(OVERVIEW, { "sec-fetch-site": site })).status).toBe(403);
  for (const site of ["same-origin", "none"])
    expect((await page.get(OVERVIEW, { "sec-fetch-site": site })).status).toBe(200);
});

test.each([OVERVIEW, "/", "/app.js", "/api/nothing"])(
  "%s carries the headers that protect it",
  async (path) => {
    for (const cookie of [page.cookie, ""]) {
      const { headers } = await page.get(path, { cookie });
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  },
);

test("every address of the page is the page, and nothing else on the disk is", async () => {
  const headers = { host: host(), cookie: page.cookie };
  const read = async (path: string): Promise<string> => (await rawRequest(page.server, path, headers)).body;
  for (const path of ["/", "/runs", "/iterations/12", "/charts", "/inbox", "/index.html"])
    expect(await read(path)).toBe("<index.html>");
  expect(await read("/app.js")).toBe("<app.js>");
  for (const path of [
    "/../package.json",
    "/..%2f..%2fpackage.json",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/....//....//etc/passwd",
    "/app.js/../../../etc/passwd",
    "/.git/config",
    "/C:/Windows/win.ini",
  ])
    expect(["<index.html>", "<app.js>"]).toContain(await read(path));
});
