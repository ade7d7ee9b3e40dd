import { createHmac } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { startReceiver, type Answer, type Receiver } from "../fixtures/receiver.ts";
import {
  createProject,
  exists,
  jsonLines,
  startRalph,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
  type Steps,
} from "./project.ts";

let project: Project;
let receiver: Receiver;
afterEach(async () => {
  project.dispose();
  await receiver?.close();
});

const DEMO = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';

async function receive(
  answer?: Answer,
  options: { notify?: string; config?: string; path?: string; env?: Record<string, string> } = {},
): Promise<void> {
  receiver = await startReceiver(answer);
  const { notify = "", config = "", path = "/hook" } = options;
  project = createProject({
    config: `${DEMO}${config}\n[notify]\nwebhook = "${receiver.url}${path}"\n${notify}\n`,
    env: options.env ?? {},
  });
}

function kinds(): readonly unknown[] {
  return receiver.bodies().map(({ kind }) => kind);
}

describe("a webhook", () => {
  test("is told of a limit once where the run does not wait for it", async () => {
    await receive();
    // One more than it can do if the hour ends meanwhile.
    project.write("TODO.md", "- [ ] One\n- [ ] Two\n- [ ] Three\n");
    project.commit();
    expect(await project.ralph("run", "--calls", "1", "--no-wait")).toMatchObject({ code: 5 });
    expect(receiver.bodies()).toEqual([
      expect.objectContaining({
        kind: "limit",
        text: expect.stringMatching(/^the run has ended: the calls of this hour are used up until /),
      }),
    ]);
  });

  test("is told when all is done, signed so that it can tell who speaks", async () => {
    await receive(undefined, { env: { RALPH_NOTIFY_SECRET: "a secret between us" } });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(receiver.bodies()).toEqual([
      expect.objectContaining({
        schema: "ralph.notice.v1",
        kind: "done",
        project: "repository",
        text: "the run is done: every task is done (1 of 1 task done)",
        event: expect.objectContaining({ type: "run.ended", outcome: "completed" }),
      }),
    ]);
    const [request] = receiver.requests;
    const hmac = createHmac("sha256", "a secret between us").update(request?.body ?? "");
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-ralph-signature": `sha256=${hmac.digest("hex")}`,
      "x-ralph-notice": receiver.bodies()[0]?.["id"],
    });
    expect(Date.parse(String(receiver.bodies()[0]?.["sent_at"]))).toBeGreaterThan(0);
  });

  test.each([
    ["decide", [{ decide: "red or blue? | red | blue" }], "", 3, 'ralph decide one "red"'],
    ["blocked", [{ blocked: "no key" }], "", 2, "ralph unblock one"],
    ["stuck", [{ say: "hm" }], "[interventions]\nthreshold_no_files = 0\n", 4, "ralph why one"],
    [
      "budget",
      [{ shell: "echo x >> x" }, { usage: { cost_usd: 0.9 } }],
      "[limits]\nbudget_usd = 1\n",
      5,
      "ralph status",
    ],
  ] as const)("is told of %s, with what to type", async (kind, steps, config, code, command) => {
    await receive(undefined, { config });
    project.script({}, [steps]);
    expect(await project.ralph("run")).toMatchObject({ code });
    expect(receiver.bodies()[0]).toMatchObject({ kind, command });
    expect(new Set(kinds())).toEqual(new Set([kind]));
  });

  test("is told of a limit while the run waits", async () => {
    receiver = await startReceiver();
    const config = `agent = "limited"\n[agents.limited]\ncommand = ["sh", "../agent.sh"]\n[notify]\nwebhook = "${receiver.url}"\n`;
    project = createProject({ config });
    project.write("../agent.sh", "echo 'Error: usage limit reached, resets in 2 hours' >&2; exit 1\n");
    const running = project.start("run");
    await until("the receiver knows", () => receiver.requests.length > 0);
    expect(receiver.bodies()[0]).toMatchObject({ kind: "limit", text: expect.stringContaining("waits") });
    running.child.kill("SIGINT");
    expect((await running.finished).code).toBe(130);
    expect(kinds()).toEqual(["limit"]);
  });

  test("hears only of what it is told about", async () => {
    await receive(undefined, { notify: 'on = ["stuck"]' });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(receiver.requests).toEqual([]);
  });

  test("that is busy is asked again, and the run does not fail by it", async () => {
    await receive((response, _request, number) =>
      number < 3 ? response.writeHead(503).end() : response.writeHead(200).end("ok"),
    );
    const run = await project.ralph("run");
    expect(run.code).toBe(0);
    expect(receiver.requests).toHaveLength(3);
    expect(new Set(receiver.bodies().map(({ id }) => id)).size).toBe(1);
    expect(run.stderr.match(/the webhook .*it answers 503/g)).toHaveLength(1);
    expect(run.stderr).not.toContain("/hook");
  });

  test("that says no is not asked again", async () => {
    await receive((response) => response.writeHead(403).end());
    const run = await project.ralph("run");
    expect(run.code).toBe(0);
    expect(receiver.requests).toHaveLength(1);
    expect(run.stderr).toContain("does not take notices: it answers 403");
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(receiver.requests.map(({ headers }) => headers["x-ralph-notice"])).toHaveLength(2);
  });

  test("that leads elsewhere is not followed", async () => {
    await receive((response, { path }) =>
      path === "/hook" ? response.writeHead(302, { location: "/other" }).end() : response.end(),
    );
    const run = await project.ralph("run");
    expect(run.stderr).toContain("leads elsewhere");
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/hook"]);
  });

  test("gets after a kill -9 what it could not get before, by the next run", async () => {
    await receive((response, _request, number) => {
      if (number > 1) response.writeHead(204).end();
    });
    project.script({ one: [[{ decide: "a or b?" }]], two: [[TOLD_TO_GO, ...WORKS]] });
    project.write("TODO.md", "- [ ] **one**: make one\n- [ ] **two**: make two\n");
    project.commit("two");
    const running = project.start("run", "--keep-going");
    await until("the first request hangs", () => receiver.requests.length === 1);
    running.child.kill("SIGKILL");
    await running.finished;
    project.script({ one: [[{ decide: "a or b?" }]] }, [WORKS]);
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 3 });
    expect(kinds()).toEqual(["decide", "decide", "ended"]);
    const [first, second] = receiver.bodies();
    expect(second?.["id"]).toBe(first?.["id"]);
    expect(second?.["text"]).toBe(first?.["text"]);
  });

  test.each([
    ["slack", { text: expect.stringMatching(/^repository: the run is done/) }],
    ["discord", { content: expect.stringMatching(/^\*\*repository\*\*: the run is done/) }],
  ])("of %s gets what that understands", async (format, body) => {
    await receive(undefined, { notify: `format = "${format}"` });
    await project.ralph("run");
    expect(receiver.bodies()).toEqual([expect.objectContaining(body)]);
  });

  test("is no secret of the agent's, and nobody is shown more of it than the host", async () => {
    await receive(undefined, { path: "/hook/Zq0123456789abcdefghij" });
    const address = `${receiver.url}/hook/Zq0123456789abcdefghij`;
    const look: Steps[number] = { shell: "env | grep -c RALPH_NOTIFY > ../seen; true" };
    project.script({}, [[{ say: `posting to ${address}` }, look, ...WORKS]]);
    project.write(".ralph/ralph.toml", DEMO);
    const env = { ...project.env, RALPH_NOTIFY_WEBHOOK: address };
    const outputs = [];
    for (const args of [["run", "--verbose"], ["config"], ["doctor"], ["logs"]])
      outputs.push(await startRalph(project.root, env, args).finished);
    expect(receiver.requests).toHaveLength(1);
    expect(project.read("../seen")).toBe("0\n");
    expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join("")).not.toContain("Zq01");
    expect(outputs[1]?.stdout).toMatch(/^notify\.webhook +"http:\/\/127\.0\.0\.1:\d+\/…"/m);
  });
});

