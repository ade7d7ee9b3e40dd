import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createProject, RALPH, WORKS, type Project } from "./project.ts";

const ACTION = join(import.meta.dirname, "..", "..", "scripts", "action.sh");

let project: Project;
afterEach(() => project.dispose());

test("the end of a run appends a summary to the page of the job, unless told otherwise", async () => {
  project = createProject({ tasks: ["one", "two"] });
  const summary = join(project.root, "..", "summary.md");
  project.script({ one: [WORKS], two: [[{ promise: "DECIDE:<b>red</b> or blue?" }]] });
  project.commit();
  writeFileSync(summary, "# What came before\n");
  const run = (file: string, ...args: readonly string[]): { status: number | null; stderr: string } =>
    spawnSync(RALPH, ["run", "--quiet", ...args], {
      cwd: project.root,
      env: { ...project.env, GITHUB_STEP_SUMMARY: file },
      encoding: "utf8",
    });
  expect(run(summary, "--keep-going").status).toBe(3);
  const text = readFileSync(summary, "utf8");
  expect(text).toMatch(
    /^# What came before\n## repository: A decision is needed\n\nIt ended as undecided \(exit code 3\)/,
  );
  expect(text).toContain(String.raw`- **two** asks: \<b\>red\</b\> or blue?`);
  expect(text).toMatch(/\| one \| make one \| done \| 1 \| ✔ accepted \| `[0-9a-f]{8}` \|/);
  expect(text).toContain("| two | make two | undecided | 1 | ? decide |  |");
  expect((await project.ralph("report", "--summary")).stdout).toContain("| one | make one | done |");
  expect(run(summary, "--no-job-summary").status).toBe(3);
  expect(readFileSync(summary, "utf8")).toBe(text);
  const nowhere = run("/nowhere/summary.md");
  expect(nowhere.status).toBe(3);
  expect(nowhere.stderr).toContain("the summary of the job cannot be written to /nowhere/summary.md");
});

/** What the runner of the host gives to a step, with ralph in the place where the action installs it. */
function runner(): Readonly<Record<string, string>> {
  const temp = join(project.root, "..", "runner");
  mkdirSync(join(temp, "ralph", "node_modules", ".bin"), { recursive: true });
  symlinkSync(RALPH, join(temp, "ralph", "node_modules", ".bin", "ralph"));
  return { ...project.env, RUNNER_TEMP: temp, GITHUB_OUTPUT: join(temp, "output") };
}

test("the action: quotes in its arguments are understood and nothing is expanded; chosen codes pass", () => {
  project = createProject();
  const env = runner();
  const step = (more: Readonly<Record<string, string>>): number | null =>
    spawnSync(ACTION, ["run"], { cwd: project.root, env: { ...env, ...more } }).status;
  const args = `--quiet --check "echo 'a  b' >> ../seen" --check 'echo $(touch ../never) >/dev/null; test ! -e no'`;
  const RALPH_ACTION_GOAL = '--version "of $(touch ../evil)';
  expect(step({ RALPH_ACTION_AGENT: "demo", RALPH_ACTION_ARGS: args, RALPH_ACTION_GOAL })).toBe(0);
  expect(readFileSync(join(project.root, "..", "seen"), "utf8")).toMatch(/^a {2}b\n/);
  expect(existsSync(join(project.root, "..", "evil"))).toBe(false);
  expect(project.git("log", "-1", "--format=%s")).toContain('--version "of $(touch ../evil)');
  project.script({}, [[{ promise: "BLOCKED:no key" }]]);
  project.commit();
  expect(step({ RALPH_ACTION_PASS_ON: "2 3" })).toBe(0);
  expect(step({ RALPH_ACTION_PASS_ON: "12" })).toBe(2);
  expect(readFileSync(env["GITHUB_OUTPUT"] ?? "", "utf8")).toBe("exit-code=0\nexit-code=2\nexit-code=2\n");
});

test("the action: a quote that is never closed starts nothing, as limits after it would be lost", () => {
  project = createProject();
  const RALPH_ACTION_ARGS = "--check it's --budget 5";
  const given = { RALPH_ACTION_AGENT: "demo", RALPH_ACTION_ARGS, RALPH_ACTION_GOAL: "a goal" };
  const env: Readonly<Record<string, string>> = { ...runner(), ...given };
  const { status, stderr } = spawnSync(ACTION, ["run"], { cwd: project.root, env, encoding: "utf8" });
  expect(status).toBe(64);
  expect(stderr).toContain('the input "args" has a quote that is not closed');
  expect(readFileSync(env["GITHUB_OUTPUT"] ?? "", "utf8")).toBe("exit-code=64\n");
});

test("the action: with the state kept, a fresh checkout goes on with unfinished work", () => {
  project = createProject();
  project.script({ one: [[{ write: { path: "half.txt", text: "x" } }], WORKS] });
  project.commit();
  const env = { ...runner(), RALPH_ACTION_ARGS: "--worktree --quiet --max-iterations 1" };
  const job = (name: string, kept: string | null): string => {
    const checkout = join(project.root, "..", name);
    execFileSync("git", ["clone", "--quiet", project.root, checkout], { env });
    if (kept !== null)
      cpSync(join(kept, ".git", "ralph"), join(checkout, ".git", "ralph"), { recursive: true });
    const status = spawnSync(ACTION, ["run"], { cwd: checkout, env }).status;
    expect(status).toBe(kept === null ? 1 : 0);
    return checkout;
  };
  const first = job("night-1", null);
  rmSync(join(project.env["HOME"] ?? "", ".local"), { recursive: true });
  const second = job("night-2", first);
  expect(
    execFileSync("git", ["show", "--name-only", "--format=", "HEAD"], { cwd: second, encoding: "utf8" }),
  ).toBe("TODO.md\nhalf.txt\none.txt\n");
});
