import { execFileSync, spawnSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("ralph config", () => {
  test("shows every value with its origin, and no secret", async () => {
    project = createProject({
      config: [
        'agent = "demo"',
        "[agents.demo]",
        'script = ".ralph/script.json"',
        'env = { API_TOKEN = "abc", COLOUR = "red" }',
        "[[gates]]",
        'name = "tests"',
        'command = "curl -H abcdefgh-12345678"',
        'timeout = "1h30m"',
        'env = { DB_PASSWORD = "abcdefgh-12345678" }',
        "",
      ].join("\n"),
      env: { RALPH_RUN_MAX_STUCK: "9", RALPH_WIGGUM: "1", RALPH_MAX_ITERATIONS: "3" },
    });
    const text = await project.ralph("config");
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toMatch(/^\.ralph\/ralph\.toml\n/);
    expect(text.stdout).toMatch(/^agent +"demo" +\.ralph\/ralph\.toml:1$/m);
    expect(text.stdout).toMatch(/^mode +"standard" +default$/m);
    expect(text.stdout).toMatch(/^run\.max_iterations +50 +default$/m);
    expect(text.stdout).toMatch(/^run\.max_stuck +9 +env RALPH_RUN_MAX_STUCK$/m);
    expect(text.stdout).toMatch(/^gates\.0\.timeout +"1h30m" +\.ralph\/ralph\.toml:8$/m);
    expect(text.stdout).toMatch(/^agents\.demo\.env\.COLOUR +"red" +\.ralph\/ralph\.toml:4$/m);
    expect(text.stdout).toMatch(/^agents\.demo\.env\.API_TOKEN +"\[redacted\]" /m);
    expect(text.stdout).toContain('"curl -H [redacted]"');
    expect(text.stdout).toMatch(/\nVariables that are no setting of this version:\n {2}RALPH_WIGGUM\n$/);
    const json = await project.ralph("config", "--json");
    expect(`${text.stdout}${json.stdout}`).not.toMatch(/abc/);
    expect(JSON.parse(json.stdout)).toMatchObject({
      file: ".ralph/ralph.toml",
      values: expect.arrayContaining([{ key: "run.max_stuck", value: 9, origin: "env RALPH_RUN_MAX_STUCK" }]),
      not_in_effect: [],
      unknown_variables: ["RALPH_WIGGUM"],
    });
  });

  test("shows stages where they were written", async () => {
    project = createProject();
    project.remove(".ralph/ralph.toml");
    project.write(
      ".specflow/config.yaml",
      "ralph:\n  coder:\n    max_iterations: 4\n  qa:\n    max_iterations: 2\n",
    );
    const { stdout } = await project.ralph("config");
    expect(stdout).toMatch(/^stages\.coder\.max_iterations +4 +\.specflow\/config\.yaml:3$/m);
    expect(stdout).toMatch(/^stages\.qa\.max_iterations +2 +\.specflow\/config\.yaml:5$/m);
  });

  test("schema prints a JSON Schema, anywhere", async () => {
    project = createProject();
    project.remove(".git");
    const { code, stdout } = await project.ralph("config", "schema");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: "Configuration of ralph", type: "object" });
  });

  test("refuses a wrong word, and says what is wrong as JSON where that was asked for", async () => {
    project = createProject({ config: "[notify]\ndesktop = 1\n" });
    expect(await project.ralph("config", "shema")).toMatchObject({ code: 64, stdout: "" });
    const json = await project.ralph("config", "--json");
    expect(json).toMatchObject({ code: 64, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: {
        code: "config",
        message: '.ralph/ralph.toml:2: "notify.desktop": expected true or false, got 1',
      },
    });
  });
});

