import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, type Project, type Running, until } from "./project.ts";
import { openTerminal } from "./terminal.ts";

const HANGS = [[{ say: "this takes a while" }, { hang: true }]] as const;

let project: Project;
let running: Running | null = null;

afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.finished;
  running = null;
  project.dispose();
});

interface Entered {
  readonly origin: string;
  readonly get: (path: string) => Promise<unknown>;
  readonly post: (path: string, body: object, headers?: Record<string, string>) => Promise<Response>;
}

async function web(...flags: readonly string[]): Promise<Running> {
  const one = project.start("web", ...flags);
  running = one;
  await until("the address is printed", () => one.stdout().includes("\n"));
  return one;
}

async function enter(address: string): Promise<Entered> {
  const entered = await fetch(address.trim(), { redirect: "manual" });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { origin } = new URL(address);
  return {
    origin,
    get: async (path) => (await fetch(`${origin}${path}`, { headers: { cookie } })).json(),
    post: (path, body, headers = {}) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        headers: { cookie, origin, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}

async function status(): Promise<{ readonly run: Record<string, unknown> | null }> {
  return JSON.parse((await project.ralph("status", "--json")).stdout) as Awaited<ReturnType<typeof status>>;
}

const WISH = {
  goal: null,
  tasks: [],
  agent: null,
  lanes: null,
  maxIterations: null,
  budgetUsd: null,
  approve: false,
};

describe("ralph web --run", () => {
  test("serves the page and a run; the page stays when the run has ended, and Ctrl-C ends it", async () => {
    project = createProject({ tasks: ["one", "two"] });
    const page = await web("--run");
    await until("the run has ended", () => page.stderr().includes("The run has ended"));
    expect(exists(project, "two.txt")).toBe(true);
    const { get } = await enter(page.stdout().split("\n")[0] ?? "");
    expect(await get("/api/overview")).toMatchObject({ status: { run: { outcome: "completed" } } });
    page.child.kill("SIGINT");
    expect(await page.finished).toMatchObject({ code: 0 });
  });

  test("stays for a person, and Ctrl-C stops the agent, records its iteration and ends the page", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({}, HANGS);
    project.commit();
    const page = await web("--run");
    await until("the agent works", async () => (await status()).run?.["iterations"] === 1);
    page.child.kill("SIGINT");
    const { code, stderr } = await page.finished;
    expect([code, stderr]).toEqual([130, expect.stringContaining("Stopping the run…")]);
    expect((await status()).run).toMatchObject({ state: "ended", outcome: "stopped" });
    expect(project.leftovers()).toEqual([]);
  });

  test("refuses before it serves what a run would refuse", async () => {
    project = createProject();
    const { code, stdout, stderr } = await project.ralph("web", "--run", "--all");
    expect([code, stdout, stderr]).toEqual([64, "", expect.stringContaining("--all goes without --run")]);
    project.write(".ralph/ralph.toml", 'agent = "codex"\n');
    expect(await project.ralph("web", "--run")).toMatchObject({
      code: 64,
      stdout: "",
      stderr: expect.stringContaining("not installed") as string,
    });
  });
});

describe("the port of ralph web", () => {
  test("is the same for a project each time, and the next one while it is taken", async () => {
    project = createProject();
    const portOf = (one: Running): number => Number(new URL(one.stdout()).port);
    const first = await web();
    const port = portOf(first);
    const second = project.start("web");
    await until("the other address is printed", () => second.stdout().includes("\n"));
    expect(portOf(second)).toBe(port + 1);
    for (const one of [first, second]) one.child.kill("SIGINT");
    await Promise.all([first.finished, second.finished]);
    const again = await web();
    expect(portOf(again)).toBe(port);
    again.child.kill("SIGINT");
    await again.finished;
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const taken = (other.address() as { port: number }).port;
    expect((await project.ralph("web", "--port", String(taken))).code).toBe(64);
    other.close();
  });
});

describe("ralph web in a terminal", () => {
  test("opens the browser with an address that works once, and never with the token", async () => {
    project = createProject();
    project.write("../browser", '#!/bin/sh\necho "$1" > "$HOME/opened"\n');
    const browser = join(project.root, "..", "browser");
    chmodSync(browser, 0o755);
    const opened = join(project.env["HOME"] ?? "", "opened");
    const token = "0123456789abcdef";
    const env = { BROWSER: browser, RALPH_WEB_TOKEN: token };
    for (const [flags, opens] of [
      [["--no-open"], false],
      [[], true],
    ] as const) {
      const terminal = openTerminal(project, ["web", ...flags], { columns: 120, env });
      await terminal.shows(opens ? "opened in your browser" : "open this address in a browser");
      if (opens) await until("the browser has started", () => existsSync(opened));
      expect(existsSync(opened)).toBe(opens);
      const address = opens ? readFileSync(opened, "utf8").trim() : "";
      expect(address).not.toContain(token);
      const statuses = opens
        ? [await fetch(address, { redirect: "manual" }), await fetch(address, { redirect: "manual" })]
        : [];
      expect(statuses.map(({ status: code }) => code)).toEqual(opens ? [303, 401] : []);
      process.kill(terminal.pid, "SIGINT");
      expect((await terminal.ended()).code).toBe(0);
      terminal.close();
    }
  });
});

describe("a run from the page", () => {
  test("is shown before it starts, as the dry run shows it, and is a process of its own", async () => {
    project = createProject({ tasks: ["one", "two"] });
    const page = await web();
    const { post, get } = await enter(page.stdout());
    const planned = (await (await post("/api/plan", { ...WISH, lanes: 2, budgetUsd: 5 })).json()) as object;
    const dry = await project.ralph("run", "--dry-run", "--json", "--parallel", "2", "--budget", "5");
    const { prompt: _prompt, tasks, ...plan } = JSON.parse(dry.stdout) as Record<string, unknown>;
    expect(planned).toMatchObject(plan);
    const named = (tasks as { id: string; title: string; done: boolean }[]).map(({ id, title, done }) => ({
      id,
      title,
      done,
    }));
    expect(planned).toMatchObject({ tasks: named });
    expect(plan).toMatchObject({ lanes: 2, budget_usd: 5, agent: "demo", gates: [] });
    const started = await post("/api/runs", { ...WISH, tasks: ["two"] });
    expect([started.status, await started.json()]).toEqual([200, { said: "the run has begun" }]);
    page.child.kill("SIGINT");
    expect((await page.finished).code).toBe(0);
    await until("the run has ended", async () => (await status()).run?.["state"] === "ended");
    expect([exists(project, "one.txt"), exists(project, "two.txt")]).toEqual([false, true]);
    expect(await get("/api/overview").catch(() => null)).toBeNull();
  });

  test("takes a goal as one argument, whatever it looks like", async () => {
    project = createProject({ tasks: ["one"] });
    const page = await web();
    const { post } = await enter(page.stdout());
    const goal = '--agent=evil; touch "$HOME/hacked" $(touch hacked)';
    expect((await post("/api/runs", { ...WISH, goal })).status).toBe(200);
    await until("the run has ended", async () => (await status()).run?.["state"] === "ended");
    const [started] = (await project.events()).filter(({ type }) => type === "tasks.observed");
    expect(started).toMatchObject({ plan: { tasks: [{ description: goal }] } });
    expect(existsSync(join(project.env["HOME"] ?? "", "hacked"))).toBe(false);
  });

  test("is refused with a sentence: other flags, other pages, a run under way, uncommitted changes", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({}, HANGS);
    project.commit();
    const page = await web();
    const { post } = await enter(page.stdout());
    const refusal = async (answer: Promise<Response>): Promise<unknown> => {
      const { status: code } = await answer;
      const { error } = (await (await answer).json()) as { error: { message: string } };
      return [code, error.message];
    };
    expect(await refusal(post("/api/runs", { ...WISH, check: "rm -rf /" }))).toEqual([
      400,
      expect.stringContaining("this is no wish for a run"),
    ]);
    expect(await refusal(post("/api/runs", WISH, { origin: "http://evil.example" }))).toEqual([
      403,
      "this comes from another page",
    ]);
    expect(await refusal(post("/api/runs", { ...WISH, agent: "--budget=1" }))).toEqual([
      409,
      expect.stringContaining("--budget=1"),
    ]);
    project.write("dirty.txt", "mine\n");
    expect(await refusal(post("/api/runs", WISH))).toEqual([
      409,
      expect.stringContaining("the work tree has uncommitted changes"),
    ]);
    project.remove("dirty.txt");
    expect((await post("/api/runs", WISH)).status).toBe(200);
    expect(await refusal(post("/api/runs", WISH))).toEqual([
      409,
      expect.stringContaining("a run is working in this repository"),
    ]);
    await project.ralph("cancel", "--all");
  });
});

