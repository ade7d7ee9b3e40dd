import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, until, WORKS, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const DEMO = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';
const IDLE: Steps = [{ say: "thinking" }];

interface StatusJson {
  readonly breaker: { state: string; no_progress: number; same_error: number; reason: string | null };
  readonly calls: { used: number; limit: number | null; resets_at: string };
  readonly cost: { usd: number | null; budget_usd: number | null; forecast_usd: number | null };
  readonly run: { state: string; outcome: string | null } | null;
}

async function status(of = project): Promise<StatusJson> {
  return JSON.parse((await of.ralph("status", "--json")).stdout) as StatusJson;
}

async function startsOf(of = project): Promise<number> {
  return (await of.events()).filter(({ type }) => type === "iteration.started").length;
}

describe("a breaker that opened", () => {
  test("says why and what to look at, keeps the next run out, and is reset by a person", async () => {
    project = createProject({ config: `${DEMO}[interventions]\nthreshold_no_files = 0\n` });
    project.script({}, [IDLE]);
    const run = await project.ralph("run", "--no-keep-going");
    expect(run.code).toBe(4);
    expect(run.stdout).toContain("breaker   half open: no progress in 2 iterations in a row");
    expect(run.stdout).toContain("stuck: the breaker is open: no progress in 3 iterations in a row");
    expect(run.stdout).toMatch(
      /→ see why: ralph why; what it was doing: ralph logs; .*ralph reset --circuit/,
    );
    expect((await status()).breaker).toMatchObject({ state: "OPEN", no_progress: 3 });

    const refused = await project.ralph("run", "--no-keep-going");
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain("the breaker is open");
    expect(await startsOf()).toBe(3);

    expect(await project.ralph("reset", "--circuit")).toMatchObject({ code: 0 });
    expect((await status()).breaker).toMatchObject({ state: "HALF_OPEN", reason: "somebody reset it" });
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 4 });
    expect(await startsOf()).toBe(4);

    await project.ralph("reset", "--circuit");
    project.script({}, [WORKS]);
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 0 });
    expect((await status()).breaker).toMatchObject({ state: "CLOSED", no_progress: 0, reason: null });
    const moves = (await project.events()).filter(({ type }) => type === "breaker.moved");
    expect(moves.map(({ to }) => to)).toEqual([
      "HALF_OPEN",
      "OPEN",
      "HALF_OPEN",
      "OPEN",
      "HALF_OPEN",
      "CLOSED",
    ]);
  });

  test("gets a new chance by a commit of a person", async () => {
    project = createProject();
    project.script({}, [IDLE]);
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 4 });
    project.write("help.txt", "look here\n");
    project.script({}, [WORKS]);
    project.commit("by a person");
    const run = await project.ralph("run", "--no-keep-going");
    expect(run.stdout).toContain("half open: somebody committed");
    expect(run.code).toBe(0);
  });

  test("a larger --max-stuck raises its limit for that run", async () => {
    project = createProject();
    project.script({}, [IDLE, IDLE, IDLE, WORKS]);
    expect(await project.ralph("run", "--max-stuck", "6")).toMatchObject({ code: 0 });
  });

  test("the same error five times is the same with other line numbers and paths; five different ones are not", async () => {
    const config = `${DEMO}[run]\nmax_stuck = 0\nmax_attempts = 0\n[breaker]\nno_progress = 0\n[interventions]\nthreshold_no_files = 0\n`;
    const fails = (line: string): Steps => [{ say: line }, { crash: 1 }];
    project = createProject({ config });
    project.script({}, [
      fails("Error: cannot find module 'x' at /tmp/a1b2/main.js:10:3"),
      fails("Error: cannot find module 'x' at /tmp/c3/main.js:99:1"),
      fails("Error: cannot find module 'x' at /var/tmp/zz/main.js:7:77"),
      fails("Error: cannot find module 'x' at /tmp/q/main.js:1:1"),
      fails("Error: cannot find module 'x' at /tmp/w/main.js:2:2"),
    ]);
    const run = await project.ralph("run");
    expect(run.code).toBe(4);
    expect(run.stdout).toContain("the same error 5 times");
    expect(await startsOf()).toBe(5);
    project.dispose();

    project = createProject({ config });
    const words = [
      "no such table",
      "type mismatch",
      "division by zero",
      "null pointer",
      "unknown column",
      "syntax",
    ];
    project.script(
      {},
      words.map((word) => fails(`Error: ${word}`)),
    );
    expect(await project.ralph("run", "-n", "6")).toMatchObject({ code: 1 });
  });
});

