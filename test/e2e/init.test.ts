import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { findProgram } from "../../src/adapters/process/process-table.ts";
import { createBareProject, createProject, exists, until, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("ralph init", () => {
  test.each([
    ["Node", { "package.json": '{"scripts": {"test": "true"}}' }, "npm test", "package.json"],
    ["Make", { Makefile: "test:\n\ttrue\n" }, "make test", "Makefile"],
  ] as const)("in a %s repository runs the tests and writes down what they said", async (...row) => {
    const [, files, command, because] = row;
    project = createBareProject(files);
    const { code, stdout } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^tried  ${command} +passed in [\\d.]+s$`, "m"));
    expect(stdout).toContain(`agent: demo, as none was found; tests: ${command}\n`);
    expect(project.read(".ralph/ralph.toml")).toMatch(
      new RegExp(`^command = "${command}" +# found in ${because}, passed in [\\d.]+s$`, "m"),
    );
    expect(stdout).toContain("Next:");
    expect(stdout).toMatch(/Or one goal without a list: ralph run "what you want"\n$/);
    expect(await project.ralph("run", "a goal", "--agent", "demo")).toMatchObject({ code: 0, stderr: "" });
  });

  test("writes a check down that is red today, with what fails", async () => {
    project = createBareProject({ Makefile: 'test:\n\t@echo "not ok 3 - adds"; exit 1\nlint:\n\t@exit 1\n' });
    const { code, stdout } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stdout).toContain("tried  make test                failing today: adds\n");
    expect(stdout).toContain("tried  make lint                failing today: exit 2\n");
    expect(project.read(".ralph/ralph.toml")).toMatch(
      /^command = "make test" +# found in Makefile, failing today: adds$/m,
    );
  });

  test("leaves out a check that cannot run, and says why", async () => {
    project = createBareProject({
      "package.json": '{"scripts": {"test": "no-such-runner", "lint": "true"}}',
      "go.mod": "module x\n",
    });
    const programs = join(project.root, "..", "only-these");
    mkdirSync(programs);
    for (const name of ["git", "sh", "npm", "node"]) {
      const found = findProgram(name, "/", process.env) ?? "";
      symlinkSync(name === "npm" ? realpathSync(found) : found, join(programs, name));
    }
    Object.assign(project.env, { PATH: programs });
    const { code, stdout } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "tried  npm test                 left out: it exited with 127: a program that it calls is not installed\n",
    );
    expect(stdout).toContain("tried  go vet ./...             left out: go is not installed\n");
    expect(stdout).toContain("agent: demo, as none was found; lint: npm run lint\n");
    const config = project.read(".ralph/ralph.toml");
    expect(config).not.toMatch(/npm test|go (?:vet|test)/);
    expect(config.match(/^command = .*$/gm)).toEqual([
      expect.stringMatching(/^command = "npm run lint" +# found in package\.json, passed in /),
    ]);
    expect(stdout).toMatch(/^ +\d\. install what was left out, then: ralph init --force$/m);
  });

  test("takes the second check of a name where the first cannot run", async () => {
    project = createBareProject({
      "package.json": '{"scripts": {"test": "no-such-runner"}}',
      Makefile: "test:\n\ttrue\n",
    });
    await project.ralph("init");
    const config = project.read(".ralph/ralph.toml");
    expect(config).toMatch(/^name = "tests"\ncommand = "make test"/m);
    expect(config).not.toContain("npm test");
  });

  test("runs no check where a configuration is there", async () => {
    project = createBareProject({ Makefile: "test:\n\ttouch ran.txt\n", ".ralph/ralph.toml": "" });
    expect((await project.ralph("init")).stdout).not.toContain("tried");
    expect(exists(project, "ran.txt")).toBe(false);
  });

  test("names files that the checks leave behind", async () => {
    project = createBareProject({ Makefile: "test:\n\ttouch ran.txt\n" });
    const { stderr } = await project.ralph("init");
    expect(stderr).toBe(
      "ralph: the checks wrote files that git does not ignore: ran.txt\n  → commit them, delete them, or add them to .gitignore, before you run ralph\n",
    );
  });

  test("stops at Ctrl-C with the check, and writes nothing", async () => {
    project = createBareProject({
      Makefile: "test:\n\ttouch started; sleep 600\n",
      ".gitignore": "started\n",
    });
    const running = project.start("init");
    await until("the check runs", () => exists(project, "started"));
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130 });
    expect(exists(project, ".ralph/ralph.toml")).toBe(false);
    expect(project.leftovers()).toEqual([]);
  });

  test("without tests says how to name a check", async () => {
    project = createBareProject({ "notes.txt": "\n" });
    const { stdout } = await project.ralph("init");
    expect(stdout).toMatch(/ralph run "what you want" --check "npm test"\n$/);
  });

  test("says where a package.json is broken, and goes on", async () => {
    project = createBareProject({
      "package.json": '{\n  "scripts": {\n    "test": "true",\n  }\n}\n',
      Makefile: "lint:\n\ttrue\n",
    });
    const { code, stdout, stderr } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stderr).toBe(
      "ralph: package.json:4 cannot be read: this is not JSON, expected a key in double quotes; its scripts are not among the gates\n  → repair it, then: ralph init --force\n",
    );
    expect(stdout).toContain("lint: make lint");
    expect(await project.ralph("init")).toMatchObject({ code: 0, stderr: "" });
    project.write("package.json", '{"scripts": {"test": "true"}}');
    const again = await project.ralph("init", "--force");
    expect(again).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("tests: npm test") });
  });

  test("finds all checks of a project, in its own words, and leaves a second set to be chosen", async () => {
    const scripts = { test: "true", lint: "false", typecheck: "true", build: "tsc" };
    project = createBareProject({
      "package.json": JSON.stringify({ scripts }),
      Makefile: "test:\n\ttrue\n",
    });
    const { stdout } = await project.ralph("init");
    expect(stdout).toContain(
      "agent: demo, as none was found; tests: npm test, lint: npm run lint, types: npm run typecheck\n",
    );
    const config = project.read(".ralph/ralph.toml");
    expect(config).toMatch(
      /# name = "tests-2"\n# command = "make test" +# found in Makefile, passed in .*\n/,
    );
    const { stdout: shown } = await project.ralph("config");
    expect(shown).toContain("npm run typecheck");
    expect(await project.ralph("init")).toMatchObject({ code: 0 });
  });

  test("says which lists are there, and how to work on each", async () => {
    project = createBareProject({
      "roadmap.md": "- [ ] **a**: x\n",
      "tasks.json": '{"version": "2.0.0"}',
      "PRD.md": "- [ ] y\n",
    });
    const { code, stdout } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stdout).toContain("found  roadmap.md\n       a roadmap: ralph works on it where it lies");
    expect(stdout).toContain("also   PRD.md, a checklist: ralph run --source PRD.md\n");
    expect(stdout).not.toMatch(/tasks\.json/);
    expect(exists(project, "TODO.md")).toBe(false);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read("roadmap.md")).toContain("[x] **a**");
  });

  test("in an empty repository is enough: run works without further edits", async () => {
    project = createBareProject();
    await project.ralph("init");
    expect(await project.ralph("run", "--agent", "demo")).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("TODO.md")).toContain("- [x] Say hello");
  });

  test("where no agent is installed, each run says that the demo agent only pretends to work", async () => {
    project = createBareProject({ "notes.txt": "\n" });
    await project.ralph("init");
    const said = "ralph: the agent is demo, which only pretends to work\n  → install a coding agent";
    expect((await project.ralph("run", "a goal")).stderr).toContain(said);
    expect((await project.ralph("run", "another", "--agent", "demo")).stderr).not.toContain("pretends");
    expect((await project.ralph("doctor")).stdout).toContain(
      "agent demo: built in; it only pretends to work",
    );
  });

  test("is no reason to refuse a goal, and the example stays as it is", async () => {
    project = createBareProject();
    await project.ralph("init");
    const example = project.read("TODO.md");
    const goal = await project.ralph(
      "run",
      "--agent",
      "demo",
      "write hello.txt",
      "--check",
      "test -f DEMO.md",
    );
    expect(goal).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("TODO.md")).toBe(example);
    expect(project.git("status", "--porcelain", "--", "TODO.md")).toBe("?? TODO.md");
  });

  test("again on top of itself changes nothing", async () => {
    project = createBareProject();
    await project.ralph("init", "--prompts");
    project.write("TODO.md", "- [ ] mine\n");
    const paths = [".ralph/ralph.toml", ".ralph/prompts/build.md", "TODO.md", ".gitignore"];
    const before = paths.map((path) => project.read(path));
    const { code, stdout } = await project.ralph("init", "--prompts");
    expect(code).toBe(0);
    expect(stdout).not.toContain("wrote");
    expect(paths.map((path) => project.read(path))).toEqual(before);
    await project.ralph("init", "--force", "--prompts");
    expect(project.read("TODO.md")).toBe("- [ ] mine\n");
  });

  test("--force keeps what it replaces, and says where", async () => {
    project = createBareProject();
    await project.ralph("init");
    const edited = 'agent = "demo"\n[run]\nmax_stuck = 7\n';
    project.write(".ralph/ralph.toml", edited);
    const { stdout } = await project.ralph("init", "--force");
    const [, old = ""] = /^wrote {2}(\S+) +what ralph\.toml was until now$/m.exec(stdout) ?? [];
    expect(project.read(old)).toBe(edited);
    expect(project.read(".ralph/ralph.toml")).not.toContain("max_stuck");
    expect((await project.ralph("init", "--force")).stdout).not.toContain("until now");
  });

  test("writes agent and gates beside a tree of YAML, which has neither", async () => {
    project = createBareProject({ ".specflow/config.yaml": "ralph:\n  tester: {}\n" });
    const { code, stdout } = await project.ralph("init");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^found {2}\.specflow\/config\.yaml$/m);
    const { stdout: config } = await project.ralph("config");
    expect(config).toMatch(/^stages\.tester\.enabled +true +\.specflow\/config\.yaml:2$/m);
    expect(config).toMatch(/^agent +\S+ +\.ralph\/ralph\.toml:2$/m);
  });

  test("writes no second configuration beside one that has every key", async () => {
    project = createBareProject({ ".ralph/ralph.json": '{"agent": "demo"}' });
    expect((await project.ralph("init")).stdout).toMatch(/^found {2}\.ralph\/ralph\.json$/m);
    expect(exists(project, ".ralph/ralph.toml")).toBe(false);
  });

  test("gives editors a schema that the configuration names", async () => {
    project = createBareProject();
    await project.ralph("init");
    const [, schema = ""] = /^#:schema (\S+)\n/.exec(project.read(".ralph/ralph.toml")) ?? [];
    const { stdout } = await project.ralph("config", "schema");
    expect(JSON.parse(project.read(join(".ralph", schema)))).toEqual(JSON.parse(stdout));
    expect((await project.ralph("init")).stdout).toContain("nothing was changed");
  });

  test("leaves an existing .gitignore as it is and adds its lines below", async () => {
    project = createBareProject({ ".gitignore": "node_modules/" });
    await project.ralph("init");
    expect(project.read(".gitignore")).toMatch(/^node_modules\/\n\n# ralph: .*\n\.ralph\/active\.json\n/);
  });

  test.each(["checklist", "roadmap", "tasks", "prompt"])(
    "--source %s writes an example that can be run",
    async (kind) => {
      project = createBareProject();
      expect(await project.ralph("init", "--source", kind)).toMatchObject({ code: 0 });
      expect(await project.ralph("run", "--agent", "demo")).toMatchObject({ code: 0, stderr: "" });
    },
  );
});