describe("the list on the page", () => {
  test("takes a task and another title, and every other byte is kept", async () => {
    project = createProject();
    project.write("TODO.md", "# Tasks\r\n\r\n* [ ] **one**: make one\r\n* [x] say hello  \r\n\r\nEnd\r\n");
    project.commit();
    const page = await web();
    const { post } = await enter(page.stdout());
    expect(await (await post("/api/tasks", { title: "third" })).json()).toMatchObject({
      said: expect.stringContaining("third is in TODO.md") as string,
    });
    expect((await post("/api/tasks/one/title", { title: "make one, well" })).status).toBe(200);
    expect((await post("/api/tasks/say-hello/title", { title: "greet" })).status).toBe(200);
    expect(project.read("TODO.md")).toBe(
      "# Tasks\r\n\r\n* [ ] **one**: make one, well\r\n* [x] **say-hello**: greet  \r\n* [ ] third\r\n\r\nEnd\r\n",
    );
    const refused = await post("/api/tasks/nine/title", { title: "x" });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { message: "TODO.md has no task nine" } },
    ]);
  });

  test("keeps a title while an agent works in the checkout", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({}, HANGS);
    project.commit();
    const page = await web("--run");
    await until("the agent works", async () => (await status()).run?.["iterations"] === 1);
    const { post } = await enter(page.stdout().split("\n")[0] ?? "");
    const refused = await post("/api/tasks/one/title", { title: "other" });
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { message: "the title of one cannot be changed while an agent works with the list" } },
    ]);
    page.child.kill("SIGINT");
    await page.finished;
  });
});

