import { afterEach, describe, expect, test } from "vitest";
import { createProject, until, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const CONFIG = `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[[gates]]
name = "tests"
command = "npm test --silent"
`;

function projectWithGate(): Project {
  const created = createProject({ config: CONFIG });
  created.write("package.json", '{ "scripts": { "test": "test -e right.txt" } }\n');
  created.commit("package");
  return created;
}

async function verdicts(): Promise<readonly (string | null)[]> {
  return (await project.history()).map((entry) => entry.verdict);
}

describe("over several runs", () => {
  test("a gate's script that was changed before is still held against the task", async () => {
    project = projectWithGate();
    project.script({
      one: [[{ shell: "sed -i 's/test -e right.txt/true/' package.json" }, { say: "more to come" }], WORKS],
    });
    project.commit();
    expect(await project.ralph("run", "-n", "1")).toMatchObject({ code: 1 });
    expect(await project.ralph("run", "-n", "1")).toMatchObject({ code: 3 });
    expect(await verdicts()).toEqual(["continue", "decide"]);
    expect((await project.history())[1]?.reasons.join()).toContain(
      "as they were before the task (package.json)",
    );
  });

  test("work that a person took back is no longer there", async () => {
    project = createProject();
    project.script({ one: [[{ write: { path: "a.txt", text: "a" } }], [{ promise: "COMPLETE" }]] });
    project.commit();
    await project.ralph("run", "-n", "1");
    project.git("-c", "user.name=P", "-c", "user.email=p@x", "revert", "--no-edit", "HEAD");
    await project.ralph("run", "-n", "1");
    expect(await verdicts()).toEqual(["continue", "rejected"]);
  });

  test("an agent that changes the gates and kills ralph gains nothing", async () => {
    project = projectWithGate();
    project.script({
      one: [
        [{ shell: "sed -i 's/npm test --silent/true/' .ralph/ralph.toml; touch changed" }, { hang: true }],
        WORKS,
      ],
    });
    project.commit();
    const running = project.start("run", "-n", "2");
    await until("the agent has changed the gates", () =>
      project.git("status", "--porcelain").includes("changed"),
    );
    running.child.kill("SIGKILL");
    await running.finished;
    const again = await project.ralph("run", "-n", "2");
    expect(again.stderr).toContain("goes on with the gates it started with: tests (npm test --silent)");
    expect(await verdicts()).toEqual(["failed", "rejected"]);
  });
});

describe("a gate that was red before", () => {
  test("is said so, and is accepted when the agent makes it green", async () => {
    project = projectWithGate();
    project.script({ one: [[{ write: { path: "right.txt", text: "x" } }, { promise: "COMPLETE" }]] });
    project.commit();
    const run = await project.ralph("run");
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("one: red before anything is done: tests");
    expect(project.read(".ralph/logs/iteration-001.prompt.md")).toContain(
      "already failing before this task was begun",
    );
    expect(await project.history()).toMatchObject([
      { verdict: "accepted", gates: [{ name: "tests", status: "passed", baseline_failed: true }] },
    ]);
  });

  test("may stay red when that is tolerated", async () => {
    project = createProject({ config: `${CONFIG}on_baseline = "tolerate"\n` });
    project.write("package.json", '{ "scripts": { "test": "test -e right.txt" } }\n');
    project.commit("package");
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await project.history()).toMatchObject([
      { verdict: "accepted", gates: [{ status: "failed", baseline_failed: true }] },
    ]);
  });
});

describe("a task that the agent takes out of the list", () => {
  test("is back, and this is told", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [[{ shell: "sed -i /two/d TODO.md" }, ...WORKS]] });
    project.commit();
    const run = await project.ralph("run");
    expect(run.stdout).toContain("! the agent edited the task list (removed two), which was undone");
    expect(run).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ task }) => task)).toEqual(["one", "two"]);
  });
});