describe("ralph prompt", () => {
  test("prints exactly what is sent", async () => {
    project = createProject();
    const { stdout } = await project.ralph("prompt");
    await project.ralph("run");
    expect(project.read(".ralph/logs/iteration-001.prompt.md")).toBe(stdout);
  });

  test("has the feedback that the next iteration will get", async () => {
    project = createProject();
    project.script({ one: [[{ promise: "COMPLETE" }]] });
    project.commit();
    await project.ralph("run", "-n", "1");
    expect((await project.ralph("prompt", "one")).stdout).toContain("DO NOT IGNORE");
    expect((await project.ralph("prompt", "one")).stdout).toContain("- **Ralph Iteration**: 2/30");
  });

  test("says why there is none", async () => {
    project = createProject();
    const { code, stderr } = await project.ralph("prompt", "two");
    expect(code).toBe(64);
    expect(stderr).toContain('there is no task "two"');
  });

  test("an own template is used, and an unknown variable in it is refused before the run", async () => {
    project = createProject();
    project.write(".ralph/prompts/build.md", "Please: {{title}}. Then <promise>{{promise}}</promise>\n");
    expect((await project.ralph("prompt")).stdout).toBe(
      "Please: make one. Then <promise>COMPLETE</promise>\n",
    );
    project.write(".ralph/prompts/build.md", "Please:\n{{titel}}\n");
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain(
      ".ralph/prompts/build.md:2: unknown variable {{titel}}; did you mean {{title}}?",
    );
    expect(exists(project, ".ralph/logs/iteration-001.log")).toBe(false);
  });
});
