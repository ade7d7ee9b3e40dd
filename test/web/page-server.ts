import type { TextPage } from "../../src/core/views/overview.ts";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIterationTexts } from "../../src/adapters/files/iteration-texts.ts";
import type { OperatorAct } from "../../src/core/loop/operator-act.ts";
import type { InboxItem } from "../../src/core/views/inbox.ts";
import type { Overview } from "../../src/core/views/overview.ts";
import type { Api, DiffPage, Facts, IterationDetail, IterationPage, RunWish } from "../../src/web/api.ts";
import {
  chartsOf,
  HOSTILE,
  INBOX,
  NOW,
  overviewNow,
  PROGRESS,
  ROWS,
  RUN,
  RUNS,
  timelineOf,
} from "./page-data.ts";

/** The page with a server that tells of one night, without a project behind it. */
export interface PageServer {
  readonly url: string;
  /** Every act that was asked for. */
  readonly acts: OperatorAct[];
  /** Everything else that was posted. */
  readonly posts: { readonly path: string; readonly body: object }[];
  /** What is told from now on. */
  set(change: (overview: Overview) => Overview): void;
  ask(item: InboxItem): void;
  /** The time line grows by one span. */
  grow(): void;
  /** Ends every stream, as a restart would. */
  hangUp(): void;
  stop(): Promise<void>;
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = {
  "app.js": "text/javascript",
  "app.css": "text/css",
  "index.html": "text/html; charset=utf-8",
} as const;

/** `folder` holds the three files. */
export async function servePage(folder: string): Promise<PageServer> {
  const began = performance.now();
  const streams = new Set<ServerResponse>();
  const acts: OperatorAct[] = [];
  const posts: PageServer["posts"] = [];
  let inbox = INBOX;
  let position = 5_000;
  let grownBy = 0;
  let change = (overview: Overview): Overview => overview;
  const tell = (facts: Omit<Facts, "position">): void => {
    position += 1;
    for (const stream of streams) {
      stream.write(`id: ${position}\nevent: facts\ndata: ${JSON.stringify({ position, ...facts })}\n\n`);
    }
  };
  const settle = (act: OperatorAct): object => {
    acts.push(act);
    if (act.do === "cancel" || act.do === "retry")
      return { is: "refused", why: `nobody works on it right now` };
    if (act.do === "decide" || act.do === "unblock") {
      inbox = inbox.filter(({ task }) => task !== act.task);
      tell({ types: ["question.answered"], tasks: [act.task], iterations: [] });
      return { is: "done", said: `${act.task} is answered` };
    }
    return {
      is: "done",
      said: act.do === "stop" ? "the run stops after the iterations under way" : "the agent is told",
    };
  };
  const settlePost = ({ pathname: path }: URL, body: object): object => {
    if (path === "/api/act") return settle(body as OperatorAct);
    posts.push({ path, body });
    return path === "/api/plan" ? planFor(body as RunWish) : { said: "it is done" };
  };
  const answer = (url: URL): unknown => {
    if (/^\/api\/runs\/[^/]+\/diff$/.test(url.pathname)) return DIFF;
    switch (url.pathname) {
      case "/api/overview":
        return change(overviewNow(inbox, position, NOW + (performance.now() - began)));
      case "/api/runs":
        return RUNS;
      case "/api/timeline":
        return timelineOf(url.searchParams.get("run") ?? RUN, grownBy);
      case "/api/charts":
        return chartsOf(url.searchParams.get("run"));
      case "/api/iterations":
        return pageOf(url.searchParams);
      default:
        return ofIteration(url);
    }
  };
  const server = createServer((request, response) => {
    void serve(request, response, { folder, streams, answer, settle: settlePost });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    acts,
    posts,
    set(next) {
      change = next;
      tell({ types: ["run.started"], tasks: [], iterations: [] });
    },
    ask(item) {
      inbox = [...inbox, item];
      tell({ types: ["question.asked"], tasks: [item.task], iterations: [] });
    },
    grow() {
      grownBy += 1;
      tell({ types: ["merge.finished"], tasks: ["ops-003"], iterations: [] });
    },
    hangUp() {
      for (const stream of streams) stream.destroy();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Serving {
  readonly folder: string;
  readonly streams: Set<ServerResponse>;
  readonly answer: (url: URL) => unknown;
  readonly settle: (url: URL, body: object) => object;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, streams, answer, settle }: Serving,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://page");
  response.setHeader("content-security-policy", POLICY);
  if (url.pathname === "/api/events") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`retry: 300\nevent: progress\ndata: ${JSON.stringify(PROGRESS)}\n\n`);
    streams.add(response);
    response.on("close", () => streams.delete(response));
    return;
  }
  if (url.pathname.startsWith("/api/")) {
    const told =
      request.method === "POST"
        ? settle(url, JSON.parse(await bodyOf(request)) as object)
        : await answer(url);
    const isMissing = told === undefined;
    const error = {
      message: `there is no iteration ${url.pathname.split("/")[3]}`,
      hint: "ralph history lists them",
    };
    response.writeHead(isMissing ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isMissing ? { error } : told));
    return;
  }
  if (url.pathname === "/favicon.ico") {
    response.writeHead(204).end();
    return;
  }
  const name =
    url.pathname === "/app.js" || url.pathname === "/app.css"
      ? (url.pathname.slice(1) as "app.js" | "app.css")
      : "index.html";
  response.writeHead(200, { "content-type": TYPES[name] }).end(readFileSync(join(folder, name)));
}

function planFor({ lanes, agent, goal, budgetUsd, maxIterations, approve }: RunWish): Api["POST /api/plan"] {
  const tasks = [
    { id: "auth-001", title: "Hash passwords with argon2", done: true },
    { id: "auth-002", title: "Issue refresh tokens", done: false },
    { id: "db-007", title: "Move the import job into its own process", done: false },
  ];
  return {
    source: goal === null ? "TODO.md" : "goal",
    tasks: goal === null ? tasks : [{ id: "goal", title: goal, done: false }],
    agent: agent ?? "claude",
    agents: [agent ?? "claude", "codex"],
    agentsKnown: ["claude", "codex", "demo"],
    gates: [
      { name: "tests", command: "npm test", required: true },
      { name: "lint", command: "npm run lint", required: false },
    ],
    lanes: lanes ?? 1,
    worktrees: (lanes ?? 1) > 1,
    max_iterations: maxIterations ?? 100,
    budget_usd: budgetUsd,
    approve: approve ? "person" : "auto",
    sandbox: null,
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += String(piece);
  return body;
}

function pageOf(query: URLSearchParams): IterationPage {
  const before = Number(query.get("before") ?? Number.POSITIVE_INFINITY);
  const wants = (name: string, value: string | null): boolean =>
    !query.has(name) || query.get(name) === value;
  const matching = ROWS.filter(
    (row) => wants("run", row.run) && wants("task", row.task) && wants("verdict", row.verdict),
  );
  const rows = matching
    .filter(({ iteration }) => iteration < before)
    .slice(0, Number(query.get("limit") ?? 50));
  return { rows, total: matching.length };
}

/** A night's work in the stream of a program, of some megabytes. */
const CALLS = 20_000;
const TRANSCRIPT = Buffer.from(
  [
    { type: "system", subtype: "init", cwd: "/work/shop", model: "claude-opus-5-5" },
    saying({ type: "thinking", thinking: "The tokens never end.\nI look at how they are signed first." }),
    saying({ type: "text", text: HOSTILE }),
    calling("edit", "Edit", {
      file_path: "/work/shop/src/auth/refresh.ts",
      old_string: "export function refresh(token: string): string {\n  return sign(token, 3600);\n}",
      new_string:
        "export function refresh(token: Token): Token {\n  return sign({ ...token, usedAt }, 3600);\n}",
    }),
    answering("edit", "The file has been updated."),
    calling("bad", "Bash", { command: "npm test -- refresh" }),
    answering("bad", `Exit code 1\n✗ refresh rotates token\n  expected 401, got 200\n${HOSTILE}`, true),
    ...Array.from({ length: CALLS }, (_, at) => [
      calling(`call ${at}`, "Bash", { command: `npm test -- part ${at}` }),
      answering(
        `call ${at}`,
        at === 15_000
          ? "here is the needle in the middle of everything"
          : `ok ${at}\n${"fine\n".repeat(at % 9)}`,
      ),
    ]).flat(),
    saying({ type: "text", text: "All work is finished.\n\n<promise>COMPLETE</promise>" }),
    { type: "result", subtype: "success", is_error: false, total_cost_usd: 1.25, result: "" },
  ]
    .map((event) => `${JSON.stringify({ ...event, session_id: "s" })}\n`)
    .join(""),
);

function saying(...content: readonly object[]): object {
  return { type: "assistant", timestamp: "2026-11-15T02:40:05.314Z", message: { id: "m", content } };
}

function calling(id: string, name: string, input: object): object {
  return saying({ type: "tool_use", id, name, input });
}

function answering(id: string, content: string, isError = false): object {
  const result = { type: "tool_result", tool_use_id: id, content, is_error: isError };
  return { type: "user", timestamp: "2026-11-15T02:40:06.644Z", message: { content: [result] } };
}

const logs = mkdtempSync(join(tmpdir(), "ralph-page-"));
mkdirSync(join(logs, "logs"));
writeFileSync(join(logs, "logs", "iteration-001.log"), TRANSCRIPT);
process.once("exit", () => rmSync(logs, { recursive: true, force: true }));
const texts = createIterationTexts(logs, (text) => text);

function ofIteration(url: URL): unknown {
  const [, , , number, what] = url.pathname.split("/");
  const row = ROWS.find(({ iteration }) => iteration === Number(number));
  if (row === undefined) return undefined;
  switch (what) {
    case "transcript": {
      const [from, limit] = ["from", "limit"].map((name) => Number(url.searchParams.get(name) ?? 0));
      return texts.entries(1, from ?? 0, limit ?? 0);
    }
    case "prompt":
      return textPage(PROMPT, url.searchParams);
    case "search":
      return texts.search(1, url.searchParams.get("q") ?? "", AbortSignal.timeout(60_000));
    case "diff":
      return DIFF;
    case undefined:
      return detailOf(row);
    default:
      return undefined;
  }
}

const PROMPT = Buffer.from(
  `# Task auth-002: Issue refresh tokens\n\n${"Work on this task only. ".repeat(40)}\n${HOSTILE}\n`,
);

function textPage(text: Buffer, query: URLSearchParams): TextPage {
  const wanted = Number(query.get("from") ?? 0);
  const from = wanted < 0 ? Math.max(0, text.length + wanted) : Math.min(wanted, text.length);
  const to = Math.min(text.length, from + Number(query.get("limit") ?? 64_000));
  return { from, to, bytes: text.length, text: text.subarray(from, to).toString("utf8") };
}

type Doubts = Pick<IterationDetail, "panels">;

const UNDOUBTED: Doubts = { panels: [] };

const DOUBTED: Doubts = {
  panels: [
    {
      title: "Concerns",
      note: null,
      items: [
        {
          label: "old-checks-fail",
          look: "accepted",
          texts: ['Gate "tests" fails: old token.', "harmless, says the second reader."],
        },
      ],
    },
    {
      title: "Gates with the old checks",
      note: "As before the task: test/refresh.test.ts; 10s in all",
      items: [{ label: "tests failed", look: "rejected", texts: ['gate "tests" failed (exit 1, 10s).'] }],
    },
    {
      title: "Second reader",
      note: "codex, 31s, $0.04",
      items: [{ label: "criterion 2 cannot be told", look: "decide", texts: ["There is no server."] }],
    },
    {
      title: "Certificate",
      note: null,
      items: [{ label: "Criteria", look: null, texts: ["tokens rotate – checked by the second reader."] }],
    },
  ],
};

function detailOf(row: (typeof ROWS)[number]): IterationDetail {
  return {
    row,
    explanation:
      row.verdict === null
        ? []
        : [
            `It claimed COMPLETE. ${row.why}.`,
            "The gate had passed before the task began.",
            "The old checks pass too",
          ],
    gates: [
      {
        name: "tests",
        status: row.verdict === "accepted" ? "passed" : "failed",
        exitCode: row.verdict === "accepted" ? 0 : 1,
        durationMs: 9_200,
        output:
          "✗ refresh rotates token\n  expected 401, got 200\n✗ expired token refused\n39 passed, 2 failed\n",
      },
      { name: "types", status: "passed", exitCode: 0, durationMs: 3_100, output: "" },
    ],
    ...(row.verdict === "accepted" ? DOUBTED : UNDOUBTED),
    changedPaths: DIFF.files.map(({ path }) => path),
    commit: "3f2a91c0d3b1",
    feedback:
      row.verdict === "rejected"
        ? [`The gate "tests" failed (exit code 1):\n  ✗ refresh rotates token\nFix this first.`]
        : [],
    transcriptBytes: TRANSCRIPT.length,
    hasPrompt: true,
    textsAre: "here",
  };
}

const DIFF: DiffPage = {
  files: [
    {
      path: "src/auth/refresh.ts",
      status: "changed",
      hunks: `@@ -1,7 +1,9 @@ export function rotate\n import { sign } from "./sign.ts";\n \n-export function refresh(token: string): string {\n-  return sign(token, 3600); // one hour\n+/** A token is good for one use. */\n+export function refresh(token: Token, now: number): Token {\n+  if (token.usedAt !== null) throw new Error("used before");\n+  return sign({ ...token, usedAt: now }, 3600);\n }\n \n const html = "<b>not bold</b>";\n`,
    },
    {
      path: "src/auth/refresh.test.ts",
      status: "added",
      hunks: `@@ -0,0 +1,300 @@\n${Array.from({ length: 300 }, (_, line) => `+test("case ${line}", () => expect(${line}).toBe(${line}));`).join("\n")}\n`,
    },
    {
      path: "docs/old-tokens.md",
      status: "removed",
      hunks: "@@ -1,2 +0,0 @@\n-# Tokens\n-They never end.\n",
    },
    { path: "assets/logo.png", status: "binary", hunks: null },
    { path: "package-lock.json", status: "changed", hunks: null },
  ],
  more: 2,
};