describe("calls per hour", () => {
  test("two runs in two clones that share one store make ten calls and never eleven", async () => {
    const config = `${DEMO}[run]\nmax_iterations = 40\nmax_stuck = 0\n[breaker]\nno_progress = 0\n[interventions]\nthreshold_no_files = 0\n[limits]\ncalls_per_hour = 10\n`;
    const shared = createProject();
    const env = { RALPH_STATE: join(shared.root, "..", "shared.db") };
    const one = createProject({ config, env });
    const two = createProject({ config, env });
    project = shared;
    for (const each of [one, two]) each.script({}, [IDLE]);
    for (let round = 0; round < 3; round += 1) {
      const before = (await startsOf(one)) + (await startsOf(two));
      const runs = await Promise.all([one, two].map((each) => each.ralph("run", "--no-wait")));
      expect(runs.map(({ code }) => code)).toEqual([5, 5]);
      expect(runs[0]!.stdout).toContain("the calls of this hour are used up");
      expect((await startsOf(one)) + (await startsOf(two)) - before).toBe(10);
      expect((await status(one)).calls).toMatchObject({ used: 10, limit: 10 });
      expect(await one.ralph("reset", "--calls")).toMatchObject({ code: 0 });
    }
    one.dispose();
    two.dispose();
  });

  test("a run that waits goes on when somebody counts them anew", async () => {
    project = createProject({ tasks: ["one", "two"], config: `${DEMO}[limits]\ncalls_per_hour = 1\n` });
    const running = project.start("run");
    await until("it waits", () => running.stdout().includes("the calls of this hour are used up"));
    expect(await project.ralph("reset", "--task", "one")).toMatchObject({ code: 64 });
    expect(await project.ralph("reset", "--calls")).toMatchObject({ code: 0 });
    expect(await running.finished).toMatchObject({ code: 0 });
  });

  test("the run waits with the reset's time, also after a restart", async () => {
    project = createProject({ tasks: ["one", "two"], config: `${DEMO}[limits]\ncalls_per_hour = 1\n` });
    const isWaiting = async (): Promise<boolean> => (await status()).run?.state === "waiting";
    const first = project.start("run");
    await until("it waits", isWaiting);
    expect(first.stdout()).toMatch(/waiting until \S+:00:00\.000Z: the calls of this hour are used up/);
    first.child.kill("SIGKILL");
    await first.finished;
    const second = project.start("run");
    await until("it waits again", () => second.stdout().includes("going on with the run"));
    second.child.kill("SIGINT");
    expect((await second.finished).code).toBe(130);
    expect(await startsOf()).toBe(1);
    expect(existsSync(join(project.root, ".ralph", "active.json"))).toBe(false);
  });
});

describe("a budget", () => {
  const costs = (usd: number, ...more: Steps): Steps => [
    { usage: { cost_usd: usd } },
    { shell: 'echo "$RALPH_ITERATION" >> work.txt' },
    ...more,
  ];

  test("ends the run before the iteration that would pass it, after a warning", async () => {
    project = createProject();
    project.script({}, [costs(2)]);
    const run = await project.ralph("run", "--budget", "5");
    expect(run.code).toBe(5);
    expect(run.stdout).toContain("$4.00 of the $5.00 for this run are spent");
    expect(run.stdout).toContain("one more iteration would pass the budget of $5.00 for this run");
    expect(run.stdout).toMatch(/Cost: +\$4\.00/);
    expect((await status()).cost).toMatchObject({ usd: 4, budget_usd: 5 });
    expect(await startsOf()).toBe(2);
  });

  test("of a task blocks the task", async () => {
    project = createProject({ config: `${DEMO}[limits]\nbudget_usd_per_task = 3\n` });
    project.script({}, [costs(2)]);
    const run = await project.ralph("run");
    expect(run.code).toBe(2);
    expect(run.stdout).toContain("would pass the $3.00 that a task may cost: $2.00 are spent");
  });

  test("of a day is shared by everybody", async () => {
    project = createProject({ config: `${DEMO}[limits]\nbudget_usd_per_day = 5\n` });
    project.script({}, [costs(3, { promise: "COMPLETE" })]);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    project.write("TODO.md", "- [x] **one**: make one\n- [ ] **two**: make two\n");
    project.commit("more to do");
    const run = await project.ralph("run", "--max-iterations", "3");
    expect(run.code).toBe(0);
    project.write(
      "TODO.md",
      "- [x] **one**: make one\n- [x] **two**: make two\n- [ ] **three**: make three\n",
    );
    project.commit("still more");
    const third = await project.ralph("run");
    expect(third.code).toBe(5);
    expect(third.stdout).toContain("the budget of $5.00 for a day: $6.00 are spent");
  });

  test("is kept by prices when the agent tells only its tokens", async () => {
    project = createProject({
      config: `${DEMO}[limits]\nbudget_usd = 1\n[prices."demo-1"]\ninput_per_mtok = 1.0\noutput_per_mtok = 2.0\n`,
    });
    const tokens = { model: "demo-1", input_tokens: 400_000, output_tokens: 100_000 };
    project.script({}, [[{ usage: tokens }, { shell: 'echo "$RALPH_ITERATION" >> work.txt' }]]);
    expect(await project.ralph("run")).toMatchObject({ code: 5 });
    expect((await status()).cost.usd).toBeCloseTo(0.6);
  });

  test("that nobody can keep is refused, and nothing starts", async () => {
    project = createProject({ config: 'agent = "mine"\n[agents.mine]\ncommand = ["true"]\n' });
    const run = await project.ralph("run", "--budget", "5");
    expect(run.code).toBe(64);
    expect(run.stderr).toContain('the agent "mine" tells neither what it costs nor how many tokens it uses');
    expect(await startsOf()).toBe(0);
  });
});

test("no iteration begins after --max-duration", async () => {
  project = createProject();
  project.script({}, [[{ shell: 'echo "$RALPH_ITERATION" >> work.txt' }, { sleep: 4_100 }]]);
  const run = await project.ralph("run", "--max-duration", "4s");
  expect(run.code).toBe(5);
  expect(run.stdout).toContain("that the run may take are over");
  expect(await startsOf()).toBe(1);
});

test.each([
  [["--calls", "many"], '--calls is "many"'],
  [["--budget", "five"], '--budget is "five"'],
  [["--max-duration", "soon"], '--max-duration is "soon"'],
])("%j is refused with a sentence", async (args, words) => {
  project = createProject();
  const run = await project.ralph("run", ...args);
  expect(run.code).toBe(64);
  expect(run.stderr).toContain(words);
});
