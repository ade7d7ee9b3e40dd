import { afterEach, describe, expect, test } from "vitest";
import { Random } from "../../src/eval/random.ts";
import { createProject, exists, until, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => {
  expect(project.leftovers()).toEqual([]);
  project.dispose();
});

const TEN = Array.from({ length: 10 }, (_, index) => `task-${index + 1}`);

/** Some commit themselves, some leave it to us, some leave a child behind. */
const BUSY = [
  { sleep: 150 },
  { leave: "setsid" as const },
  {
    shell:
      'echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"; case $RALPH_TASK_ID in *[13579]) git add -A && git commit -qm "$RALPH_TASK_ID" || true;; esac',
  },
  { sleep: 100 },
  { promise: "COMPLETE" },
];

describe("kill -9 of ralph", () => {
  test(
    "at twenty random moments of a ten-task run loses and doubles nothing",
    { timeout: 600_000 },
    async () => {
      project = createProject({ tasks: TEN });
      project.script({}, [BUSY]);
      project.commit();
      const random = new Random(20_26);
      let kills = 0;
      for (let round = 0; round < 60 && kills < 20; round += 1) {
        const running = project.start("run");
        const killer = setTimeout(() => running.child.kill("SIGKILL"), random.between(120, 1_100));
        const { code, signal, stderr } = await running.finished;
        clearTimeout(killer);
        if (signal === "SIGKILL") kills += 1;
        else expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        if (code === 0) {
          // Done before all twenty: open some tasks again, as a person would.
          project.write(
            "TODO.md",
            project.read("TODO.md").replaceAll("[x]", "[ ]").replaceAll("**task", "**again-task"),
          );
          project.commit("more to do");
        }
      }
      expect(kills).toBe(20);
      expect(await project.ralph("run", "-n", "200")).toMatchObject({ code: 0, stderr: "" });
      await expectSoundHistory(project);
      expect(project.read("TODO.md")).not.toContain("[ ]");
    },
  );

  test("while the agent works: the next run ends it, records it as interrupted, and takes the next number", async () => {
    project = createProject();
    project.script({ one: [[{ write: { path: "half.txt", text: "half" } }, { hang: true }], WORKS] });
    project.commit();
    const running = project.start("run");
    await until("the agent has begun", () => exists(project, "half.txt"));
    running.child.kill("SIGKILL");
    await running.finished;
    expect(JSON.parse((await project.ralph("status", "--json")).stdout)).toMatchObject({
      run: { interrupted: true },
    });
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    const history = await project.history();
    expect(history.map(({ iteration, verdict }) => [iteration, verdict])).toEqual([
      [1, "failed"],
      [2, "accepted"],
    ]);
    expect(history[0]).toMatchObject({
      reasons: [expect.stringContaining("interrupted")],
      failure_class: "internal",
    });
    expect(project.git("log", "--format=%s")).toContain("ralph(one): make one");
  });

  test("leaves an index.lock, and it is not in the way", async () => {
    project = createProject();
    project.script({
      one: [
        [
          { write: { path: "half.txt", text: "half" } },
          { shell: 'touch .git/index.lock "$HOME/locked"' },
          { hang: true },
        ],
        WORKS,
      ],
    });
    project.commit();
    const running = project.start("run");
    // Ralph's own git makes such a lock for a moment, before the agent begins.
    await until("the agent has left the lock", () => exists(project, "../home/locked"));
    running.child.kill("SIGKILL");
    await running.finished;
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("other ways to be disturbed", () => {
  test("kill -9 of the agent alone is a failed iteration, and the next one goes on", async () => {
    project = createProject();
    project.script({
      one: [[{ write: { path: "half.txt", text: "half" } }, { killSelf: "SIGKILL" }], WORKS],
    });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ verdict, failure_class }) => [verdict, failure_class])).toEqual([
      ["failed", "agent"],
      ["accepted", null],
    ]);
  });

  test("SIGSTOP and SIGCONT of ralph in the middle double nothing", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({}, [[{ sleep: 300 }, ...WORKS]]);
    project.commit();
    const running = project.start("run");
    for (const pause of [300, 500, 700]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      running.child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 700));
      running.child.kill("SIGCONT");
    }
    expect(await running.finished).toMatchObject({ code: 0 });
    await expectSoundHistory(project);
    expect(await project.history()).toHaveLength(2);
  });

  test("views that were deleted are made again", async () => {
    project = createProject({ tasks: ["one", "two"] });
    await project.ralph("run", "--task", "one");
    const csv = project.read(".ralph/logs/summary.csv");
    for (const view of ["logs/summary.csv", "logs/execution.jsonl", "status.json"])
      project.remove(`.ralph/${view}`);
    await project.ralph("run");
    expect(project.read(".ralph/logs/summary.csv").split("\n").slice(0, 2).join("\n")).toBe(csv.trimEnd());
    expect(project.read(".ralph/logs/execution.jsonl").trim().split("\n")).toHaveLength(2);
    expect(exists(project, ".ralph/status.json")).toBe(true);
  });

  test("an agent that deletes .ralph destroys nothing that is recorded", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script(
      { one: [[{ shell: "rm -rf .ralph/logs .ralph/status.json .ralph/active.json" }, ...WORKS]] },
      [WORKS],
    );
    project.commit();
    await project.ralph("run");
    expect((await project.history()).filter((entry) => entry.verdict === "accepted")).toHaveLength(2);
  });
});

/** Every task completed once, every number used once, every iteration closed. */
async function expectSoundHistory(of: Project): Promise<void> {
  const events = await of.events();
  const completed = events
    .filter((event) => event["type"] === "task.completed")
    .map((event) => event["task"]);
  expect(new Set(completed).size).toBe(completed.length);
  for (const type of ["iteration.started", "iteration.ended", "verdict.reached"]) {
    const numbers = events.filter((event) => event["type"] === type).map((event) => event["iteration"]);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
  }
  expect(of.read(".ralph/logs/summary.csv").trim().split("\n").length - 1).toBe((await of.history()).length);
  expect(of.git("status", "--porcelain")).toBe("");
  expect(exists(of, ".git/index.lock")).toBe(false);
}
