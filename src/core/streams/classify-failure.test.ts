import { describe, expect, test } from "vitest";
import type { Ending, Failure } from "./agent-report.ts";
import { classifyFailure } from "./classify-failure.ts";

const quiet = { stderr: "", lastLines: [] };

test.each<[Ending, Failure | null]>([
  [{ is: "exited", code: 0 }, null],
  [
    { is: "exited", code: 3 },
    { class: "agent", message: "exit code 3" },
  ],
  [
    { is: "timed-out", afterMs: 90_000 },
    { class: "agent", message: "timed out after 1m 30s" },
  ],
  [
    { is: "idle", afterMs: 600_000 },
    {
      class: "agent",
      message: "no sign of life for 10m (no output, no tool call, no change in the work tree, no CPU)",
    },
  ],
  [
    { is: "signalled", signal: "SIGKILL" },
    { class: "agent", message: "killed by SIGKILL" },
  ],
  [
    { is: "not-started", message: "cannot start" },
    { class: "config", message: "cannot start" },
  ],
  [
    { is: "not-started", message: "spawn sh EMFILE" },
    {
      class: "transient",
      message: "spawn sh EMFILE: this machine has no more to give (ulimit -n, ulimit -u)",
    },
  ],
  [{ is: "stopped" }, null],
  [{ is: "interrupted" }, null],
])("%o", (ending, failure) => {
  expect(classifyFailure(ending, quiet)).toEqual(failure);
});

test("the last words on stderr say why", () => {
  const tail = { stderr: "warning\n\x1b[31mError: no such model\x1b[0m\n\n", lastLines: ["bye"] };
  expect(classifyFailure({ is: "exited", code: 1 }, tail)).toEqual({
    class: "agent",
    message: "exit code 1: Error: no such model",
  });
});

test("a long message is cut", () => {
  const failure = classifyFailure({ is: "exited", code: 1 }, { stderr: "x".repeat(5_000), lastLines: [] });
  expect(failure?.message).toHaveLength(300);
});

test("words about an outage do not matter when the agent ended well, or was killed", () => {
  const tail = { stderr: "Error: read ECONNRESET", lastLines: [] };
  expect(classifyFailure({ is: "exited", code: 0 }, tail)).toBeNull();
  expect(classifyFailure({ is: "signalled", signal: "SIGSEGV" }, tail)?.class).toBe("agent");
});

describe("a refusal", () => {
  const now = Date.parse("2026-11-15T02:46:37Z");
  const after = (stderr: string, ...lastLines: string[]): Failure | null =>
    classifyFailure({ is: "exited", code: 1 }, { stderr, lastLines }, now, "Europe/Berlin");

  test("has the moment at which the limit ends", () => {
    expect(after("start\nYou've hit your limit · resets 5am\n\nbye\n")).toEqual({
      class: "limit",
      message: "You've hit your limit · resets 5am",
      resetsAt: Date.parse("2026-11-15T04:00:00Z"),
    });
  });

  test("has none where nobody says it, or nobody knows what time it is", () => {
    expect(after("", "HTTP 429 Too Many Requests")).toEqual({
      class: "limit",
      message: "HTTP 429 Too Many Requests",
      resetsAt: null,
    });
    const tail = { stderr: "Error: rate limited, try again in 5m", lastLines: [] };
    expect(classifyFailure({ is: "exited", code: 1 }, tail)?.resetsAt).toBeNull();
  });

  test("takes the moment from the lines around, those that follow first", () => {
    expect(
      after("Claude usage limit reached. Your limit will reset\nat 3pm (America/Santiago)."),
    ).toMatchObject({
      resetsAt: Date.parse("2026-11-15T18:00:00Z"),
    });
    expect(after("retry-after: 30\nHTTP 429 Too Many Requests")).toMatchObject({ resetsAt: now + 30_000 });
    expect(after("retry-after: 30\nHTTP 429 Too Many Requests\nretry-after: 60")).toMatchObject({
      resetsAt: now + 60_000,
    });
  });

  test("may be a login", () => {
    expect(after("\x1b[31mInvalid API key · Please run /login\x1b[0m\n")).toEqual({
      class: "auth",
      message: "Invalid API key · Please run /login",
    });
  });

  test("outranks an outage", () => {
    expect(after("HTTP 429 Too Many Requests\nError: read ECONNRESET")?.class).toBe("limit");
  });

  test("needs a process that failed by itself", () => {
    const tail = { stderr: "HTTP 429 Too Many Requests", lastLines: ["HTTP 401 Unauthorized"] };
    expect(classifyFailure({ is: "exited", code: 0 }, tail, now)).toBeNull();
    expect(classifyFailure({ is: "stopped" }, tail, now)).toBeNull();
    expect(classifyFailure({ is: "timed-out", afterMs: 1_000 }, tail, now)?.class).toBe("agent");
    expect(classifyFailure({ is: "signalled", signal: "SIGTERM" }, tail, now)?.class).toBe("agent");
  });

  test("does not show above the last ten lines", () => {
    const lines = Array.from({ length: 10 }, (_, index) => `line ${index}`);
    expect(after("", "HTTP 429 Too Many Requests", ...lines)?.class).toBe("agent");
  });
});

describe("an outage", () => {
  test.each([
    "Error: read ECONNRESET",
    "connect ECONNREFUSED 127.0.0.1:443",
    "getaddrinfo ENOTFOUND api.example.com",
    "getaddrinfo EAI_AGAIN api.example.com",
    "  code: 'ETIMEDOUT',",
    '{"code":"ECONNRESET"}',
    "ECONNRESET",
    "Error: socket hang up",
    "Network error. Please check your connection",
    "TypeError: fetch failed",
    "API Error: 529 Overloaded",
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "Overloaded",
    "Error: Overloaded",
    "The model is currently overloaded. Please try again later.",
    "HTTP 503",
    "HTTP/1.1 502 Bad Gateway",
    "Request failed with status code 500",
    "unexpected status 503: try again",
    "API Error (500)",
    "Error: 504",
    '"status": 529',
    "503 Service Unavailable",
    "upstream said: bad gateway",
    "Internal Server Error",
  ])("shows in: %s", (line) => {
    expect(
      classifyFailure({ is: "exited", code: 1 }, { stderr: `start\n${line}\nbye\n`, lastLines: [] }),
    ).toEqual({
      class: "transient",
      message: line.trim(),
    });
    expect(classifyFailure({ is: "exited", code: 1 }, { stderr: "", lastLines: [line] })?.class).toBe(
      "transient",
    );
  });

  test.each([
    "wrote public/502.html",
    "error in 502.html",
    "Error 503.html is missing",
    "src/net.ts:503:12 - error TS2345",
    "error TS500x",
    "line 500 of the file",
    "500 tests passed",
    "Found 503 errors",
    "I added handling for ECONNRESET and ETIMEDOUT",
    "retries on ECONNRESET",
    "the method is overloaded",
    "call of overloaded function is ambiguous",
    "operator+ cannot be overloaded",
    "port 5000 is in use",
    "status: 5001",
    "HTTP 404",
    "status 200",
    "took 500 ms",
    "error rate 500%",
  ])("does not show in: %s", (line) => {
    expect(classifyFailure({ is: "exited", code: 1 }, { stderr: line, lastLines: [line] })?.class).toBe(
      "agent",
    );
  });

  test("does not show above the last ten lines", () => {
    const lastLines = [
      "Error: read ECONNRESET",
      ...Array.from({ length: 10 }, (_, index) => `line ${index}`),
    ];
    expect(classifyFailure({ is: "exited", code: 1 }, { stderr: "", lastLines })?.class).toBe("agent");
  });
});
