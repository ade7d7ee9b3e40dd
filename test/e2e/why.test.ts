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

let project: Project;
afterEach(() => project.dispose());

const GATED = `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[[gates]]
name = "tests"
command = "test ! -e a.txt || grep -q right a.txt"
`;

const write = (text: string): Steps => [
  { write: { path: "a.txt", text } },
  { say: "I wrote `a.txt`." },
  { promise: "COMPLETE" },
];

describe("ralph why TASK", () => {
  test("shows the red gate of one iteration and what accepted the next", async () => {
    project = createProject({ config: GATED });
    project.script({ one: [write("wrong\n"), write("right\n")] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const { code, stdout } = await project.ralph("why", "one");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^one was accepted in iteration 2, after 1 rejection\.\n/);
    const words = stdout.replaceAll(/\s+/g, " ");
    expect(words).toMatch(
      / 1 claimed COMPLETE\. Rejected: gate "tests" failed \(exit 1, [\d.]+s\); it had passed before the task began\. For the next prompt: 1 correction \(gate:tests\)\./,
    );
    expect(words).toMatch(
      / 2 claimed COMPLETE\. Accepted: 1 file changed since the task began, the cited file among them, tests passed, tree committed \([0-9a-f]{7}\)\./,
    );
    expect(stdout).toMatch(/\nCertificate: ralph verify one\n$/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    const json = JSON.parse((await project.ralph("why", "one", "--json")).stdout) as unknown;
    expect(json).toMatchObject({
      schema: "ralph.why.v1",
      kind: "task",
      task: "one",
      status: "done",
      steps: [
        { iteration: 1, verdict: "rejected", reasons: [{ rule: "gate:tests" }] },
        { iteration: 2, verdict: "accepted" },
      ],
      next: "ralph verify one",
    });
  });

  test("names the nearest task when there is none of that name", async () => {
    project = createProject();
    await project.ralph("run");
    const { code, stderr } = await project.ralph("why", "onee");
    expect(code).toBe(64);
    expect(stderr).toContain('there is no task "onee". Did you mean "one"?');
    const json = await project.ralph("why", "zzz", "--json");
    expect(json.code).toBe(64);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "usage" } });
  });
});

describe("ralph why ITERATION", () => {
  test("shows claim, evidence, gates, verdict and corrections in full", async () => {
    project = createProject({ config: GATED });
    project.script({ one: [write("wrong\n"), write("right\n")] });
    project.commit();
    await project.ralph("run");
    const { stdout } = await project.ralph("why", "1");
    expect(stdout).toMatch(/^Iteration 1: one \(1\/30\) by demo, /);
    expect(stdout).toMatch(/^ {2}claim {5}The agent claimed COMPLETE\.$/m);
    expect(stdout).toMatch(/^ {2}evidence {2}1 file changed: a\.txt; commit [0-9a-f]{7}\.$/m);
    expect(stdout).toMatch(/^ {2}gates {5}gate "tests" failed/m);
    expect(stdout).toMatch(/^ {2}verdict {3}Rejected: /m);
    expect(stdout).toMatch(/^ {2}told {6}For the next prompt: 1 correction/m);
    expect(JSON.parse((await project.ralph("why", "2", "--json")).stdout)).toMatchObject({
      kind: "iteration",
      iteration: 2,
      verdict: "accepted",
      evidence: { changed: { files: 1, paths: ["a.txt"] } },
    });
    const missing = await project.ralph("why", "9");
    expect(missing).toMatchObject({ code: 64 });
    expect(missing.stderr).toContain("there is no iteration 9; the last one is 2");
  });
});

describe("ralph why", () => {
  test("before the first run says how to begin, and creates nothing", async () => {
    project = createProject();
    const { code, stdout } = await project.ralph("why");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "No run yet in this repository.\n→ ralph run\n" });
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("says why the last run ended, and what each open task waits for", async () => {
    project = createProject({ tasks: ["one", "two", "three"] });
    project.script({ two: [[{ blocked: "no credentials" }]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 2 });
    const { stdout } = await project.ralph("why");
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /^The last run ended as blocked \(exit code 2\): two is blocked: no credentials\. It took 2 iterations, [\d.]+s\. two is blocked: no credentials\. → see why: ralph why two; settle it, then: ralph unblock two && ralph run three has not been worked on yet\. → ralph run $/,
    );
    expect(JSON.parse((await project.ralph("why", "--json")).stdout)).toMatchObject({
      kind: "run",
      outcome: "blocked",
      exit_code: 2,
      tasks: [{ task: "two" }, { task: "three" }],
    });
  });

  test("says what the running one is doing", async () => {
    project = createProject();
    project.script({ one: [[{ say: "working" }, TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("the agent works", () => exists(project, ".ralph/progress.json"));
    expect((await project.ralph("why")).stdout).toMatch(
      /^A run is on \(pid \d+\): one, iteration 1 \(1\/30\) since [\d:]+ UTC; demo works\.\n/,
    );
    tellToGo(project);
    await running.finished;
  });
});
