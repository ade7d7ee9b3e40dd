import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, WORKS, type Project, type Steps } from "./project.ts";

const USES_V2: Steps = [{ expectPrompt: "## Message from the operator\nuse the v2 API" }, ...WORKS];
/** Keeps the agent at work until the test has done its part. */
const WAITS = 'for i in $(seq 400); do test -f "$HOME/go" && break; sleep 0.05; done';

let project: Project;
afterEach(() => project.dispose());

describe("ralph steer without a run", () => {
  test("waits for the next prompt of the task, and is used by it", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ two: [USES_V2] }, [[...WORKS]]);
    project.commit();
    const said = await project.ralph("steer", "two", "use the v2 API");
    expect(said).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "ralph: it will be in the next prompt of two (iteration 1)\n",
    });
    expect(await printed("steer")).toMatchObject([
      { task: "two", text: "use the v2 API", state: "waiting", used: [] },
    ]);
    expect(JSON.parse(project.read(".ralph/status.json"))).toMatchObject({
      messages: [{ task: "two", text: "use the v2 API" }],
    });
    expect((await project.ralph("prompt", "two")).stdout).toContain("use the v2 API");
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toContain("iteration 2 had a message of yours in its prompt");
    expect(await printed("steer")).toMatchObject([
      { state: "used", used: [{ iteration: 2, task: "two", how: "prompt" }] },
    ]);
    expect((await project.ralph("steer")).stdout).toBe(
      "used  two: use the v2 API  (in the prompt of iteration 2)\n",
    );
    const { stdout: why } = await project.ralph("why", "two");
    expect(why).toContain("A person said: use the v2 API.");
    expect(why).toContain("A message of a person's was in its prompt.");
    expect((await project.ralph("status")).stdout).not.toContain("message for");
  });

  test("without a task is for whatever comes next", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [USES_V2] }, [WORKS]);
    project.commit();
    expect((await project.ralph("steer", "use the v2 API")).stderr).toContain("whatever the task");
    expect((await project.ralph("status")).code).toBe(0);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });
});

describe("ralph steer while an agent works", () => {
  test("reaches one that takes messages at once", async () => {
    project = createProject();
    project.script({ one: [[{ say: "ready" }, { awaitMessage: 30_000 }, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("the agent listens", () => transcript(1).includes("ready"));
    const said = await project.ralph("steer", "one", "use the v2 API");
    expect(said.stderr).toContain("iteration 1 of one is under way: its agent is told at once");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(transcript(1)).toContain("I was told: Message from the operator: use the v2 API");
    expect(running.stdout()).toContain("→ iteration 1 was told");
    expect(await printed("steer")).toMatchObject([
      { state: "used", used: [{ iteration: 1, how: "message" }] },
    ]);
  });

  test("is in the next prompt of one that takes none", async () => {
    const script = `prompt=$(cat); case "$prompt" in
      *"use the v2 API"*) echo v2 > v2.txt; echo "<promise>COMPLETE</promise>";;
      *) echo ready; ${WAITS}; echo v1 > v1.txt;; esac`;
    project = createProject({
      config: `agent = "shell"\n[agents.shell]\ncommand = ["sh", "-c", ${JSON.stringify(script)}]\n`,
    });
    const running = project.start("run");
    await until("the agent works", () => transcript(1).includes("ready"));
    expect(await project.ralph("steer", "use the v2 API")).toMatchObject({ code: 0 });
    await until("it was tried", () => running.stdout().includes("its agent takes no messages"));
    writeFileSync(join(project.env["HOME"] ?? "", "go"), "");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await printed("steer")).toMatchObject([{ used: [{ iteration: 2, how: "prompt" }] }]);
    expect(exists(project, "v2.txt")).toBe(true);
  });

  test("is not lost when the run dies with the prompt that had it", async () => {
    project = createProject();
    project.script({ one: [[{ say: "ready" }, { shell: WAITS }, ...WORKS]] });
    project.commit();
    await project.ralph("steer", "one", "use the v2 API");
    const running = project.start("run");
    await until("the agent works", () => transcript(1).includes("ready"));
    expect(await printed("steer")).toMatchObject([{ state: "working" }]);
    running.child.kill("SIGKILL");
    await running.finished;
    project.script({ one: [USES_V2] });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await printed("steer")).toMatchObject([
      { state: "used", used: [{ iteration: 2, how: "prompt" }] },
    ]);
  });
});

describe("ralph steer refuses", () => {
  test.each([
    [["onee", "use v2"], 'Did you mean "one"?'],
    [["one", "use", "v2"], 'ralph steer one "use v2"'],
    [["one", " "], "say what the agent should know"],
    [["x".repeat(4_001)], "a prompt has room for"],
  ])("%j", async (words, sentence) => {
    project = createProject();
    const refused = await project.ralph("steer", ...words);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(sentence);
    expect(await printed("steer")).toEqual([]);
  });

  test("a task that is done", async () => {
    project = createProject();
    await project.ralph("run");
    const refused = await project.ralph("steer", "one", "use v2");
    expect(refused).toMatchObject({ code: 64 });
    expect(refused.stderr).toContain("one is done");
  });
});

test("ralph steer before anything was said says so, and creates nothing", async () => {
  project = createProject();
  expect((await project.ralph("steer")).stdout).toMatch(/^Nothing was said\./);
  expect(exists(project, ".git/ralph")).toBe(false);
});

function transcript(iteration: number): string {
  const path = `.ralph/logs/iteration-00${iteration}.log`;
  return exists(project, path) ? project.read(path) : "";
}

async function printed(...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await project.ralph(...args, "--json")).stdout);
}
