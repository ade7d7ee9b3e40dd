import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, RALPH, until, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** Refuses the first call with these words, and works from then on. */
function projectWith(words: string): Project {
  const created = createProject({
    config: 'agent = "limited"\n[agents.limited]\ncommand = ["sh", "../agent.sh"]\n',
  });
  created.write(
    "../agent.sh",
    `cat > /dev/null
if [ -e ../called ]; then echo x > "$RALPH_TASK_ID.txt"; echo "<promise>COMPLETE</promise>"; exit 0; fi
touch ../called; echo '${words}' >&2; exit 1
`,
  );
  return created;
}

const LIMIT = "Error: 429 rate limit exceeded, try again in 6 seconds";

type RunJson = { iterations: number; state: string; waiting_until: string | null } | null;

async function runJson(): Promise<RunJson> {
  const { stdout } = await project.ralph("status", "--json");
  return (JSON.parse(stdout) as { run: { iterations: number; state: string; waiting_until: string | null } })
    .run;
}

describe("an agent that says that it is limited", () => {
  test("is waited for, and the refused call is no iteration of the run", async () => {
    project = projectWith(LIMIT);
    const run = await project.ralph("run", "--max-iterations", "1");
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(/waiting until .*: the agent has reached its limit/);
    expect((await project.history()).map(({ verdict, failure_class }) => [verdict, failure_class])).toEqual([
      ["failed", "limit"],
      ["accepted", null],
    ]);
    expect(await runJson()).toMatchObject({ iterations: 1 });
  });

  test("is waited for only the rest of the time after a kill", async () => {
    project = projectWith(LIMIT);
    const running = project.start("run");
    await until("it waits", async () => (await runJson())?.state === "waiting");
    const waitingUntil = (await runJson())?.waiting_until ?? "";
    running.child.kill("SIGKILL");
    await running.finished;
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const started = (await project.events()).filter((event) => event["type"] === "iteration.started");
    expect(Date.parse(String(started[1]?.["at"]))).toBeGreaterThanOrEqual(Date.parse(waitingUntil));
    expect(await runJson()).toMatchObject({ iterations: 1 });
  });

  test("is asked again at once when somebody at the terminal presses r", async () => {
    project = projectWith("Error: usage limit reached, resets in 2 hours");
    const terminal = spawn("script", ["-qec", `${RALPH} run`, "/dev/null"], {
      cwd: project.root,
      env: project.env,
    });
    let shown = "";
    terminal.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
    await until("it counts down", () => /left · r: try now/.test(shown));
    terminal.stdin.write("r");
    const [code] = (await once(terminal, "close")) as [number];
    expect(shown).toContain("trying again at once");
    expect(code).toBe(0);
  });

  test("ends the run with 5 where nobody wants to wait", async () => {
    project = projectWith("Error: usage limit reached, resets in 2 hours");
    const run = await project.ralph("run", "--no-wait");
    expect(run.code).toBe(5);
    expect(run.stdout).toContain("the agent has reached its limit until");
  });
});

test("an agent that is logged out ends the run with 5, and its words say what to do", async () => {
  project = projectWith("Invalid API key · Please run /login");
  const run = await project.ralph("run");
  expect(run.code).toBe(5);
  expect(run.stdout).toContain("Please run /login");
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
});
