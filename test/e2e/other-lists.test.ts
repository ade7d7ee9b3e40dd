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

async function accepted(): Promise<string[]> {
  const history = await project.history();
  return history.map(({ task, verdict }) => `${task} ${verdict}`);
}

const YAML = `# What is to be done\r
tasks:\r
  - title: Lay the ground   # first of all\r
    completed: false\r
    parallel_group: 1\r
    description: |\r
      Deep enough.\r
  - {title: "Raise the «walls»", completed: false, parallel_group: 2, depends_on: [lay-the-ground]}\r
  - title: Paint it\r
    status: 'cancelled'\r
  -   title: Tidy up\r
      priority: low\r
\r
owner:   me  # no newline at the end`;

const TASKMASTER = `{
\t"master": {
\t\t"tasks": [
\t\t\t{ "id": 1, "title": "Parser", "status": "pending", "priority": "high", "dependencies": [], "subtasks": [{"id": 1, "title": "Lexer", "status": "pending"}] },
\t\t\t{ "id": 2, "title": "Printer \\u00e9", "status" : "in-progress", "dependencies": [1] },
\t\t\t{ "id": 3, "title": "Later", "status": "deferred" }
\t\t],
\t\t"metadata": {"created": "2026-01-01"}
\t}
}
`;

const BEADS = [
  '{"id":"bd-a1","title":"Epic","issue_type":"epic","status":"open","priority":1}',
  '{"id":"bd-a2","title":"Second","status":"open","priority":2,"dependencies":[{"issue_id":"bd-a2","depends_on_id":"bd-a3","type":"blocks"},{"issue_id":"bd-a2","depends_on_id":"bd-a1","type":"parent-child"}]}',
  '{"id":"bd-a3","title":"First","status":"in_progress","priority":3,"updated_at":"2026-01-01T00:00:00Z","labels":["x"]}',
  '{"id":"bd-a4","title":"Old","status":"closed","closed_at":"2025-01-01T00:00:00Z"}',
  "",
].join("\n");

const PLAN = `# Idle timeout

## Validation Commands

- \`test -d .git\`

### Task 1: The timer

**Files:**
- Modify: \`a.go\`

- [x] a field
- [ ] it fires

\`\`\`
### Task 9: an example
- [ ] not a box
\`\`\`

### Task 2: [Final] Documentation

- [ ] say so in the README

## Later

- [ ] not a task
`;

describe("a list of another program is worked on and marked where it lies:", () => {
  test("YAML", async () => {
    project = projectWith("tasks.yaml", YAML);
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await accepted()).toEqual([
      "lay-the-ground accepted",
      expect.stringMatching(/^raise-the-walls-\w{6} accepted$/),
      "tidy-up accepted",
    ]);
    expect(project.read("tasks.yaml")).toBe(
      YAML.replaceAll("completed: false", "completed: true").replace(
        "-   title: Tidy",
        "-   completed: true\r\n      title: Tidy",
      ),
    );
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("Taskmaster", async () => {
    project = projectWith(".taskmaster/tasks/tasks.json", TASKMASTER);
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await accepted()).toEqual(["1 accepted", "2 accepted"]);
    expect(project.read(".taskmaster/tasks/tasks.json")).toBe(
      TASKMASTER.replace('"status": "pending", "priority"', '"status": "done", "priority"').replace(
        "in-progress",
        "done",
      ),
    );
  });

  test("Beads", async () => {
    project = projectWith(".beads/issues.jsonl", BEADS);
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await accepted()).toEqual(["bd-a3 accepted", "bd-a2 accepted"]);
    const marked = project.read(".beads/issues.jsonl");
    const date = /"closed_at":"(2[^"]+Z)"\}\n/.exec(marked)?.[1] ?? "";
    expect(marked.replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<date>"')).toBe(
      BEADS.replace('"status":"open","priority":2', '"status":"closed","priority":2')
        .replace('"parent-child"}]}', '"parent-child"}],"closed_at":"<date>"}')
        .replace("in_progress", "closed")
        .replace('"labels":["x"]}', '"labels":["x"],"closed_at":"<date>"}')
        .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<date>"'),
    );
    expect(Date.parse(date)).not.toBeNaN();
  });

  test("a plan of ralphex, whose commands are gates", async () => {
    project = projectWith("docs/plans/20260324-idle.md", PLAN);
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toContain("test -d .git");
    expect(await accepted()).toEqual(["task-1 accepted", "task-2 accepted"]);
    expect(project.read("docs/plans/20260324-idle.md")).toBe(
      PLAN.replace("[ ] it fires", "[x] it fires").replace("[ ] say so", "[x] say so"),
    );
  });

  test("in lanes, with the merge", async () => {
    project = projectWith("tasks.yaml", YAML);
    expect(await project.ralph("run", "--parallel", "2")).toMatchObject({ code: 0 });
    expect(project.git("show", "HEAD:tasks.yaml")).toContain("-   completed: true\r\n      title: Tidy up");
  });

  test("and a mark that the agent makes is taken back", async () => {
    project = projectWith(
      "tasks.yaml",
      "tasks:\n  - title: one\n    status: todo\n  - title: two\n    status: todo\n",
    );
    const lie = { shell: "sed -i s/todo/done/ tasks.yaml" };
    project.script({ one: [[lie, { promise: "COMPLETE" }]] });
    project.commit();
    await project.ralph("run", "-n", "1");
    expect((await project.history())[0]).toMatchObject({ task: "one", verdict: "rejected" });
    expect(project.read("tasks.yaml")).toContain(
      "title: one\n    status: todo\n  - title: two\n    status: todo\n",
    );
  });
});

