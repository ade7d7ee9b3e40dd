import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createProject,
  exists,
  jsonLines,
  tellToGo,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
} from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("a checklist", () => {
  test("is worked through: every task done, marked, committed, and in the history", async () => {
    project = createProject({ tasks: ["one", "two", "three"] });
    const before = project.read("TODO.md");
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("TODO.md")).toBe(before.replaceAll("[ ]", "[x]"));
    expect(project.git("status", "--porcelain")).toBe("");
    expect(
      (await project.history()).map(({ iteration, task, verdict }) => ({ iteration, task, verdict })),
    ).toEqual([
      { iteration: 1, task: "one", verdict: "accepted" },
      { iteration: 2, task: "two", verdict: "accepted" },
      { iteration: 3, task: "three", verdict: "accepted" },
    ]);
    const csv = project.read(".ralph/logs/summary.csv").trim().split("\n");
    expect(csv[0]).toBe(
      "iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,timestamp,task,stage,verdict,agent,cost_usd,tokens",
    );
    expect(csv.slice(1).map((row) => row.split(",").slice(4, 6).join("/"))).toEqual(["1/3", "2/3", "3/3"]);
    expect(project.read(".ralph/logs/execution.jsonl").trim().split("\n")).toHaveLength(3);
    for (const number of ["001", "002", "003"])
      expect(exists(project, `.ralph/logs/iteration-${number}.log`)).toBe(true);
    expect(exists(project, ".ralph/active.json")).toBe(false);
    expect(JSON.parse(project.read(".ralph/status.json"))).toMatchObject({
      run: { state: "ended", outcome: "completed", exit_code: 0 },
    });
  });

  test("prints plain lines with a time, and the summary, when it is piped", async () => {
    project = createProject();
    const { stdout } = await project.ralph("run");
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d ralph run · TODO\.md · 1 task · demo$/m);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d {3}✔ accepted {2}1 file, commit [0-9a-f]{7}/m);
    expect(stdout).toContain("Exit:        COMPLETE (code 0)\nIterations:  1 / 50\n");
    expect(stdout).not.toContain("\x1b");
  });

  test("is worked through although nobody reads the output any more", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({}, [[{ sleep: 300 }, ...WORKS]]);
    project.commit();
    const running = project.start("run");
    running.child.stdout?.destroy();
    running.child.stderr?.destroy();
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).not.toContain("[ ]");
  });

  test("gives every event as a JSON line", async () => {
    project = createProject();
    const { stdout } = await project.ralph("run", "--json");
    const events = jsonLines(stdout);
    expect(events.map((event) => event["type"])).toEqual([
      "run.started",
      "tasks.observed",
      "iteration.started",
      "iteration.ended",
      "evidence.collected",
      "verdict.reached",
      "task.completed",
      "task.marked",
      "run.ended",
    ]);
    for (const event of events)
      expect(event).toMatchObject({ position: expect.any(Number), at: expect.stringMatching(/Z$/) });
  });
});

describe("a goal", () => {
  test("with a check is one task", async () => {
    project = createProject();
    project.script({}, [[{ write: { path: "made.txt", text: "yes" } }, { promise: "COMPLETE" }]]);
    project.commit();
    const run = await project.ralph("run", "make made.txt", "--check", "grep -q yes made.txt");
    expect(run).toMatchObject({ code: 0 });
    expect(project.git("log", "--format=%s%n%b", "-1")).toMatch(
      /^ralph\(goal-[0-9a-f]{6}\): make made\.txt\n+Ralph-Run: .+\nRalph-Iteration: 1/,
    );
  });

  test("asked for again is done again", async () => {
    project = createProject();
    project.script({}, [[{ append: { path: "made.txt", text: "more\n" } }, { promise: "COMPLETE" }]]);
    project.commit();
    await project.ralph("run", "more");
    await project.ralph("run", "more");
    expect(project.read("made.txt")).toBe("more\nmore\n");
  });
});

