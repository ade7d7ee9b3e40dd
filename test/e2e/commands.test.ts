import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, tellToGo, TOLD_TO_GO, until, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("ralph status", () => {
  test("before the first run says how to begin", async () => {
    project = createProject();
    const { code, stdout } = await project.ralph("status");
    expect(code).toBe(0);
    expect(stdout).toContain("ralph run");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("--json has the agreed keys", async () => {
    project = createProject({ tasks: ["one", "two"] });
    await project.ralph("run", "--task", "one");
    const status = JSON.parse((await project.ralph("status", "--json")).stdout) as Record<string, unknown>;
    expect(status).toMatchObject({
      schema: "ralph.status.v1",
      run: {
        state: "ended",
        waiting_until: null,
        outcome: "completed",
        exit_code: 0,
        iterations: 1,
        max_iterations: 50,
        stuck_count: 0,
      },
      tasks: [
        {
          id: "one",
          title: "make one",
          status: "done",
          stage: "build",
          iteration: 1,
          max_iterations: 30,
          attempts: 0,
          complexity: "medium",
          timeout_seconds: 1_350,
          timeout_from: "formula",
          blocked_reason: null,
          agent: "demo",
          cost_usd: null,
        },
        { id: "two", status: "todo", iteration: 0 },
      ],
      breaker: { state: "CLOSED", no_progress: 0, same_error: 0, reason: null },
      cost: { usd: null, budget_usd: null, per_accepted_task_usd: null },
      inbox: [],
    });
  });

  test("while a run is on shows what is being done", async () => {
    project = createProject();
    project.script({ one: [[{ say: "working" }, TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("the agent works", () => exists(project, ".ralph/progress.json"));
    const { stdout } = await project.ralph("status", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      run: { state: "running", pid: running.child.pid },
      tasks: [{ status: "doing", iteration: 1 }],
    });
    expect(JSON.parse(project.read(".ralph/progress.json"))).toMatchObject({
      iteration: 1,
      task: "one",
      stage: "build",
      agent: "demo",
      timeout_seconds: 1_350,
    });
    expect((await project.ralph("ralph-status")).stdout).toMatch(
      /^Active Ralph Loops:\n {2}one \(build\): iteration 1\/30, started \d+s ago\n$/,
    );
    expect(JSON.parse(project.read(".ralph/active.json"))).toMatchObject({
      pid: running.child.pid,
      stuck_count: 0,
    });
    tellToGo(project);
    await running.finished;
  });
});

describe("ralph logs", () => {
  test("prints what the agent said", async () => {
    project = createProject();
    project.script({ one: [[{ say: "hello from the agent" }, ...WORKS]] });
    project.commit();
    await project.ralph("run");
    expect((await project.ralph("logs")).stdout).toContain("hello from the agent");
    expect((await project.ralph("logs", "1")).stdout).toContain("hello from the agent");
    expect(await project.ralph("logs", "9")).toMatchObject({ code: 64 });
  });

  test("--follow ends with the iteration", async () => {
    project = createProject();
    project.script({ one: [[{ say: "first" }, TOLD_TO_GO, { say: "last" }, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("the transcript is there", () => exists(project, ".ralph/logs/iteration-001.log"));
    const following = project.start("logs", "--follow");
    await until("the beginning is shown", () => following.stdout().includes("first"));
    tellToGo(project);
    expect((await following.finished).stdout).toMatch(/first[^]*last/);
    await running.finished;
  });
});

describe("secrets", () => {
  test("of the environment and the configuration appear nowhere", async () => {
    const secret = "s3ntinel-value-0123456789";
    const configured = "c0nfigured-value-0123456789";
    project = createProject({
      env: { MY_API_KEY: secret },
      config: `agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\nenv = { OTHER_TOKEN = "${configured}" }\n`,
    });
    const print = { shell: 'echo "the key is $MY_API_KEY"; echo "$MY_API_KEY $OTHER_TOKEN" >&2' };
    project.script({
      one: [
        [print, ...WORKS],
        [print, { blocked: `cannot log in with ${secret} or ${configured}` }],
      ],
    });
    project.commit();
    const run = await project.ralph("run", `use ${secret}`, "--check", `echo ${secret} $MY_API_KEY; false`);
    expect(run.code).toBe(2);
    const seen = [
      run.stdout,
      run.stderr,
      (await project.ralph("history", "--jsonl")).stdout,
      (await project.ralph("status", "--json")).stdout,
      (await project.ralph("logs")).stdout,
    ];
    for (const text of seen) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(configured);
    }
    const views = [".ralph/logs", ".ralph/status.json", ".ralph/blocked.txt", ".git/ralph"];
    const found = spawnSync("grep", ["-rlE", `${secret}|${configured}`, ...views], { cwd: project.root });
    expect(found.stdout.toString()).toBe("");
  });
});

describe("ralph reset", () => {
  test("--task lets a task start from the beginning", async () => {
    project = createProject();
    project.script({ one: [[{ blocked: "no" }]] });
    project.commit();
    await project.ralph("run");
    expect(await project.ralph("reset", "--task", "one")).toMatchObject({ code: 0 });
    expect(JSON.parse((await project.ralph("status", "--json")).stdout)).toMatchObject({
      tasks: [{ status: "todo", iteration: 0 }],
      inbox: [],
    });
  });

  test("--all forgets everything, but only when told to", async () => {
    project = createProject();
    await project.ralph("run");
    expect(await project.ralph("reset", "--all")).toMatchObject({ code: 64 });
    expect(await project.history()).toHaveLength(1);
    expect(await project.ralph("reset", "--all", "--yes")).toMatchObject({ code: 0 });
    expect(await project.history()).toEqual([]);
    expect(exists(project, ".ralph/logs/iteration-001.log")).toBe(false);
    expect(project.read("TODO.md")).toContain("[x]");
  });
});

describe("ralph doctor", () => {
  test("finds nothing wrong in a good project", async () => {
    project = createProject();
    const { code, stdout } = await project.ralph("doctor");
    expect(stdout).toContain("✔ agent demo");
    expect(code).toBe(0);
  });

  test("says what to do about a missing agent and a missing gate", async () => {
    project = createProject({
      config:
        'agent = "mine"\n[agents.mine]\ncommand = ["no-such-agent"]\n[[gates]]\nname = "lint"\ncommand = "no-such-linter ."\n[[gates]]\nname = "tests"\ncommand = "CI=1 no-such-runner"\n',
    });
    const { code, stdout } = await project.ralph("doctor");
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ gate tests: no-such-runner is not installed\n {4}→ Install it, or change /);
    expect(stdout).toMatch(/✗ agent mine: no-such-agent is not installed\n {4}→ /);
    expect(stdout).toMatch(/✗ gate lint: no-such-linter is not installed\n {4}→ /);
  });

  test("mends what a dead git left, when asked to", async () => {
    project = createProject();
    project.write(".git/index.lock", "");
    const ill = await project.ralph("doctor");
    expect(ill.code).toBe(1);
    expect(ill.stdout).toContain("✗ locks: a git that died has left .git/index.lock");
    const mended = await project.ralph("doctor", "--fix");
    expect(mended).toMatchObject({ code: 0, stderr: "mended: locks: removed .git/index.lock\n" });
    expect(mended.stdout).toContain("✔ locks");
    project.git("commit", "--allow-empty", "-qm", "git works again");
  });

  test("makes the repository that is missing, when asked to", async () => {
    project = createProject();
    project.remove(".git");
    expect((await project.ralph("doctor")).stdout).toMatch(/✗ repository: .*\n {4}→ git init/);
    const { code, stderr } = await project.ralph("doctor", "--fix");
    expect(stderr).toMatch(/^mended: repository: Initialized empty Git repository in /);
    expect(code).toBe(0);
    expect((await project.ralph("doctor", "--fix")).stderr).toBe("");
  });
});

describe("the common options", () => {
  test.each([[["--dir", "work", "run"]], [["run", "--dir", "work"]]])(
    "%j uses the other folder",
    async (args) => {
      project = createProject();
      project.git("mv", ".ralph", "work");
      project.write("work/ralph.toml", project.read("work/ralph.toml").replace(".ralph/", "work/"));
      project.commit();
      expect(await project.ralph(...args)).toMatchObject({ code: 0, stderr: "" });
      expect(exists(project, "work/logs/summary.csv")).toBe(true);
      expect(exists(project, ".ralph")).toBe(false);
      expect(project.git("status", "--porcelain")).toBe("");
    },
  );

  test("--verbose shows what the agent prints", async () => {
    project = createProject();
    project.script({ one: [[{ say: "hello from the agent" }, ...WORKS]] });
    project.commit();
    expect((await project.ralph("run", "--verbose")).stdout).toContain("  │ hello from the agent\n");
    expect((await project.ralph("run")).stdout).not.toContain("hello");
  });
});

describe("the program itself", () => {
  test("--version and --help", async () => {
    project = createProject();
    expect((await project.ralph("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await project.ralph("--help");
    expect(help.code).toBe(0);
    for (const command of ["run", "status", "history", "logs", "stop", "reset", "doctor", "demo"]) {
      expect(help.stdout).toMatch(new RegExp(`^  ${command} |\\b${command}\\b`, "m"));
    }
  });

  test("--dry-run shows the plan and the first prompt, and starts nothing", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.write(".ralph/progress.txt", "the API is at /v2\n");
    const { code, stdout } = await project.ralph("run", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "(`.ralph/progress.txt`: add what later ones have to know)\nthe API is at /v2\n",
    );
    expect(stdout).toContain("- **Ralph Iteration**: 1/30");
    expect(await project.history()).toEqual([]);
  });

  test("ralph demo shows a lie caught, a gate repaired and a decision", async () => {
    project = createProject();
    const { code, stdout, stderr } = await project.ralph("demo");
    expect({ code, stderr, stdout }).toEqual({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("Stories:     4/4 complete"),
    });
    expect(stdout).toMatch(/rejected {2}claims done, but no file has changed/);
    expect(stdout).toMatch(/rejected {2}claims done, but gate "tests" failed/);
    expect(stdout).toContain("Print dates the ISO way or the local way?");
  });
});
