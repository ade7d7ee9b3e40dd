import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, tellToGo, TOLD_TO_GO, until, WORKS, type Project } from "./project.ts";

/** Full and read-only disks are real ones, which takes the right to mount. */
const canMount = spawnSync("mount", ["-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
if (canMount) execFileSync("umount", ["/mnt"]);
else
  console.warn("SKIPPED: tests with full and read-only disks, which need the right to mount (run as root)");

let project: Project;
const mounts: string[] = [];
afterEach(() => {
  for (const mount of mounts.splice(0)) execFileSync("umount", [mount]);
  project.dispose();
});

describe("bad surroundings get one clear sentence", () => {
  test.each(["ralph", "start.cjs"])("Windows, where %s is started", (name) => {
    project = createProject();
    const windows = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})';
    const args = ["--import", windows, join(import.meta.dirname, "../../bin", name), "status"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toMatch(/^ralph: .* Windows .* WSL .*\n$/);
  });

  test("no git repository", async () => {
    project = createProject();
    rmSync(join(project.root, ".git"), { recursive: true });
    const run = await project.ralph("run", "something");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toMatch(/^ralph: .* is not inside a git repository\n {2}→ git init\n$/);
  });

  test("an agent that nobody knows, with the nearest name", async () => {
    project = createProject();
    const run = await project.ralph("run", "--agent", "demoo");
    expect(run.code).toBe(64);
    expect(run.stderr).toContain('there is no agent called "demoo". Did you mean "demo"?');
  });

  test("an agent whose program is not installed", async () => {
    project = createProject({ config: 'agent = "mine"\n[agents.mine]\ncommand = ["no-such-program"]\n' });
    const run = await project.ralph("run");
    expect(run.code).toBe(64);
    expect(run.stderr).toMatch(/the agent "mine" needs the program no-such-program, which is not installed/);
  });

  test.each([
    [["run", ""], "the goal is empty"],
    [["run", "  "], "the goal is empty"],
    [["run", "--no-changes-needed"], "--no-changes-needed is about a goal"],
    [["run", "do it", "--check", " "], "--check is empty"],
    [["gates", "--check", ""], "--check is empty"],
    [["run", "--source", ""], "--source is empty\n  → name the file that has the tasks"],
    [["run", "--prompt", " "], "--prompt is empty\n  → name the file that has the tasks"],
    [["import", ""], "the file to import has no name\n  → name a file with tasks"],
  ])("%j, as a script writes it whose variable is not set", async (args, sentence) => {
    project = createProject();
    const head = project.git("rev-parse", "HEAD");
    const { code, stderr } = await project.ralph(...args);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(sentence) });
    expect(project.git("rev-parse", "HEAD")).toBe(head);
  });

  test("a dirty tree, which is left as it is", async () => {
    project = createProject();
    project.write("mine.txt", "my own work");
    const run = await project.ralph("run");
    expect(run.code).toBe(64);
    expect(run.stderr).toContain("the work tree has uncommitted changes (1 file: mine.txt)");
    expect(project.read("mine.txt")).toBe("my own work");
    expect(project.git("status", "--porcelain")).toBe("?? mine.txt");
  });

  test("a list that is not committed is no reason to refuse a goal, and is left alone", async () => {
    project = createProject();
    project.write("TODO.md", "- [ ] something else\n");
    expect(await project.ralph("run", "make it so", "--check", "true")).toMatchObject({ code: 0 });
    expect(project.git("status", "--porcelain")).toBe(" M TODO.md");
    project.write("other.txt", "mine\n");
    expect((await project.ralph("run", "make it so again", "--check", "true")).stderr).toContain(
      "(1 file: other.txt)",
    );
  });

  test("a dirty tree with --allow-dirty: exactly those files are left alone", async () => {
    project = createProject();
    project.write("mine.txt", "my own work");
    expect(await project.ralph("run", "--allow-dirty")).toMatchObject({ code: 0 });
    expect(project.git("status", "--porcelain")).toBe("?? mine.txt");
    expect(project.git("ls-files")).toContain("one.txt");
  });

  test("nothing to do", async () => {
    project = createProject();
    project.remove("TODO.md");
    project.commit();
    const run = await project.ralph("run");
    expect(run.code).toBe(64);
    expect(run.stderr).toContain("no goal was given and no checklist was found");
  });

  test("a second run beside the first, with the pid of the first", async () => {
    project = createProject();
    project.script({ one: [[TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const first = project.start("run");
    await until("the first works", () => first.stdout().includes("iteration 1"));
    const second = await project.ralph("run");
    expect(second).toMatchObject({ code: 64, stdout: "" });
    expect(second.stderr).toContain(`(pid ${first.child.pid})`);
    tellToGo(project);
    expect(await first.finished).toMatchObject({ code: 0 });
  });

  test.skipIf(!canMount)("a read-only .ralph", async () => {
    project = createProject();
    mountTmpfs(join(project.root, ".ralph"), "ro");
    const run = await project.ralph("run", "--agent", "demo");
    expect(run.code).toBe(64);
    expect(run.stderr).toMatch(/^ralph: .*\.ralph.* cannot be written/);
  });

  test.skipIf(!canMount)(
    "a full disk under the transcripts: said so, nothing lost, and it goes on when there is space",
    async () => {
      project = createProject();
      const logs = join(project.root, ".ralph", "logs");
      mkdirSync(logs, { recursive: true });
      mountTmpfs(logs, "size=2m");
      project.script({ one: [[{ flood: 8_000_000 }, ...WORKS]] });
      project.commit();
      const run = await project.ralph("run");
      expect(run.code).toBe(5);
      expect(run.stderr).toMatch(/^ralph: no space left on the disk while writing .*iteration-001\.log/);
      expect(project.leftovers()).toEqual([]);
      execFileSync("umount", [mounts.pop() ?? ""]);
      project.script({ one: [WORKS] });
      project.git("commit", "-qam", "smaller");
      expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
      expect((await project.history()).map((entry) => entry.verdict)).toEqual(["failed", "accepted"]);
    },
  );

  test.skipIf(!canMount)("a full disk under the state", async () => {
    project = createProject();
    const state = join(project.root, "..", "state");
    mkdirSync(state);
    mountTmpfs(state, "size=256k");
    writeFileSync(join(state, "filler"), Buffer.alloc(150_000));
    const run = await createRunWithState(project, state);
    expect(run.code).toBe(5);
    expect(run.stderr).toMatch(/^ralph: .*(no space|full)/i);
  });
});

describe("a wrong command line", () => {
  test.each([
    [["rum"], 'unknown command "rum". Did you mean "run"?'],
    [["run", "--max-itterations", "3"], "unknown option '--max-itterations'"],
    [["run", "--max-iterations", "many"], '--max-iterations is "many"; expected a whole number'],
    [["run", "--task", "onw"], 'there is no task "onw". Did you mean "one"?\n  → ralph tasks lists them'],
    [["run", "--timeout", "soon"], '--timeout is "soon"; expected a duration'],
    [["logs", "x"], '"x" is not the number of an iteration'],
    [["reset"], "say what to reset"],
    [["run", "make", "it", "work"], "a text of several words needs quotes"],
    [["stop", "everything"], "too many arguments for 'stop'"],
    [["completion"], "missing required argument 'shell'\n  → ralph completion <shell>: bash, zsh, fish"],
    [["import"], "missing required argument 'file'\n  → ralph import <file>: a file with tasks"],
    [["import", "nofile"], "nofile does not exist\n  → name a file with tasks"],
    [["run", "--source", "."], "the task source . is a folder\n  → name the file in it that has the tasks"],
  ])("%j", async (args, sentence) => {
    project = createProject();
    const run = await project.ralph(...args);
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain(sentence);
  });

  test.each([
    [["run", "--json", "--timeout", "soon"], "soon"],
    [["status", "--json", "--what"], "--what"],
  ])("%j is told as JSON when JSON was asked for", async (args, word) => {
    project = createProject();
    const run = await project.ralph(...args);
    expect(run).toMatchObject({ code: 64, stderr: "" });
    expect(JSON.parse(run.stdout)).toMatchObject({
      error: { code: "usage", message: expect.stringContaining(word) },
    });
  });
});

describe("a wrong configuration", () => {
  test.each([
    [
      "[run]\nmax_stucks = 3\n",
      '.ralph/ralph.toml:2: unknown key "max_stucks" in [run]. Did you mean "max_stuck"?',
    ],
    ["agent = 3\n", '.ralph/ralph.toml:1: "agent": '],
    ["agent = \n", ".ralph/ralph.toml:1: "],
    [
      '[[gates]]\nname = "a"\ncommand = "b"\ntimeout = "soon"\n',
      '.ralph/ralph.toml:4: "gates.0.timeout": expected a duration',
    ],
  ])("%j", async (config, sentence) => {
    project = createProject({ config });
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain(sentence);
  });
});

function mountTmpfs(folder: string, options: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  mounts.push(folder);
}

function createRunWithState(of: Project, state: string): ReturnType<Project["ralph"]> {
  Object.assign(of.env, { RALPH_STATE: state });
  return of.ralph("run");
}
