import { afterEach, describe, expect, test } from "vitest";
import { createProject, jsonLines, until, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** What the agent does is told by the name of the task. */
const AGENT = `cat > /dev/null
case "$RALPH_TASK_ID" in
  works*) echo x > "$RALPH_TASK_ID.txt"; echo "<promise>IMPLEMENTATION_COMPLETE</promise>" ;;
  endless*) echo x >> "$RALPH_TASK_ID.txt"; echo "There is more to do." ;;
  slow*) echo x >> "$RALPH_TASK_ID.txt"; sleep 30 ;;
  twice*) echo x >> "$RALPH_TASK_ID.txt"; if [ -e ../begun ]; then sleep 30; else : > ../begun; fi ;;
esac
`;

function projectOf(tasks: readonly string[], more = ""): Project {
  const created = createProject({
    tasks,
    config: `agent = "sh"\n[agents.sh]\ncommand = ["sh", "../agent.sh"]\n[stages.coder]\nmax_iterations = 2\n${more}`,
  });
  created.write("../agent.sh", AGENT);
  return created;
}

interface StatusTask {
  readonly id: string;
  readonly status: string;
  readonly failure: unknown;
}

async function tasksOf(of: Project): Promise<readonly StatusTask[]> {
  const { stdout } = await of.ralph("status", "--json");
  return (JSON.parse(stdout) as { tasks: readonly StatusTask[] }).tasks;
}

describe("a task that has used up its iterations", () => {
  test("is to do again, and says how far it came and why it was given up", async () => {
    project = projectOf(["endless-1"]);
    expect(await project.ralph("run")).toMatchObject({ code: 1 });
    const failure = {
      stage: "coder",
      iterations_used: 2,
      last_output: "There is more to do.",
      reason: "its 2 iterations are used up; the last one: the agent did not say that the task is done",
    };
    expect(await tasksOf(project)).toMatchObject([{ id: "endless-1", status: "todo", failure }]);
    expect(JSON.parse(project.read(".ralph/status.json"))).toMatchObject({ tasks: [{ failure }] });
    expect((await project.ralph("status")).stdout).toContain(failure.reason);
    const exhausted = (await project.events()).find(({ type }) => type === "task.exhausted");
    expect(exhausted).toMatchObject({ stage: "coder", iterations: 2, reason: failure.reason });
  });

  test("has no failure any more when the next loop has begun", async () => {
    project = projectOf(["endless-1"]);
    await project.ralph("run");
    project.write("../agent.sh", AGENT.replaceAll("endless*", "never").replace("works*", "endless*"));
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await tasksOf(project)).toMatchObject([{ status: "done", failure: null }]);
  });

  test("a single pass that failed says why, too", async () => {
    project = projectOf(["idle-1"], "enabled = false\n");
    expect(await project.ralph("run")).toMatchObject({ code: 1 });
    expect(await tasksOf(project)).toMatchObject([
      { status: "failed", failure: { stage: "coder", iterations_used: 1, last_output: "" } },
    ]);
  });
});

test("execution.jsonl says of every iteration whether the loop goes on", async () => {
  project = projectOf(["works-1", "endless-1", "slow-1"]);
  await project.ralph("run", "--timeout", "4", "--keep-going");
  const rows = (): readonly Record<string, unknown>[] =>
    jsonLines(project.read(".ralph/logs/execution.jsonl"));
  const first = rows();
  expect(first).toMatchObject([
    { task_id: "works-1", ralph_iteration: 1, promise_found: true, continuing: false, timed_out: false },
    { task_id: "endless-1", ralph_iteration: 1, promise_found: false, continuing: true },
    { task_id: "endless-1", ralph_iteration: 2, promise_found: false, continuing: false },
    { task_id: "slow-1", ralph_iteration: 1, continuing: true, timed_out: true },
    { task_id: "slow-1", ralph_iteration: 2, continuing: false, timed_out: true },
  ]);
  project.remove(".ralph/logs/execution.jsonl");
  await project.ralph("run", "--task", "works-1");
  expect(rows()).toEqual(first);
});

test("ralph-status tells the loop's own count and beginning", async () => {
  project = projectOf(["twice-1"], 'completion_promise = "DONE"\n');
  const running = project.start("run");
  await until("the second iteration works", async () =>
    (await project.ralph("ralph-status")).stdout.includes("twice-1 (coder): iteration 2/2, started "),
  );
  const { stdout } = await project.ralph("ralph-status", "--json");
  const started = (await project.events()).find(({ type }) => type === "iteration.started");
  const loop = { stage: "coder", iteration: 2, max_iterations: 2, completion_promise: "DONE" };
  expect(JSON.parse(stdout)).toEqual([{ task_id: "twice-1", started_at: started?.["at"], ...loop }]);
  expect(await tasksOf(project)).toMatchObject([{ started_at: started?.["at"], completion_promise: "DONE" }]);
  expect(await project.ralph("stop", "--now")).toMatchObject({ code: 0 });
  await running.finished;
  expect((await project.ralph("ralph-status")).stdout).toBe("Active Ralph Loops:\n  none\n");
  expect((await project.ralph("ralph-status", "--json")).stdout).toBe("[]\n");
});
