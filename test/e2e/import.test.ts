import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** A repository whose only tasks are in this file. */
function projectWith(path: string, text: string): Project {
  const made = createProject();
  made.remove("TODO.md");
  made.write(path, text);
  made.commit("plan");
  return made;
}

describe("ralph import", () => {
  test.each([
    ["plan.md", "- [ ] **a**: x\n  - ralph: true\n  - timeout: 5\n", "a roadmap", ["a"]],
    ["x/prd.json", '{"userStories": [{"id": "s", "title": "S"}]}\n', "a list of stories", ["s"]],
    ["prd.md", "# Shop\n\n- [ ] Cart\n- [x] Payment\n", "a checklist", ["US-001", "US-002"]],
    ["notes.txt", "- [ ] Cart\n", "a checklist", ["US-001"]],
  ])("makes stories of %s, and leaves it as it is", async (path, text, as, ids) => {
    project = projectWith(path, text);
    const dry = await project.ralph("import", path, "--dry-run");
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stderr).toContain(`read as ${as}, into .ralph/tasks.json\n`);
    expect(project.git("status", "--porcelain")).toBe("");
    const done = await project.ralph("import", path);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain(`ralph run --source ${path}\n`);
    expect(project.read(".ralph/tasks.json")).toBe(dry.stdout);
    expect(project.read(path)).toBe(text);
    const { userStories } = JSON.parse(dry.stdout) as { userStories: { id: string }[] };
    expect(userStories.map(({ id }) => id)).toEqual(ids);
    expect(JSON.parse((await project.ralph("tasks", "--json")).stdout)).toHaveLength(ids.length);
  });

  test("what is there is not overwritten", async () => {
    project = projectWith("prd.md", "- [ ] Cart\n");
    expect((await project.ralph("import", "prd.md")).stdout).toContain("1 task from prd.md\n");
    const again = await project.ralph("import", "prd.md");
    expect(again).toMatchObject({ code: 64 });
    expect(again.stderr).toContain("--force");
    expect((await project.ralph("import", "prd.md", "--dry-run")).stderr).toContain("it is there already");
    expect(await project.ralph("import", "prd.md", "--force")).toMatchObject({ code: 0 });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read("prd.md")).toBe("- [ ] Cart\n");
  });

  test("does not wait for a pipe", async () => {
    project = projectWith("x/keep", "");
    execFileSync("mkfifo", [join(project.root, "x/prd.json")]);
    const { code, stderr } = await project.ralph("import", "x/prd.json");
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: "ralph: x/prd.json is not a file\n  → name the file that has the tasks\n",
    });
  });

  test("says what a tasks.json cannot say", async () => {
    project = projectWith("plan.md", "- [ ] **a**: x\n  - timeout: 5\n  - cli: codex\n");
    const { stdout } = await project.ralph("import", "plan.md", "--json");
    expect(JSON.parse(stdout)).toEqual({
      path: ".ralph/tasks.json",
      tasks: 1,
      read_as: "a roadmap",
      left_out: ["the agent of a", "the timeout of a", "the single attempt of a"],
    });
  });

  test.each([
    ["a.md", "Prose.\n", /a\.md has no checklist[^]*ralph plan/],
    ["a.json", '{"userStories": [', /a\.json:1:18: this is not JSON; expected a value/],
    ["a.json", '{"userStories": [{"id": "a"}]}', /story "a": "title" is missing/],
    ["a.md", "- [ ] **a**: x\n  - timeout: soon\n", /a\.md: line 2: timeout is "soon"/],
  ] as const)("of %s with a mistake (%j) says where it is", async (path, text, message) => {
    project = projectWith(path, text);
    const { code, stderr } = await project.ralph("import", path);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});
