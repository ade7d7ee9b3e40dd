import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, type Finished, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** What the agent does is told by the name of the task. */
const AGENT = `cat > /dev/null
case "$RALPH_TASK_ID" in
  works*) echo x > "$RALPH_TASK_ID.txt"; echo "<promise>COMPLETE</promise>" ;;
  asks*) echo "<promise>DECIDE:which one?</promise>" ;;
  blocked*) echo "<promise>BLOCKED:no key</promise>" ;;
  idle*) echo "I am thinking about it." ;;
  endless*) echo x >> "$RALPH_TASK_ID.txt"; echo "There is more to do." ;;
  logged-out*) echo "Invalid API key · Please run /login" >&2; exit 1 ;;
  limited*) echo "Error: usage limit reached, resets in 2 hours" >&2; exit 1 ;;
  hangs*) echo x > ../begun; sleep 600 ;;
esac
`;

function projectOf(tasks: readonly string[]): Project {
  const created = createProject({
    tasks,
    config: 'agent = "sh"\n[agents.sh]\ncommand = ["sh", "../agent.sh"]\n',
  });
  created.write("../agent.sh", AGENT);
  return created;
}

async function run(tasks: readonly string[], flags: readonly string[] = []): Promise<Finished> {
  project = projectOf(tasks);
  const finished = await project.ralph("run", ...flags);
  await sayTheSame(finished);
  return finished;
}

/** The process, the summary on the screen and `status --json` have one opinion. */
async function sayTheSame({ code, stdout }: Finished): Promise<void> {
  expect(/^Exit: .*\(code (\d+)\)$/m.exec(stdout)?.[1]).toBe(String(code));
  const { stdout: status } = await project.ralph("status", "--json");
  expect(JSON.parse(status)).toMatchObject({ run: { exit_code: code } });
}

describe("a run ends with", () => {
  test.each([
    [0, "when everything is done", ["works-1", "works-2"], []],
    [0, "when there is nothing to do", [], ["--source", "TODO.md"]],
    [1, "when the iteration limit is reached", ["endless"], ["-n", "2"]],
    [2, "when a task is blocked", ["blocked", "works"], []],
    [3, "when a decision is needed", ["asks", "works"], []],
    [4, "when there is no progress", ["idle", "works"], []],
    [5, "when the login has expired", ["logged-out", "works"], []],
    [5, "with --no-wait at the agent's limit", ["limited", "works"], ["--no-wait"]],
  ] as const)("%i %s", async (code, _when, tasks, flags) => {
    expect((await run(tasks, flags)).code).toBe(code);
  });

  test("0 when there is nothing to do, and says that the list is empty", async () => {
    expect((await run([], ["--source", "TODO.md"])).stderr).toBe(
      "ralph: TODO.md has no tasks\n  → how they are written: ralph help tasks\n",
    );
  });

  test("1 when a single attempt failed", async () => {
    project = projectOf([]);
    project.write("roadmap.md", "- [ ] **idle**: think\n  - ralph: false\n");
    project.commit("roadmap");
    const finished = await project.ralph("run");
    expect(finished.code).toBe(1);
    await sayTheSame(finished);
    expect((await project.ralph("status")).stdout).toMatch(/idle .*failed/);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("130 after %s", async (signal) => {
    project = projectOf(["hangs"]);
    const running = project.start("run");
    await until("the agent runs", () => exists(project, "../begun"));
    running.child.kill(signal);
    const finished = await running.finished;
    expect(finished.code).toBe(130);
    await sayTheSame(finished);
  });

  test("130 after ralph stop, though a task is blocked", async () => {
    project = projectOf(["blocked", "hangs"]);
    const running = project.start("run", "--keep-going");
    await until("the agent runs", () => exists(project, "../begun"));
    await project.ralph("stop", "--now");
    const finished = await running.finished;
    expect(finished.code).toBe(130);
    await sayTheSame(finished);
  });
});

describe("64, and nothing is started,", () => {
  test.each([
    ["for a wrong flag", ["--max-stuk", "3"]],
    ["for a wrong value", ["--max-stuck", "some"]],
    ["for an agent that nobody knows", ["--agent", "nobody"]],
    ["for a source that is not there", ["--source", "missing.md"]],
  ])("%s", async (_when, flags) => {
    project = projectOf(["works"]);
    const refused = await project.ralph("run", ...flags);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toMatch(/^ralph: .+\n/);
    expect(await project.history()).toEqual([]);
  });

  test("for a wrong configuration", async () => {
    project = projectOf(["works"]);
    project.write(".ralph/ralph.toml", "agent = 3\n");
    project.commit("wrong");
    expect(await project.ralph("run")).toMatchObject({ code: 64, stdout: "" });
    expect(await project.history()).toEqual([]);
  });
});

describe("of several the first of 3, 2, 4, 5, 1 counts:", () => {
  test.each([
    [3, "a decision before a blocked task", ["blocked", "asks"], []],
    [3, "a decision before an expired login", ["asks", "logged-out"], []],
    [3, "a decision before the agent's limit", ["asks", "limited"], ["--no-wait"]],
    [3, "a decision before the iteration limit", ["asks", "endless"], ["-n", "3"]],
    [2, "a blocked task before an expired login", ["blocked", "logged-out"], []],
    [2, "a blocked task before the agent's limit", ["blocked", "limited"], ["--no-wait"]],
    [2, "a blocked task before the iteration limit", ["blocked", "endless"], ["-n", "3"]],
    [2, "a blocked task before one that is stuck", ["idle", "blocked", "works"], []],
    [3, "a decision before everything else", ["blocked", "idle", "asks", "endless"], ["-n", "7"]],
  ] as const)("%i, %s", async (code, _what, tasks, flags) => {
    expect((await run(tasks, ["--keep-going", ...flags])).code).toBe(code);
  });

  test("4, no progress before the iteration limit", async () => {
    expect((await run(["idle"], ["--max-stuck", "2", "-n", "2"])).code).toBe(4);
  });

  test("5, an expired login before an iteration limit", async () => {
    project = projectOf([]);
    project.write(
      "roadmap.md",
      "- [ ] **endless**: go on\n  - ralph: true\n  - max_iterations: 1\n- [ ] **logged-out**: log in\n  - ralph: true\n",
    );
    project.commit("roadmap");
    const finished = await project.ralph("run", "--keep-going");
    expect(finished.code).toBe(5);
    await sayTheSame(finished);
    expect((await project.history()).map(({ task }) => task)).toEqual(["endless", "logged-out"]);
  });
});
