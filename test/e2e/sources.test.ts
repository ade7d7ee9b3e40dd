import { afterEach, describe, expect, test } from "vitest";
import { createBareProject, createProject, exists, WORKS, type Project } from "./project.ts";

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

const ROADMAP = `# Roadmap\r
\r
## Phase 1: Ground\r
\r
- [ ] **task-003**: the roof\r
  - ralph: true\r
  - depends: task-002, task-004\r
- [ ] **task-001**: the ground   \r
\t- ralph: true\r
\t- priority: 1\r
\t- completion_promise: GROUND_DONE\r
- [ ] **task-002**: the walls\r
  - ralph: true\r
  - depends: task-001\r
  - they are straight\r
\r
## Phase 2: [ ] Comfort\r
\r
* [ ] **task-004**: the door [2026-01-29]\r
  * ralph: true\r
  * depends: task-002\r
* [ ] **task-005**: the garden\r
  * ralph: true\r
  * depends: task-003\r
\r
\`\`\`\r
- [ ] **task-001**: an example\r
\`\`\`\r
No newline at the end`;

describe("a roadmap", () => {
  test("of five tasks is worked through in the order of its dependencies", async () => {
    project = projectWith("roadmap.md", ROADMAP);
    project.script({ "task-001": [[WORKS[0]!, { promise: "GROUND_DONE" }]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await accepted()).toEqual([
      "task-001 accepted",
      "task-002 accepted",
      "task-004 accepted",
      "task-003 accepted",
      "task-005 accepted",
    ]);
    expect(project.read("roadmap.md")).toBe(ROADMAP.replaceAll(/\[ \](?= \*\*task-00\d\*\*: the)/g, "[x]"));
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("may be named by --roadmap, with defaults for its tasks", async () => {
    project = projectWith("plan.md", "- [ ] **a**: one\n  - ralph: true\n");
    project.script({}, [[WORKS[0]!, { promise: "ALL_OF_IT" }]]);
    project.commit();
    const run = await project.ralph("run", "--roadmap", "plan.md", "--ralph-default-promise", "ALL_OF_IT");
    expect(run).toMatchObject({ code: 0 });
    expect(project.read("plan.md")).toContain("[x] **a**");
  });
});

const STORY = (id: string, more: string): string => `    {"id": "${id}", "title": "make ${id}", ${more}}`;
const STORIES = `{
  "project" : "House",
  "verifyCommands": ["test -e ground.txt"],
  "unknown": {"passes": false, "id": "US-001"},
  "userStories": [
${STORY("US-003", '"passes": false, "dependsOn": ["US-002", "US-004"]')},
${STORY("US-001", '"priority": 1, "passes": false, "notes": "\\"passes\\": false"')},
${STORY("US-002", '"passes":false, "dependsOn": ["US-001"]')},
${STORY("US-004", '"dependsOn": ["US-002"]')},
${STORY("US-005", '"passes"  :  false, "dependsOn": ["US-003"]')}
  ]
}`;

test("a tasks.json of five stories is worked through, and only passes changes", async () => {
  project = projectWith(".ralph/tasks.json", STORIES);
  project.script({ "US-001": [[WORKS[0]!, { shell: "touch ground.txt" }, { promise: "COMPLETE" }]] }, [
    WORKS,
  ]);
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  expect(await accepted()).toEqual([
    "US-001 accepted",
    "US-002 accepted",
    "US-004 accepted",
    "US-003 accepted",
    "US-005 accepted",
  ]);
  const expected = STORIES.replaceAll(/(?<="passes"\s*:\s*)false(?=, "(dependsOn|notes))/g, "true").replace(
    '"dependsOn": ["US-002"]}',
    '"dependsOn": ["US-002"], "passes": true}',
  );
  expect(project.read(".ralph/tasks.json")).toBe(expected);
  expect(JSON.parse(expected)).toMatchObject({
    userStories: Array.from({ length: 5 }, () => ({ passes: true })),
  });
});

test("an agent that says it passed is not believed, and one that breaks the file does no harm", async () => {
  const text = '{"userStories": [{"id": "one", "title": "x", "passes": false}]}\n';
  project = projectWith("tasks.json", text);
  project.script({
    one: [
      [{ shell: "sed -i s/false/true/ tasks.json" }],
      [{ write: { path: "tasks.json", text: "{" } }],
      WORKS,
    ],
  });
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(3);
  expect(project.read("tasks.json")).toBe(text.replace("false", "true"));
});

describe("a plan that cannot be worked on starts nothing", () => {
  test.each([
    [
      "a duplicate id",
      "roadmap.md",
      "- [ ] **a**: x\n- [ ] **a**: y\n",
      'roadmap.md: the id "a" is used twice, in lines 1 and 2',
    ],
    [
      "an unknown dependency",
      "roadmap.md",
      "- [ ] **a**: x\n\n- [ ] **b**: y\n  - depends: c\n",
      'roadmap.md: line 3: "b" depends on "c", which does not exist; the others are: a',
    ],
    [
      "a circle",
      "roadmap.md",
      "- [ ] **a**: x\n  - depends: b\n- [ ] **b**: y\n  - depends: a\n",
      'roadmap.md: the dependencies go round in a circle: "a" (line 1) → "b" (line 3) → "a"',
    ],
    [
      "a wrong value",
      "roadmap.md",
      "- [ ] **a**: x\n  - max_iterations: many\n",
      'roadmap.md: line 2: max_iterations is "many"; expected a whole number of at least 1',
    ],
    [
      "a circle of stories",
      "tasks.json",
      '{"userStories": [\n{"id": "a", "title": "x", "dependsOn": ["a"]}]}',
      'tasks.json: the dependencies go round in a circle: "a" (line 2) → "a"',
    ],
    [
      "what is no JSON",
      "tasks.json",
      '{"userStories": [\n}',
      "tasks.json:2:1: this is not JSON; expected a value",
    ],
  ])("%s", async (_name, path, text, problem) => {
    project = projectWith(path, text);
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 64, stdout: "" });
    expect(run.stderr).toContain(`ralph: ${problem}\n`);
    expect(exists(project, ".ralph/logs")).toBe(false);
    expect(await project.events()).toEqual([]);
    expect(project.git("status", "--porcelain")).toBe("");
  });
});

describe("ralph tasks", () => {
  test("lists them with their status, and adds one", async () => {
    project = projectWith(
      "roadmap.md",
      "- [x] **task-001**: one\n- [ ] **task-002**: two\n  - depends: task-001\n  - timeout: 5\n",
    );
    const list = await project.ralph("tasks");
    expect(list).toMatchObject({
      code: 0,
      stdout: "[x] task-001  one  done\n[ ] task-002  two  todo, after task-001\n",
    });
    expect(list.stderr).toContain("roadmap.md");
    expect(await project.ralph("tasks", "add", "the third")).toMatchObject({
      code: 0,
      stdout: "added task-003 to roadmap.md\n",
    });
    expect(project.read("roadmap.md")).toMatch(/\n {2}- timeout: 5\n- \[ \] \*\*task-003\*\*: the third\n$/);
    const { stdout } = await project.ralph("tasks", "--json");
    expect(JSON.parse(stdout)).toMatchObject([
      { id: "task-001", status: "done" },
      { id: "task-002", status: "todo", depends_on: ["task-001"], timeout_seconds: 300, ralph: false },
      { id: "task-003", title: "the third" },
    ]);
  });

  test("begins a list where there is none, and goes on with it", async () => {
    project = createBareProject();
    expect(await project.ralph("tasks", "add", " ")).toMatchObject({ code: 64 });
    expect(exists(project, "TODO.md")).toBe(false);
    expect(await project.ralph("tasks", "add", "the first")).toEqual({
      code: 0,
      signal: null,
      stdout: "began TODO.md with the-first\n",
      stderr: "",
    });
    expect(await project.ralph("tasks", "add", "the second", "--json")).toMatchObject({
      stdout: '{"id":"the-second","path":"TODO.md"}\n',
    });
    expect(project.read("TODO.md")).toBe("# Tasks\n\n- [ ] the first\n- [ ] the second\n");
  });

  test("goes on with a TODO.md that has no task any more", async () => {
    project = createBareProject({ "TODO.md": "# What I want\n" });
    expect(await project.ralph("tasks", "add", "the first")).toMatchObject({
      stdout: "added the-first to TODO.md\n",
    });
    expect(project.read("TODO.md")).toBe("# What I want\n- [ ] the first\n");
  });

  test("begins no list in place of one that was named", async () => {
    project = createBareProject();
    const { code, stderr } = await project.ralph("tasks", "add", "x", "--source", "mine.md");
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: expect.stringContaining("the task source mine.md does not exist"),
    });
    expect(exists(project, "TODO.md")).toBe(false);
  });

  test("refuses what it does not know", async () => {
    project = createProject();
    expect(await project.ralph("tasks", "remove", "one")).toMatchObject({ code: 64 });
    expect(await project.ralph("tasks", "add")).toMatchObject({ code: 64 });
    expect(await project.ralph("tasks", "--source", "a", "--prompt", "b")).toMatchObject({ code: 64 });
  });
});

test("a document is imported once, and its stories are worked on", async () => {
  project = projectWith("docs/shop.md", "# Shop\n\n- [x] Cart\n- [ ] Payment\n  - by card\n");
  const first = await project.ralph("import", "docs/shop.md");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(".ralph/tasks.json: 2 tasks from docs/shop.md\n");
  expect(first.stdout).toContain("ralph run");
  const second = await project.ralph("import", "docs/shop.md");
  expect(second.code).toBe(64);
  expect(second.stderr).toContain("--force");
  expect(await project.ralph("import", "docs/shop.md", "--force")).toMatchObject({ code: 0 });
  expect(await project.ralph("import", "missing.md")).toMatchObject({ code: 64 });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toEqual(["US-002 accepted"]);
});

describe("a prompt", () => {
  test("ends after two done signals in a row, and a new run works on it again", async () => {
    project = projectWith("PROMPT.md", "# Make the shop\n");
    project.script({}, [[{ append: { path: "shop.txt", text: "more\n" } }, { promise: "COMPLETE" }]]);
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(await accepted()).toHaveLength(2);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await accepted()).toHaveLength(4);
    expect(project.read("PROMPT.md")).toBe("# Make the shop\n");
  });

  test("ends when every box of its checklist is ticked by the agent", async () => {
    project = projectWith("PROMPT.md", "# Make the shop\n");
    project.write("@fix_plan.md", "- [ ] cart\n- [ ] payment\n");
    const tick = { shell: "sed -i '0,/\\[ \\]/s//[x]/' @fix_plan.md; date +%N >> shop.txt" };
    project.script({}, [[tick]]);
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("@fix_plan.md")).toBe("- [x] cart\n- [x] payment\n");
    expect(await accepted()).toHaveLength(2);
  });

  test("does not end with 0 while a gate is red, whatever the agent ticks", async () => {
    project = projectWith("PROMPT.md", "# Make the shop\n");
    project.write("@fix_plan.md", "- [ ] cart\n");
    const ticks = { shell: "sed -i 's/\\[ \\]/[x]/' @fix_plan.md; date +%N >> shop.txt" };
    project.script({}, [[ticks]]);
    project.commit();
    const check = ["--check", "test -f ok.txt"] as const;
    expect(await project.ralph("run", "-n", "1", ...check)).toMatchObject({ code: 1 });
    expect(await project.ralph("run", "-n", "1", ...check)).toMatchObject({ code: 1 });
    expect(project.read("@fix_plan.md")).toBe("- [x] cart\n");
    expect(await accepted()).toEqual(["prompt rejected", "prompt rejected"]);
    const unverified = await project.ralph("verify", "prompt");
    expect(unverified.stderr).toContain("never accepted");
    expect(unverified.stderr).not.toContain("by a person");
    project.script({}, [[{ shell: "touch ok.txt" }]]);
    project.commit();
    expect(await project.ralph("run", ...check)).toMatchObject({ code: 0 });
    expect((await accepted()).at(-1)).toBe("prompt accepted");
  });
});

test("a prompt and the checklist beside it may be uncommitted: they are the operator's", async () => {
  project = createProject();
  project.remove("TODO.md");
  project.commit("no tasks");
  project.write("PROMPT.md", "Make it greet.\n");
  project.write("@fix_plan.md", "- [ ] greet\n");
  project.script({}, [
    [{ shell: "sed -i 's/\\[ \\]/[x]/' @fix_plan.md; echo hello > hello.txt" }, { promise: "COMPLETE" }],
  ]);
  project.git("commit", "-qam", "script");
  expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  expect(project.git("status", "--porcelain")).toBe("?? PROMPT.md");
});
