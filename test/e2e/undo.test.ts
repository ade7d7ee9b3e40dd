import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const has = (file: string): boolean => existsSync(join(project.root, file));

test("a task accepted in place is taken back by a commit on top, with its mark, and is to do again", async () => {
  project = createProject({ tasks: ["one", "two"] });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  const head = project.git("rev-parse", "HEAD");
  const undone = await project.ralph("undo");
  expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining("Undid two on main") as string });
  expect(has("two.txt")).toBe(false);
  expect(project.read("TODO.md")).toMatch(/\[x\] \*\*one\*\*[^]*\[ \] \*\*two\*\*/);
  expect(project.git("rev-parse", "HEAD~1")).toBe(head);
  expect(project.git("status", "--porcelain")).toBe("");
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(project.read("TODO.md")).not.toContain("[ ]");
  expect(has("two.txt")).toBe(true);
});

test("work of several iterations goes back whole; what others did between and after it stays", async () => {
  project = createProject({
    tasks: ["one", "two"],
    config: 'agent = "stub"\n[agents.stub]\ncommand = ["sh", ".ralph/agent.sh"]\n',
  });
  project.write(
    ".ralph/agent.sh",
    `case $RALPH_TASK_ID in one) if [ ! -e half.txt ]; then echo half > half.txt; echo '<promise>BLOCKED:help</promise>'; exit; fi ;; esac
echo done > "$RALPH_TASK_ID.txt"; echo '<promise>COMPLETE</promise>'`,
  );
  project.commit("agent");
  expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 2 });
  expect(await project.ralph("unblock", "one")).toMatchObject({ code: 0 });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  project.write("mine.txt", "mine\n");
  project.commit("mine");
  expect(await project.ralph("undo")).toMatchObject({ code: 0 });
  expect([has("half.txt"), has("one.txt")]).toEqual([false, false]);
  expect([has("two.txt"), has("mine.txt")]).toEqual([true, true]);
});

test("a list that git ignores is unmarked where it lies", async () => {
  project = createProject({ tasks: ["one", "two"] });
  project.git("rm", "-q", "--cached", "TODO.md");
  project.write(".gitignore", "TODO.md\n");
  project.commit("ignored");
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await project.ralph("undo", "one")).toMatchObject({ code: 0 });
  expect([has("one.txt"), has("two.txt")]).toEqual([false, true]);
  expect(project.read("TODO.md")).toMatch(/\[ \] \*\*one\*\*[^]*\[x\] \*\*two\*\*/);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(has("one.txt")).toBe(true);
});

test("changes of the user's that are not committed are not touched: it refuses, and says why", async () => {
  project = createProject();
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  const head = project.git("rev-parse", "HEAD");
  project.write("one.txt", "mine now\n");
  const refused = await project.ralph("undo");
  expect(refused).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /main was not moved: it has uncommitted changes \(one.txt\)[^]*ralph undo one/,
    ) as string,
  });
  expect(project.read("one.txt")).toBe("mine now\n");
  expect(project.git("rev-parse", "HEAD")).toBe(head);
});

test("later work in the same lines is not overwritten", async () => {
  project = createProject();
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  project.write("one.txt", "changed later\n");
  project.commit("later");
  const refused = await project.ralph("undo");
  expect(refused.stderr).toContain("later work changed one.txt");
  expect(project.read("one.txt")).toBe("changed later\n");
});
