import { afterEach, describe, expect, test } from "vitest";
import {
  createProject,
  exists,
  tellToGo,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
  type Steps,
} from "./project.ts";

const LIES: Steps = [{ promise: "COMPLETE" }];

let project: Project;
afterEach(() => project.dispose());

describe("an agent that lies", () => {
  test("leaves both events, with everything that is known of them", async () => {
    await liarOnce();
    const { $schema, events } = json(".ralph/interventions/events.json") as {
      $schema: string;
      events: readonly Entry[];
    };
    expect($schema).toBe("ralph_gold.interventions.v1");
    expect(events.map(({ event_type }) => event_type).toSorted()).toEqual([
      "false_completion_detected",
      "no_files_detected",
    ]);
    for (const event of events) {
      expect(event).toEqual({
        iteration: 1,
        event_type: expect.any(String),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        severity: "critical",
        details: {
          task_id: "one",
          agent: "demo",
          agent_return_code: 0,
          exit_signal_claimed: true,
          files_written: 0,
          evidence_count: 0,
        },
        remediation_attempted: true,
        rule: expect.stringMatching(/^no-(changes|files)$/),
        message: expect.stringContaining("iteration 1"),
      });
    }
    expect(await printed("interventions")).toEqual(events);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("is told in the next prompt exactly what feedback.txt says", async () => {
    await liarOnce();
    const feedback = project.read(".ralph/interventions/feedback.txt");
    expect(feedback).toMatch(/^## Previous Iteration Feedback[^]*no file has changed/);
    expect((await project.ralph("prompt", "one")).stdout).toContain(feedback);
  });

  test("and then works is counted in its profile and in the metrics", async () => {
    project = createProject();
    project.script({ one: [LIES, WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const profile = json(".ralph/interventions/profile.json") as { profiles: unknown };
    expect(profile).toEqual({
      $schema: "ralph_gold.profile.v1",
      profiles: [
        {
          agent_id: "demo",
          total_iterations: 2,
          no_files_count: 1,
          false_completion_count: 1,
          avg_files_per_iteration: 0.5,
          avg_evidence_count: expect.any(Number),
          last_reinforcement: expect.stringMatching(/Z$/),
          intervention_threshold_exceeded: false,
        },
      ],
    });
    expect(await printed("profile")).toEqual(profile.profiles);
    const metrics = json(".ralph/metrics.json");
    expect(metrics).toEqual({
      total_interventions: 2,
      interventions_by_type: { no_files_detected: 1, false_completion_detected: 1 },
      interventions_by_severity: { info: 0, warning: 0, critical: 2 },
      intervention_rate_per_100_iterations: 100,
      avg_remediation_success_rate: 1,
      blocked_rate: 0,
      wasted_iterations: 1,
      wasted_rate: 0.5,
      files_per_iteration: 0.5,
      completion_rate: 1,
      cost_per_accepted_task_usd: null,
    });
    expect(await printed("metrics")).toEqual(metrics);
    expect(project.read(".ralph/interventions/feedback.txt")).toBe("");
  });

  test("again and again is suspended, and its profile says so", async () => {
    project = createProject();
    project.script({ one: [LIES] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(await project.history()).toHaveLength(3);
    expect(await printed("profile")).toMatchObject([{ intervention_threshold_exceeded: true }]);
    expect(await printed("metrics")).toMatchObject({
      blocked_rate: 1,
      completion_rate: 0,
      avg_remediation_success_rate: 0,
    });
    expect((await project.ralph("profile")).stdout).toContain("over the threshold");
  });

  test("with --no-interventions is recorded, and told nothing", async () => {
    project = createProject();
    project.script({ one: [LIES] });
    project.commit();
    await project.ralph("run", "--no-interventions", "-n", "2");
    const events = (await printed("interventions")) as readonly Entry[];
    expect(events).toHaveLength(4);
    for (const event of events) expect(event).toMatchObject({ remediation_attempted: false });
    expect(project.read(".ralph/interventions/feedback.txt")).toBe("");
    expect((await project.ralph("prompt", "one")).stdout).not.toContain("Previous Iteration Feedback");
    expect(await printed("profile")).toMatchObject([{ no_files_count: 2, last_reinforcement: null }]);
    expect(await printed("metrics")).toMatchObject({ avg_remediation_success_rate: null });
  });
});

describe("the files", () => {
  test("are made again by the next run, whoever deleted them", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({
      one: [LIES],
      two: [[{ shell: "rm -rf .ralph/interventions .ralph/metrics.json" }, ...WORKS]],
    });
    project.commit();
    await project.ralph("run", "--task", "one", "-n", "1");
    const events = project.read(".ralph/interventions/events.json");
    await project.ralph("run", "--task", "two");
    expect(project.read(".ralph/interventions/events.json")).toBe(events);
    project.remove(".ralph/interventions/events.json");
    project.write(".ralph/metrics.json", "{");
    await project.ralph("run", "--task", "two");
    expect(project.read(".ralph/interventions/events.json")).toBe(events);
    expect(json(".ralph/metrics.json")).toEqual(await printed("metrics"));
  });

  test("are emptied by --reset, and the history stays", async () => {
    await liarOnce();
    expect(await project.ralph("interventions", "--reset")).toMatchObject({ code: 0, stdout: "" });
    expect(json(".ralph/interventions/events.json")).toMatchObject({ events: [] });
    expect(json(".ralph/interventions/profile.json")).toMatchObject({ profiles: [] });
    expect(json(".ralph/metrics.json")).toMatchObject({ total_interventions: 0, wasted_rate: null });
    expect(await printed("interventions")).toEqual([]);
    expect(await project.history()).toHaveLength(1);
  });

  test("are emptied by --reset while a run is on, by the run itself", async () => {
    project = createProject();
    project.script({ one: [LIES, [TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("the lie is recorded", () => exists(project, ".ralph/logs/iteration-002.log"));
    expect(await project.ralph("interventions", "--reset")).toMatchObject({ code: 0 });
    tellToGo(project);
    await running.finished;
    expect(json(".ralph/interventions/events.json")).toMatchObject({ events: [] });
    expect(json(".ralph/metrics.json")).toEqual(await printed("metrics"));
    expect(await printed("metrics")).toMatchObject({ total_interventions: 0, wasted_rate: 0 });
  });
});

describe("ralph interventions", () => {
  test("shows the last ones, or those of a type", async () => {
    await liarOnce();
    const { code, stdout, stderr } = await project.ralph("interventions", "--last", "1");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ {2}1 {2}\S+ {2}one {2}demo {2}critical {2}no_files_detected {2}your claim was rejected: no file has changed.*\n$/,
    );
    expect(stderr).toBe("ralph: the last 1 of 2; all: --last 2\n");
    expect(await printed("interventions", "--last", "1")).toHaveLength(1);
    const typed = await printed("interventions", "--type", "false_completion_detected");
    expect(typed).toMatchObject([{ event_type: "false_completion_detected" }]);
    expect((await project.ralph("interventions", "--type", "timeout")).stdout).toContain(
      "Nothing of the type timeout",
    );
  });
});

describe("ralph promises", () => {
  test("lists every attempt, accepted or not", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({
      one: [LIES, [{ promise: "FINISHED" }, { append: { path: "x", text: "x" } }], WORKS],
      two: [[{ blocked: "no key" }]],
    });
    project.commit();
    await project.ralph("run");
    expect(await printed("promises")).toMatchObject([
      { iteration: 1, task: "one", agent: "demo", promise: "COMPLETE", matches: true, verdict: "rejected" },
      { iteration: 2, promise: "FINISHED", matches: false, claim: "none", verdict: "continue" },
      { iteration: 3, promise: "COMPLETE", matches: true, claim: "complete", verdict: "accepted" },
      { iteration: 4, task: "two", promise: "BLOCKED:no key", claim: "blocked", verdict: "blocked" },
    ]);
    expect(await printed("promises", "--task", "two")).toHaveLength(1);
    expect((await project.ralph("promises")).stdout).toMatch(/FINISHED \(not the expected one\) {2}continue/);
  });
});

describe("ralph lessons", () => {
  test("lists what went wrong in three tasks, and takes one away", async () => {
    project = createProject({ tasks: ["one", "two", "three", "four"] });
    project.script({}, [LIES, WORKS]);
    project.commit();
    await project.ralph("run", "--task", "one", "--task", "two", "--task", "three");
    const lessons = (await printed("lessons")) as readonly { rule: string; sentence: string }[];
    expect(lessons).toMatchObject([{ rule: "no-changes", tasks: ["one", "two", "three"] }]);
    const sentence = lessons[0]?.sentence ?? "?";
    expect((await project.ralph("lessons")).stdout).toBe(`no-changes  one, two, three  ${sentence}\n`);
    expect((await project.ralph("prompt", "four")).stdout).toContain(sentence);
    const wrong = await project.ralph("lessons", "remove", "no-change");
    expect(wrong).toMatchObject({ code: 64, stdout: "" });
    expect(wrong.stderr).toContain('Did you mean "no-changes"?');
    expect(await project.ralph("lessons", "remove", "no-changes")).toMatchObject({ code: 0, stdout: "" });
    expect(await printed("lessons")).toEqual([]);
    expect((await project.ralph("prompt", "four")).stdout).not.toContain(sentence);
  });
});

describe("these commands", () => {
  const ALL = ["interventions", "profile", "metrics", "lessons", "promises"];

  test("before the first run say so, and create nothing", async () => {
    project = createProject();
    for (const command of ALL) {
      const { code, stdout, stderr } = await project.ralph(command);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
      expect(stdout).toMatch(/^[^\n]+ralph \w+[^\n]*\n$/);
      JSON.parse((await project.ralph(command, "--json")).stdout);
    }
    expect(exists(project, ".ralph/interventions")).toBe(false);
    expect(exists(project, ".git/ralph")).toBe(false);
  });

  test.each([
    [["interventions", "--type", "no_file_detected"], "no_files_detected"],
    [["interventions", "--last", "none"], '--last is "none"; expected a whole number'],
    [["profile", "--agent", "dmo"], "demo"],
    [["promises", "--task", "onee"], "one"],
    [["lessons", "remove", "x"], 'there is no lesson "x"'],
    [["lessons", "delete"], 'cannot "delete"'],
    [["lessons", "remove"], "which lesson"],
  ])("%j is refused with what would be right", async (args, words) => {
    await liarOnce();
    const refused = await project.ralph(...args);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(words);
  });
});

interface Entry {
  readonly event_type: string;
}

/** One task, one iteration, one lie. */
async function liarOnce(): Promise<void> {
  project = createProject();
  project.script({ one: [LIES] });
  project.commit();
  await project.ralph("run", "-n", "1");
}

function json(path: string): unknown {
  return JSON.parse(project.read(path));
}

async function printed(...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await project.ralph(...args, "--json")).stdout);
}
