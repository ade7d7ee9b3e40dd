import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive } from "../../../test/fixtures/is-alive.ts";
import { startReceiver } from "../../../test/fixtures/receiver.ts";
import type { Notice } from "../../core/views/notice.ts";
import { commandChannel } from "./command-channel.ts";
import { retryAfterMs, webhookChannel } from "./webhook-channel.ts";

const notice: Notice = {
  id: "r-1",
  position: 1,
  kind: "decide",
  at: 0,
  run: "r",
  task: "a",
  text: "a asks: $(touch hacked) $HOME?",
  command: null,
  event: null,
};
const sending = () => ({ project: "shop", host: "here", now: 0 });
const never = new AbortController().signal;

describe("a webhook", () => {
  const settings = { format: "json", secret: null, version: "0", sending } as const;

  test("with a name and a password gets them as a header", async () => {
    const receiver = await startReceiver();
    const url = `${receiver.url.replace("://", "://me:p%40ss@")}/hook`;
    const channel = webhookChannel({ ...settings, url });
    expect(await channel.send(notice, never)).toEqual({ is: "delivered" });
    await receiver.close();
    expect(receiver.requests[0]?.headers.authorization).toBe(`Basic ${btoa("me:p@ss")}`);
    expect(channel.shown).toBe(receiver.url);
  });

  test.each([
    [204, {}, { is: "delivered" }],
    [429, { "retry-after": "7" }, { is: "failed", why: "it answers 429", retryAfterMs: 7_000 }],
    [500, {}, { is: "failed", why: "it answers 500", retryAfterMs: null }],
    [404, {}, { is: "refused", why: "it answers 404" }],
  ])("that answers %i %j: %j", async (status, headers, delivery) => {
    const receiver = await startReceiver((response) => response.writeHead(status, headers).end("no"));
    const channel = webhookChannel({ ...settings, url: receiver.url });
    expect(await channel.send(notice, never)).toEqual(delivery);
    await receiver.close();
  });

  test("at a port that no web request may go to is refused, not tried again and again", async () => {
    const channel = webhookChannel({ ...settings, url: "http://127.0.0.1:6666/secret" });
    expect(await channel.send(notice, never)).toEqual({
      is: "refused",
      why: "no web request may go to port 6666",
    });
  });

  test("that is not there is a failure, and its address stays secret", async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const channel = webhookChannel({ ...settings, url: `${receiver.url}/secret` });
    expect(await channel.send(notice, never)).toEqual({
      is: "failed",
      why: "ECONNREFUSED",
      retryAfterMs: null,
    });
  });

  test("says in seconds or by a date how long it wants to be left alone", () => {
    const now = Date.UTC(2026, 0, 1);
    expect(retryAfterMs("120", now)).toBe(120_000);
    expect(retryAfterMs("0.5", now)).toBe(500);
    expect(retryAfterMs("Thu, 01 Jan 2026 00:01:00 GMT", now)).toBe(60_000);
    expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
    expect(retryAfterMs("soon", now)).toBeNull();
    expect(retryAfterMs(null, now)).toBeNull();
  });
});

describe("a command", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ralph-command-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function channel(command: string, limitMs = 30_000) {
    const redact = (text: string): string => text.replaceAll("hunter22", "[redacted]");
    return commandChannel({ command, cwd: folder, env: process.env, redact, ownRoot: "/", sending, limitMs });
  }

  test("reads the notice, and runs nothing of it", async () => {
    expect(await channel('cat > got; echo "$RALPH_NOTICE_TEXT" > text').send(notice, never)).toEqual({
      is: "delivered",
    });
    expect(JSON.parse(readFileSync(join(folder, "got"), "utf8"))).toMatchObject({
      id: "r-1",
      kind: "decide",
    });
    expect(readFileSync(join(folder, "text"), "utf8")).toBe(`${notice.text}\n`);
  });

  test("that fails is refused with its last words, without secrets", async () => {
    expect(await channel("echo one; echo hunter22 >&2; exit 4").send(notice, never)).toEqual({
      is: "refused",
      why: "it exited with 4: [redacted]",
    });
  });

  test("that need not read it may leave it", async () => {
    expect(await channel("exec true").send({ ...notice, text: "x".repeat(1e6) }, never)).toEqual({
      is: "delivered",
    });
  });

  test("that takes too long is ended with all that it started", async () => {
    const hanging = channel("sleep 600 & echo $! > child; wait", 3_000);
    expect(await hanging.send(notice, never)).toEqual({ is: "refused", why: "it took longer than 3 s" });
    expect(isAlive(Number(readFileSync(join(folder, "child"), "utf8")))).toBe(false);
  });
});