describe("ralph import", () => {
  test.each([
    ["tasks.yaml", YAML, "a list of tasks", ["lay-the-ground", expect.any(String), "tidy-up"]],
    [".taskmaster/tasks/tasks.json", TASKMASTER, "a list of tasks", ["1", "2"]],
    [".beads/issues.jsonl", BEADS, "the issues of Beads", ["bd-a2", "bd-a3", "bd-a4"]],
    ["docs/plans/a.md", PLAN, "a plan of ralphex", ["task-1", "task-2"]],
    ["plan.md", "- [ ] **a**: x\n  - ralph: true\n  - timeout: 5\n", "a roadmap", ["a"]],
    ["x/prd.json", '{"userStories": [{"id": "s", "title": "S"}]}\n', "a list of stories", ["s"]],
    [
      "tasks.txt",
      '{"id":"bd-1","title":"A"}\n{"id":"bd-2","title":"B"}\n',
      "the issues of Beads",
      ["bd-1", "bd-2"],
    ],
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

  test("of a folder takes the file in it; what is there is not overwritten", async () => {
    project = projectWith(".beads/issues.jsonl", BEADS);
    expect((await project.ralph("import", ".beads")).stdout).toContain("3 tasks from .beads/issues.jsonl\n");
    const again = await project.ralph("import", ".beads");
    expect(again).toMatchObject({ code: 64 });
    expect(again.stderr).toContain("--force");
    expect((await project.ralph("import", ".beads", "--dry-run")).stderr).toContain("it is there already");
    expect(await project.ralph("import", ".beads", "--force")).toMatchObject({ code: 0 });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read(".beads/issues.jsonl")).toBe(BEADS);
  });

  test("does not wait for a pipe, named or in a folder", async () => {
    project = projectWith("x/keep", "");
    execFileSync("mkfifo", [join(project.root, "x/prd.json")]);
    for (const name of ["x/prd.json", "x"]) {
      const { code, stderr } = await project.ralph("import", name);
      expect({ code, stderr }).toEqual({
        code: 64,
        stderr:
          "ralph: x/prd.json is not a file\n  → write what comes out of it into a file, and name that\n",
      });
    }
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
    ["tasks.yaml", "tasks:\n  - title: [\n", [], /tasks\.yaml:3:1: this is not YAML; /],
    ["tasks.yaml", "tasks:\n  - id: a\n", [], /tasks\.yaml:2:5: the task "a" has no "title"/],
    [
      "tasks.yaml",
      "tasks:\n  - title: a\n    priority: soon\n",
      [],
      /tasks\.yaml:3:15: "priority" must be a number, or one of/,
    ],
    ["tasks.yaml", "a: 1\n", [], /tasks\.yaml:1:1: expected a list of tasks below "tasks"/],
    [
      "a.jsonl",
      '{"id":"b","title":"x"}\n<<<<<<< HEAD\n',
      [],
      /a\.jsonl:2:1: this is not JSON; expected a value/,
    ],
    ["a.jsonl", '{"id":"b"}\n', [], /a\.jsonl:1: issue "b": "title" is missing/],
    [
      "a.jsonl",
      '{"id":"b","title":"x"}\n{"id":"b","title":"y"}\n',
      [],
      /the id "b" is used twice, in lines 1 and 2/,
    ],
    ["a.md", "Prose.\n", [], /a\.md has no checklist[^]*ralph plan/],
    ["a.md", "- [ ] x\n", ["--from", "ralphex"], /a\.md has no tasks/],
    ["a.md", "- [ ] x\n", ["--from", "jira"], /--from|Allowed choices/],
  ] as const)("of %s with a mistake (%j) says where it is", async (path, text, flags, message) => {
    project = projectWith(path, text);
    const { code, stderr } = await project.ralph("import", path, ...flags);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});
