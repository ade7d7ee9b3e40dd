import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createBareProject, exists, RALPH, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("ralph init --source", () => {
  test.each([
    ["checklist", "TODO.md", /^# Ice cream: tasks\n/, "write your tasks into TODO.md"],
    ["roadmap", ".ralph/roadmap.md", /^# Ice cream: roadmap\n/, "write your tasks into .ralph/roadmap.md"],
    ["tasks", ".ralph/tasks.json", /"project": "Ice cream"/, "write your tasks into .ralph/tasks.json"],
    ["prompt", ".ralph/PROMPT.md", /^# Ice cream: goal\n/, "write your goal into .ralph/PROMPT.md"],
    ["prd", ".ralph/prd.md", /^# Ice cream: requirements\n/, "ralph plan"],
  ])("%s writes %s with the project's name, and says what comes next", async (kind, path, has, next) => {
    project = createBareProject();
    const { code, stdout } = await project.ralph("init", "--source", kind, "--name", " Ice cream ");
    expect(code).toBe(0);
    expect(project.read(path)).toMatch(has);
    expect(stdout).toContain(next);
    const again = await project.ralph("init", "--source", kind, "--name", "Other", "--force");
    expect(again.stdout).toContain(`kept   ${path}`);
    expect(project.read(path)).toMatch(has);
  });

  test.each(["prd", "tasks"])("%s comes with notes, which are never overwritten", async (kind) => {
    project = createBareProject();
    await project.ralph("init", "--source", kind);
    expect(project.read(".ralph/progress.txt")).toMatch(/^# Notes\n/);
    project.write(".ralph/progress.txt", "mine\n");
    await project.ralph("init", "--source", kind, "--force");
    expect(project.read(".ralph/progress.txt")).toBe("mine\n");
  });

  test("with another folder writes nothing into .ralph", async () => {
    project = createBareProject();
    await project.ralph("init", "--source", "tasks", "--dir", "loops");
    expect(exists(project, "loops/tasks.json")).toBe(true);
    expect(exists(project, ".ralph")).toBe(false);
  });

  test("requirements that are there already lead to a plan", async () => {
    project = createBareProject({ "prd.md": "# What I want\n\nA parser.\n" });
    const { stdout } = await project.ralph("init");
    expect(stdout).toContain("found  prd.md");
    expect(stdout).toContain("ralph plan");
    expect(exists(project, "TODO.md")).toBe(false);
  });

  test("a second time says that nothing was changed", async () => {
    project = createBareProject();
    expect((await project.ralph("init")).stdout).not.toContain("nothing was changed");
    expect((await project.ralph("init")).stdout).toContain("nothing was changed");
  });

  test("a name that is none is refused", async () => {
    project = createBareProject();
    expect(await project.ralph("init", "--name", " ")).toMatchObject({ code: 64 });
    expect(exists(project, ".ralph/ralph.toml")).toBe(false);
  });
});

describe("ralph init --hooks", () => {
  test("puts both hooks into the settings of Claude Code, once", async () => {
    project = createBareProject({
      ".claude/settings.json": '{\n    "model": "opus",\n    "env": { "A": "1" }\n}\n',
    });
    const { code, stdout } = await project.ralph("init", "--hooks");
    expect(code).toBe(0);
    const text = project.read(".claude/settings.json");
    expect(text).toMatch(/^\{\n {4}"model": "opus",\n {4}"env": \{ "A": "1" \},\n {4}"hooks": \{\n/);
    const { hooks } = JSON.parse(text) as { hooks: Record<string, unknown> };
    expect(hooks).toEqual({
      Stop: [{ hooks: [{ type: "command", command: `${RALPH} hook stop` }] }],
      PostToolUse: [{ matcher: "*", hooks: [{ type: "command", command: `${RALPH} hook post-tool-use` }] }],
    });
    expect(stdout).toContain("git add .claude/settings.json");
    const again = await project.ralph("init", "--hooks");
    expect(again.stdout).toContain("kept   .claude/settings.json");
    expect(again.stdout).toContain("nothing was changed");
    expect(project.read(".claude/settings.json")).toBe(text);
  });

  test("leaves damaged settings, and everything else, as it was", async () => {
    project = createBareProject({ ".claude/settings.json": '{ "model": }\n' });
    const { code, stderr } = await project.ralph("init", "--hooks");
    expect(code).toBe(64);
    expect(stderr).toContain(".claude/settings.json:1: this is not JSON");
    expect(project.git("status", "--porcelain", "--ignored")).toBe("");
  });

  test("does not follow a link out of the repository", async () => {
    project = createBareProject();
    mkdirSync(join(project.root, "..", "home", ".claude"));
    symlinkSync("../home/.claude", join(project.root, ".claude"));
    expect(await project.ralph("init", "--hooks")).toMatchObject({ code: 64 });
    expect(exists(project, "../home/.claude/settings.json")).toBe(false);
  });
});
