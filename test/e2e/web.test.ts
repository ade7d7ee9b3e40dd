import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProject, until, type Project } from "./project.ts";

let project: Project;

beforeEach(() => {
  project = createProject();
});

afterEach(() => project.dispose());

const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n$/;

describe("ralph web", () => {
  test("prints one address, answers there, and ends with Ctrl-C", async () => {
    const running = project.start("web");
    await until("the address is printed", () => running.stdout().includes("\n"));
    expect(running.stdout()).toMatch(ADDRESS);
    const entered = await fetch(running.stdout().trim(), { redirect: "manual" });
    expect(entered.status).toBe(303);
    const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
    const { origin } = new URL(running.stdout());
    const overview = await fetch(`${origin}/api/overview`, { headers: { cookie } });
    expect(await overview.json()).toMatchObject({ mayAct: true, hint: "ralph run" });
    const stream = await fetch(`${origin}/api/events`, { headers: { cookie } });
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 0, signal: null });
    expect(await stream.text()).toContain("event: facts");
  });

  test("keeps status.json in step with what is done there while no run is on", async () => {
    project.script({ one: [[{ promise: "DECIDE:which colour?" }]] });
    await project.ralph("run");
    const inbox = (): unknown =>
      (JSON.parse(readFileSync(join(project.root, ".ralph/status.json"), "utf8")) as { inbox: unknown })
        .inbox;
    expect(inbox()).toHaveLength(1);
    const running = project.start("web");
    await until("the address is printed", () => running.stdout().includes("\n"));
    const { origin } = new URL(running.stdout());
    const entered = await fetch(running.stdout().trim(), { redirect: "manual" });
    const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
    const answer = await fetch(`${origin}/api/act`, {
      method: "POST",
      headers: { cookie, origin, "content-type": "application/json" },
      body: JSON.stringify({ do: "decide", task: "one", answer: "red" }),
    });
    expect(answer.status).toBe(200);
    expect(inbox()).toEqual([]);
    running.child.kill("SIGTERM");
    expect((await running.finished).code).toBe(0);
  });

  test.each([
    [["--host", "0.0.0.0"], /with --host 0\.0\.0\.0 other machines can open the page: it needs a token/],
    [["--host", "::"], /it needs a token/],
    [["--host", "192.0.2.1"], /it needs a token/],
    [["--host", "0.0.0.0", "--token", "too-short"], /the token has 9 characters, and needs at least 16/],
    [["--token", "short"], /needs at least 16/],
    [["--port", "many"], /"many" is no port/],
    [["--port", "65536"], /"65536" is no port/],
    [["--port", "-1"], /"-1" is no port/],
    [["--host", "192.0.2.1", "--token", "0123456789abcdef"], /this machine has no address "192\.0\.2\.1"/],
  ])("refuses %j with a sentence", async (flags, sentence) => {
    const { code, stderr, stdout } = await project.ralph("web", ...flags);
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toMatch(sentence);
  });

  test("takes its token from the environment, where the list of processes does not show it", async () => {
    const token = "0123456789abcdef";
    const other = createProject({ env: { RALPH_WEB_TOKEN: token } });
    const running = other.start("web");
    await until("the address is printed", () => running.stdout().includes("\n"));
    expect(running.stdout()).toContain(`?token=${token}\n`);
    for (const file of existsSync("/proc/self/environ") ? ["cmdline", "environ"] : [])
      expect(readFileSync(`/proc/${running.child.pid}/${file}`, "utf8")).not.toContain(token);
    running.child.kill("SIGTERM");
    expect(await running.finished).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining("RALPH_WEB_TOKEN"),
    });
    other.dispose();
  });

  test("says so when the port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await project.ralph("web", "--port", String(port));
    expect(code).toBe(64);
    expect(stderr).toContain(`port ${port} is used by another program`);
    other.close();
  });

  test("is not for agents", async () => {
    const inside = { RALPH_MARKER: "m", RALPH_DIR: join(project.root, ".ralph") };
    const agent = createProject({ env: inside });
    const refused = await agent.ralph("web", "--dir", inside.RALPH_DIR);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain("an agent cannot open the page");
    agent.dispose();
  });
});