test("ralph web --all shows every project of the machine, and opens the page of one", async () => {
  project = createProject({ tasks: ["one"] });
  await project.ralph("run");
  const known = join(project.env["HOME"] ?? "", ".local/state/ralph/projects.json");
  expect(JSON.parse(readFileSync(known, "utf8"))).toMatchObject({ projects: [{ root: project.root }] });
  const page = await web("--all");
  const { get, origin } = await enter(page.stdout());
  const [entry] = (await get("/api/projects")) as { key: string }[];
  expect(entry).toMatchObject({
    root: project.root,
    problem: null,
    status: { run: { outcome: "completed" }, tasks: [{ status: "done" }] },
  });
  expect((await fetch(`${origin}/open/${entry?.key}`, { redirect: "manual" })).status).toBe(401);
  const entered = await fetch(page.stdout().trim(), { redirect: "manual" });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const opened = await fetch(`${origin}/open/${entry?.key}`, { redirect: "manual", headers: { cookie } });
  const own = await enter(opened.headers.get("location") ?? "");
  expect(own.origin).not.toBe(origin);
  expect(await own.get("/api/overview")).toMatchObject({ status: { run: { outcome: "completed" } } });
  // What let one browser in lets in no other.
  const second = await fetch(opened.headers.get("location") ?? "", { redirect: "manual" });
  expect(second.status).toBe(401);
  page.child.kill("SIGINT");
  expect((await page.finished).code).toBe(0);
});