describe("a run", () => {
  test("takes variables, a flag being stronger", async () => {
    project = createProject({
      config: '[agents.demo]\nscript = ".ralph/script.json"\n',
      env: { RALPH_AGENT: "demo", RALPH_MODE: "fast" },
    });
    const wrong = await project.ralph("run");
    expect(wrong).toMatchObject({ code: 64, stdout: "" });
    expect(wrong.stderr).toMatch(/^ralph: RALPH_MODE is "fast"; expected "speed", "standard" or "thorough"/);
    Object.assign(project.env, { RALPH_MODE: "speed" });
    expect(await project.ralph("run", "--mode", "thorough", "--quiet")).toMatchObject({ code: 0 });
    const started = (await project.events()).find(({ type }) => type === "run.started");
    expect(started).toMatchObject({ settings: { agent: "demo", mode: "thorough" } });
  });

  test("keeps to the coder's limit of config.yaml", async () => {
    project = createProject({ env: { RALPH_AGENT: "demo", RALPH_DEMO_SCRIPT: ".ralph/script.json" } });
    project.remove(".ralph/ralph.toml");
    project.write(
      ".ralph/config.yaml",
      "ralph:\n  coder:\n    max_iterations: 2\n    completion_promise: FERTIG\n",
    );
    project.script({}, [[{ shell: "date +%N >> work.txt" }, { promise: "COMPLETE" }]]);
    project.commit();
    const run = await project.ralph("run");
    expect(run.code).toBe(1);
    expect(await project.history()).toHaveLength(2);
  });

  test("starts nothing on a mistake in JSON", async () => {
    project = createProject();
    project.remove(".ralph/ralph.toml");
    project.write(".ralph/ralph.json", '{\n  "mode": "sped"\n}\n');
    project.commit();
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain('.ralph/ralph.json:2: "mode": expected "speed", "standard" or "thorough"');
  });
});

describe("words that other loops use", () => {
  test("ralph --status is ralph status", async () => {
    project = createProject();
    expect(await project.ralph("--status")).toEqual(await project.ralph("status"));
  });

  test("ralph --roadmap runs", async () => {
    project = createProject();
    expect((await project.ralph("--roadmap", "no-such-file.md")).stderr).toContain("no-such-file.md");
    expect(await project.ralph("--roadmap", "x.md")).toEqual(await project.ralph("run", "--roadmap", "x.md"));
  });

  test("ralph --reset forgets everything, when that is confirmed", async () => {
    project = createProject();
    expect((await project.ralph("--reset")).stderr).toContain("ralph reset --all --yes");
  });
});

describe("completion", () => {
  test("bash completes commands, flags, and the values of flags", async () => {
    project = createProject();
    const script = (await project.ralph("completion", "bash")).stdout;
    const complete = (...words: string[]): readonly string[] => inBash(script, ["ralph", ...words]);
    expect(complete("sta")).toEqual(["status"]);
    expect(complete("")).toEqual(expect.arrayContaining(["run", "config", "completion", "--help"]));
    expect(complete("run", "--max")).toEqual(["--max-iterations", "--max-stuck", "--max-duration"]);
    expect(complete("run", "--mode", "s")).toEqual(["speed", "standard"]);
    expect(complete("run", "--check", "s")).toEqual([]);
    expect(complete("run", "--check", "status", "--dry")).toEqual(["--dry-run"]);
    expect(complete("--dir", "run", "sto")).toEqual(["stop"]);
    expect(complete("completion", "f")).toEqual(["fish"]);
    const names = `ralph() { test "$2" = tasks && echo auth-1 auth-2 || echo claude; }\n${script}`;
    expect(inBash(names, ["ralph", "why", "au"])).toEqual(["auth-1", "auth-2"]);
    expect(inBash(names, ["ralph", "run", "--task", "auth-2"])).toEqual(["auth-2"]);
    expect(inBash(names, ["ralph", "run", "--agent", "c"])).toEqual(["claude"]);
    expect((await project.ralph("completion", "tasks")).stdout).toBe("one\n");
    expect((await project.ralph("completion", "agents")).stdout).toMatch(/^claude$/m);
  });

  test.each(["bash", "zsh", "fish"])("%s can read its script", async (shell) => {
    project = createProject();
    const { code, stdout } = await project.ralph("completion", shell);
    expect(code).toBe(0);
    expect(stdout).toContain("max-iterations");
    project.write("script", stdout);
    const checked = spawnSync(shell, ["-n", "script"], { cwd: project.root, encoding: "utf8" });
    // A shell that is not installed cannot complain.
    if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: "" });
  });

  test("another shell is refused with those that are known", async () => {
    project = createProject();
    const run = await project.ralph("completion", "tcsh");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain("Allowed choices are bash, zsh, fish");
  });
});

/** What bash would offer for the last of these words. */
function inBash(script: string, words: readonly string[]): readonly string[] {
  const asked = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ralph; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const answer = execFileSync("bash", ["-c", asked, "bash", ...words], { encoding: "utf8" });
  return answer.split("\n").filter((word) => word !== "");
}
