import { strict as assert } from "node:assert";
import { connect } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { createProject } from "../e2e/project.ts";
import { openPage, TOKEN, type Page } from "../web/web-client.ts";
import { mutate } from "./mutate.ts";
import type { Target } from "./target.ts";

const OUTSIDE = "text-that-lies-outside-of-the-project";
const METHODS = [
  "GET",
  "GET",
  "GET",
  "POST",
  "HEAD",
  "OPTIONS",
  "PUT",
  "DELETE",
  "TRACE",
  "CONNECT",
  "get",
  "FOO",
];
const PATHS = [
  "/",
  "/api/overview",
  "/api/runs",
  "/api/timeline?run=x",
  "/api/charts",
  "/api/iterations?task=one&before=3&limit=2&verdict=accepted",
  "/api/iterations/1",
  "/api/iterations/1/transcript?from=0&limit=10",
  "/api/iterations/1/search?q=a",
  "/api/iterations/1/prompt",
  "/api/iterations/1/diff",
  "/api/act",
  "/app.js",
  "/../../outside.txt",
  "/..%2f..%2foutside.txt",
  "/%2e%2e/%2e%2e/outside.txt",
  "//evil.example/",
  "*",
  "http://evil.example/api/overview",
];
const HOSTS = ["{host}", "{host}", "{host}", "{host}", "evil.example", "127.0.0.1", "localhost:1", ""];
const ORIGINS = [
  null,
  "{origin}",
  "null",
  "http://evil.example",
  "{origin}.evil.example",
  "{origin}@evil.example",
];
const COOKIES = [null, "{cookie}", "{cookie}", "{cookie}x", "ralph_1=x", "{cookie}; {cookie}", "=;=;"];
const BODIES = [
  '{"do":"stop"}',
  '{"do":"steer","task":null,"text":"x"}',
  '{"do":"decide","task":"one","answer":"a"}',
  "",
  "[".repeat(5_000),
  "\0",
];
const ODD_HEADERS = [
  "Transfer-Encoding: chunked",
  "Content-Length: -1",
  "X-A: \u0001",
  "Expect: 100-continue",
  "Last-Event-ID: -5",
  "Range: bytes=0-",
  "Upgrade: websocket",
  `X-Long: ${"a".repeat(20_000)}`,
  "Sec-Fetch-Site: cross-site",
  " folded: x",
];

/**
 * A real server, spoken to over a bare socket: whatever comes, it says what is wrong and goes on; nobody without the
 * token sees anything, no other page does anything, and nothing outside is shown.
 */
export const web: Target = {
  name: "web",
  make(random) {
    const path = random.pick(PATHS);
    const body = random.chance(0.4) ? random.pick(BODIES) : "";
    const lines = [
      `${random.pick(METHODS)} ${random.chance(0.4) ? mutate(random, path).replaceAll(/[\r\n ]/g, "") : path} HTTP/1.1`,
      ...header("Host", random.pick(HOSTS)),
      ...header("Cookie", random.pick(COOKIES)),
      ...header("Origin", random.pick(ORIGINS)),
      ...header(
        "Content-Type",
        random.pick([null, "application/json", "text/plain", "application/json; charset=x"]),
      ),
      ...(random.chance(0.3) ? [random.pick(ODD_HEADERS)] : []),
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
    ];
    return `${lines.join("\r\n")}\r\n\r\n${body}`;
  },
  async open() {
    const project = createProject();
    writeFileSync(join(project.root, "..", "outside.txt"), OUTSIDE);
    await project.ralph("run", "--quiet");
    const facts = (await project.events()).length;
    const page = await openPage(project.root, { mayAct: false });
    return {
      take: (input) => tryOne(page, input),
      async close() {
        const overview = await page.get("/api/overview");
        await page.stop();
        const after = (await project.events()).length;
        project.dispose();
        assert.equal(overview.status, 200, "the server no longer answers");
        assert.equal(after, facts, "somebody did something, on a page that is there to look only");
      },
    };
  },
};

function header(name: string, value: string | null): readonly string[] {
  return value === null ? [] : [`${name}: ${value}`];
}

async function tryOne(page: Page, input: string): Promise<void> {
  const host = `127.0.0.1:${page.server.port}`;
  const request = input
    .replaceAll("{host}", host)
    .replaceAll("{origin}", page.origin)
    .replaceAll("{cookie}", page.cookie);
  const answer = (await send(page.server.port, request)).replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, "");
  assert.ok(!answer.includes(OUTSIDE), "something outside is shown");
  assert.ok(!answer.includes(TOKEN), "the token is told");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
  assert.ok(status !== 500, `an internal error: ${answer.slice(-300)}`);
  const isOurs = request.includes(`Host: ${host}\r\n`) && hasCookie(request, page.cookie);
  if (!isOurs) assert.ok(status === 0 || status >= 400, `${status} without the cookie, or for another host`);
  if (request.startsWith("POST "))
    assert.ok(status === 0 || status >= 400, `${status} for an act where none is allowed`);
}

function hasCookie(request: string, cookie: string): boolean {
  const sent = /^Cookie: (.*)\r$/m.exec(request)?.[1] ?? "";
  return sent.split(";").some((one) => one.trim() === cookie);
}

const ENOUGH_MS = 300;
const PATIENCE_MS = 15_000;

/** All that comes until the server closes; a stream of events is left after a moment. */
function send(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    const tooLong = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer after ${PATIENCE_MS} ms: ${answer.slice(0, 100)}`));
    }, PATIENCE_MS);
    const done = (): void => {
      clearTimeout(tooLong);
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding("latin1").on("data", (text: string) => {
      answer += text;
      if (/text\/event-stream/.test(answer)) setTimeout(done, ENOUGH_MS);
    });
    socket.on("error", done);
    socket.on("close", done);
    socket.write(request, "utf8");
    // A request that says more than it sends is waited for by the server, as it must.
    if (/Transfer-Encoding|Upgrade|Expect|CONNECT/.test(request)) setTimeout(done, ENOUGH_MS);
  });
}