describe("a command", () => {
  test("gets the notice on its stdin, once", async () => {
    project = createProject({
      config: `${DEMO}[notify]\ncommand = "cat >> ../got; echo $RALPH_NOTICE_KIND >> ../kinds"\n`,
    });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(jsonLines(project.read("../got"))).toEqual([
      expect.objectContaining({ kind: "done", event: expect.objectContaining({ type: "run.ended" }) }),
    ]);
    expect(project.read("../kinds")).toBe("done\n");
  });

  test("that fails is one warning, and no failure of the run", async () => {
    project = createProject({ config: `${DEMO}[notify]\ncommand = "echo too bad >&2; exit 3"\n` });
    const run = await project.ralph("run");
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("does not take notices: it exited with 3: too bad");
  });
});

describe("the desktop", () => {
  test("shows the words of an agent, and runs nothing of them", async () => {
    project = createProject({ config: `${DEMO}[notify]\ndesktop = true\n` });
    const program = join(project.env["PATH"]?.split(":")[0] ?? "", "notify-send");
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "${join(project.root, "..", "shown")}"\n`);
    chmodSync(program, 0o755);
    project.script({}, [[{ decide: "$(touch hacked) or `touch hacked`?" }]]);
    expect(await project.ralph("run")).toMatchObject({ code: 3 });
    expect(project.read("../shown").split("\n")).toEqual([
      "--app-name=ralph",
      "--urgency=critical",
      "--",
      "ralph · repository",
      "one asks: $(touch hacked) or `touch hacked`?",
      '→ ralph decide one "…"',
      "",
    ]);
    expect(exists(project, "hacked")).toBe(false);
  });
});

describe("ralph doctor", () => {
  test("says how people would be told, and sends nothing by itself", async () => {
    await receive(undefined, { notify: 'command = "no-such-program --now"' });
    const { code, stdout } = await project.ralph("doctor");
    expect(code).toBe(1);
    expect(stdout).toMatch(/✔ notify webhook: 127\.0\.0\.1:\d+ gets json, not signed/);
    expect(stdout).toContain("✗ notify command: no-such-program is not installed");
    expect(receiver.requests).toEqual([]);
  });

  test("--notify sends one test notice", async () => {
    await receive();
    const { code, stdout } = await project.ralph("doctor", "--notify");
    expect(stdout).toContain("a test notice was sent to http://127.0.0.1");
    expect(code).toBe(0);
    expect(kinds()).toEqual(["test"]);
  });

  test("--notify without anything to send by is not well", async () => {
    project = createProject();
    expect(await project.ralph("doctor", "--notify")).toMatchObject({ code: 1 });
  });
});