describe("an agent that claims too much", () => {
  test("and writes nothing is rejected, told, and accepted when it has done the work", async () => {
    project = createProject();
    project.script({ one: [[{ promise: "COMPLETE" }], [{ expectPrompt: "no file has changed" }, ...WORKS]] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["rejected", "accepted"]);
  });

  test("and ticks the box itself is not believed, and the tick is taken back", async () => {
    project = createProject();
    const tick = { shell: "sed -i 's/\\[ \\]/[x]/' TODO.md" };
    project.script({ one: [[tick, { promise: "COMPLETE" }]] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(project.read("TODO.md")).toContain("- [ ] **one**");
  });

  test("with a red gate is rejected, and sees the output of the gate", async () => {
    project = createProject();
    project.script({
      one: [
        [{ write: { path: "a.txt", text: "wrong" } }, { promise: "COMPLETE" }],
        [
          { expectPrompt: "expected right" },
          { write: { path: "a.txt", text: "right" } },
          { promise: "COMPLETE" },
        ],
      ],
    });
    project.commit();
    const run = await project.ralph(
      "run",
      "--check",
      "grep -q right a.txt || { echo expected right; false; }",
    );
    expect(run).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["rejected", "accepted"]);
  });

  test("and deletes the task file instead gets it put back", async () => {
    project = createProject();
    project.script({ one: [[{ shell: "rm TODO.md" }, { promise: "COMPLETE" }], WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["rejected", "accepted"]);
    expect(project.read("TODO.md")).toContain("- [x] **one**");
  });

  test("does not profit from what the gates of the task before left lying", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [WORKS], two: [[{ promise: "COMPLETE" }]] });
    project.commit();
    expect(await project.ralph("run", "--check", "date +%N > coverage.txt")).toMatchObject({ code: 2 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual([
      "accepted",
      "rejected",
      "rejected",
      "rejected",
    ]);
    expect(project.git("status", "--porcelain")).toBe("?? coverage.txt");
    project.script({ two: [WORKS] });
    project.git("commit", "-qam", "an honest agent");
    rmSync(join(project.root, ".ralph/blocked.txt"));
    expect(await project.ralph("run", "--check", "date +%N > coverage.txt")).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  test("does not profit from a file that another task left uncommitted, in another run", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({
      one: [[{ write: { path: ".env", text: "TOKEN=1\n" } }, ...WORKS]],
      two: [[{ promise: "COMPLETE" }]],
    });
    project.commit();
    expect(await project.ralph("run", "-n", "1")).toMatchObject({ code: 1 });
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual([
      "accepted",
      "rejected",
      "rejected",
      "rejected",
    ]);
  });

  test("cannot answer or remove the letters of another task", async () => {
    project = createProject({ tasks: ["asks", "blocks", "forges"] });
    const forge = "echo forged >> .ralph/decide.txt; rm -f .ralph/blocked.txt";
    project.script({
      asks: [[{ decide: "this or that?" }]],
      blocks: [[{ blocked: "no credentials" }]],
      forges: [[{ shell: forge }, ...WORKS]],
    });
    project.commit();
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 3 });
    const types = (await project.events()).map((event) => event["type"]);
    expect(types).not.toContain("question.answered");
    expect(types).not.toContain("task.unblocked");
    expect(project.read(".ralph/blocked.txt")).toContain("no credentials");
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 3 });
    expect(await project.history()).toHaveLength(3);
  });

  test("in a code fence claims nothing", async () => {
    project = createProject();
    project.script({
      one: [
        [{ write: { path: "a.txt", text: "a" } }, { say: "```\n<promise>COMPLETE</promise>\n```" }],
        WORKS,
      ],
    });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => [entry.claim, entry.verdict])).toEqual([
      ["none", "continue"],
      ["complete", "accepted"],
    ]);
  });
});

describe("the exit code", () => {
  const cases: readonly (readonly [number, string, Parameters<Project["script"]>[0], readonly string[]])[] = [
    [1, "the iteration limit", { one: [[{ append: { path: "a.txt", text: "a" } }]] }, ["-n", "2"]],
    [2, "blocked", { one: [[{ blocked: "no credentials" }]] }, []],
    [3, "a decision", { one: [[{ decide: "this or that?" }]] }, []],
    [4, "stuck", { one: [[{ say: "thinking" }]] }, ["--max-stuck", "2"]],
  ];
  test.each(cases)("is %i for %s", async (code, _what, script, args) => {
    project = createProject();
    project.script(script);
    project.commit();
    expect(await project.ralph("run", ...args)).toMatchObject({ code });
    expect(JSON.parse((await project.ralph("status", "--json")).stdout)).toMatchObject({
      run: { exit_code: code },
    });
  });
});

describe("a person", () => {
  test("answers a question in decide.txt, and the next run uses the answer", async () => {
    project = createProject();
    project.script({
      one: [[{ decide: "WebSockets or polling?" }], [{ expectPrompt: "The answer: polling" }, ...WORKS]],
    });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 3 });
    const letter = project.read(".ralph/decide.txt");
    expect(letter).toMatch(
      /^## Question \(from iteration 1, .+Z\)\nWebSockets or polling\?\n\n---\n## Answer\n$/,
    );
    expect(await project.ralph("run")).toMatchObject({ code: 3 });
    expect(await project.history()).toHaveLength(1);
    project.write(".ralph/decide.txt", `${letter}polling\n`);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(exists(project, ".ralph/decide.txt")).toBe(false);
    expect((await project.events()).map((event) => event["type"])).not.toContain("letter.disturbed");
  });

  test("deletes blocked.txt, and the next run goes on", async () => {
    project = createProject();
    project.script({ one: [[{ blocked: "no credentials" }], WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(project.read(".ralph/blocked.txt")).toContain("Reason: no credentials");
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    project.remove(".ralph/blocked.txt");
    project.script({ one: [WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("removes a task between two iterations: it is left alone", async () => {
    project = createProject({
      tasks: ["one", "two", "three"],
      config: `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[[gates]]
name = "slow"
command = "test ! -e one.txt || until test -e ../home/go; do sleep 0.05; done"
`,
    });
    const running = project.start("run");
    await until(
      "the gate runs",
      () => exists(project, "one.txt") && running.stdout().includes("iteration 1"),
    );
    await until("the look at the work is over", async () =>
      (await project.events()).some(({ type }) => type === "evidence.collected"),
    );
    project.write("TODO.md", project.read("TODO.md").replace("- [ ] **two**: make two\n", ""));
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.task)).toEqual(["one", "three"]);
    expect(project.read("TODO.md")).toBe("# Tasks\n\n- [x] **one**: make one\n- [x] **three**: make three\n");
  });

  test("is in the middle of an edit that makes no sense: the plan from before goes on", async () => {
    project = createProject();
    project.remove("TODO.md");
    project.write("roadmap.md", "- [ ] **one**: first\n- [ ] **two**: second\n");
    project.script({ one: [[TOLD_TO_GO, ...WORKS]] }, [WORKS]);
    project.commit();
    const running = project.start("run");
    await until("the first task is under way", () => running.stdout().includes("iteration 1"));
    project.write("roadmap.md", `${project.read("roadmap.md")}- [ ] **one**: again\n`);
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.task)).toEqual(["one", "two"]);
  });

  test("edits the task file while an agent works that may have done it: the edit is undone, and one command away", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [[TOLD_TO_GO, ...WORKS]] }, [WORKS]);
    project.commit();
    const running = project.start("run");
    await until("the first task is under way", () => running.stdout().includes("iteration 1"));
    project.write("TODO.md", `Edited meanwhile.\n\n${project.read("TODO.md")}- [ ] **two**: make two\n`);
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(running.stdout()).toContain("ralph tasks accept 1");
    expect(project.read("TODO.md")).toBe("# Tasks\n\n- [x] **one**: make one\n");
    expect(await project.ralph("tasks", "accept", "1")).toMatchObject({ code: 0 });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toMatch(
      /^Edited meanwhile\.\n[^]+- \[x\] \*\*one\*\*[^]+- \[x\] \*\*two\*\*/,
    );
  });
});

describe("optional tasks", () => {
  test("are left alone, counted at the end, and worked on when asked for", async () => {
    project = createProject();
    project.write("TODO.md", "# Tasks\n\n- [ ] **one**: one\n\n## Nice to have\n\n- [ ] **two**: two\n");
    project.commit("optional");
    const first = await project.ralph("run");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("1 optional one is left (ralph run --include-optional)");
    expect(project.read("TODO.md")).toContain("- [ ] **two**");
    expect(await project.ralph("run", "--include-optional")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toContain("- [x] **two**");
  });

  test("are not counted as open by a run of chosen tasks", async () => {
    project = createProject({ tasks: ["one", "two", "three"] });
    const run = await project.ralph("run", "--task", "two");
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toContain("completed: the chosen task is done, 2 others are open");
  });
});
