import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  createProject,
  exists,
  WORKS,
  type Finished,
  type Project,
  type ProjectOptions,
  type Steps,
} from "./project.ts";

const THINKS: Steps = [{ say: "I am thinking about it." }];
const IS_BLOCKED: Steps = [{ say: "<promise>BLOCKED:missing API key</promise>" }];
const ASKS: Steps = [{ say: "<promise>DECIDE:WebSockets or polling?</promise>" }];
const SAYS_HELLO: Steps = [{ say: "Hello from the agent." }, ...WORKS];

let project: Project;

function scripted(tasks: Readonly<Record<string, readonly Steps[]>>, options: ProjectOptions = {}): Project {
  const created = createProject({ tasks: Object.keys(tasks), ...options });
  created.script(tasks);
  created.commit("script");
  return created;
}

describe("a 1-iteration loop that outputs <promise>BLOCKED:missing API key</promise>", () => {
  let run: Finished;
  beforeAll(async () => {
    project = scripted({ one: [IS_BLOCKED] });
    run = await project.ralph("run", "--max-iterations", "1");
  });
  afterAll(() => project.dispose());

  test("exits with code 2", () => {
    expect(run).toMatchObject({ code: 2 });
  });

  test('blocked.txt exists and contains "missing API key"', () => {
    expect(project.read(".ralph/blocked.txt")).toContain("missing API key");
  });

  test("re-running after deleting blocked.txt resumes normally", async () => {
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(await project.history()).toHaveLength(1);
    project.script({ one: [WORKS] });
    project.commit("the key is there");
    project.remove(".ralph/blocked.txt");
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["blocked", "accepted"]);
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
  });
});

describe("a loop that outputs <promise>DECIDE:WebSockets or polling?</promise>", () => {
  let run: Finished;
  beforeAll(async () => {
    project = scripted({ one: [ASKS, [{ expectPrompt: "Use polling for now." }, ...WORKS]] });
    run = await project.ralph("run");
  });
  afterAll(() => project.dispose());

  test("exits with code 3", () => {
    expect(run).toMatchObject({ code: 3 });
  });

  test("decide.txt exists with the question", () => {
    expect(project.read(".ralph/decide.txt")).toMatch(
      /^## Question \(from iteration 1, .+Z\)\nWebSockets or polling\?\n\n---\n## Answer\n/,
    );
  });

  test("write the answer below ---, re-run: the agent reads the answer, and the file is deleted", async () => {
    expect(await project.ralph("run")).toMatchObject({ code: 3 });
    expect(await project.history()).toHaveLength(1);
    project.write(".ralph/decide.txt", `${project.read(".ralph/decide.txt")}Use polling for now.\n`);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["decide", "accepted"]);
    expect(exists(project, ".ralph/decide.txt")).toBe(false);
  });
});

describe("signals and stuck detection", () => {
  afterEach(() => project.dispose());

  test.each([
    ["<promise>BLOCKED:</promise>", ".ralph/blocked.txt"],
    ["<promise>BLOCKED: </promise>", ".ralph/blocked.txt"],
    ["<promise>DECIDE:</promise>", ".ralph/decide.txt"],
  ])("empty signal %s is treated as no signal, the iteration continues", async (signal, letter) => {
    project = scripted({ one: [[{ say: signal }], WORKS] });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ verdict, claim }) => [verdict, claim])).toEqual([
      ["continue", "none"],
      ["accepted", "complete"],
    ]);
    expect((await project.events()).some(({ type }) => type === "letter.published")).toBe(false);
    expect(exists(project, letter)).toBe(false);
  });

  test("no commits for 3 iterations: exits with code 4 after 3 iterations, and the summary mentions stuck iterations", async () => {
    project = scripted({ one: [THINKS] });
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 4 });
    expect(await project.history()).toHaveLength(3);
    expect(run.stdout).toContain("Exit:        STUCK (code 4)\n");
    expect(run.stdout).toContain("Stuck iters: 3\n");
  });

  test("--max-stuck 1 exits after the first no-commit iteration", async () => {
    project = scripted({ one: [THINKS] });
    expect(await project.ralph("run", "--max-stuck", "1")).toMatchObject({ code: 4 });
    expect(await project.history()).toHaveLength(1);
  });

  test("a stuck iteration followed by a successful commit resets the counter: 2 stuck + 1 success + 2 stuck does not exit", async () => {
    project = scripted({ one: [THINKS, THINKS, WORKS], two: [THINKS, THINKS, WORKS] });
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ commit_hash }) => commit_hash !== null)).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
    ]);
    expect(run.stdout).toContain("Stuck iters: 4\n");
    expect(column("stuck_count")).toEqual(["1", "2", "0", "1", "2", "0"]);
  });
});

describe("a 3-iteration loop", () => {
  let run: Finished;
  beforeAll(async () => {
    project = scripted({ one: [SAYS_HELLO], two: [SAYS_HELLO], three: [SAYS_HELLO] });
    run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0 });
  });
  afterAll(() => project.dispose());

  test("iteration-001.log, iteration-002.log, iteration-003.log exist", () => {
    const logs = readdirSync(join(project.root, ".ralph/logs")).filter((name) =>
      /^iteration-.*\.log$/.test(name),
    );
    expect(logs.toSorted()).toEqual(["iteration-001.log", "iteration-002.log", "iteration-003.log"]);
  });

  test("each log file is non-empty and contains the agent's output", () => {
    for (const number of ["001", "002", "003"]) {
      expect(project.read(`.ralph/logs/iteration-${number}.log`)).toContain("Hello from the agent.");
    }
  });

  test("summary.csv has 3 data rows", () => {
    expect(csv().rows).toHaveLength(3);
  });

  test("each CSV row has all fields populated", () => {
    const { head, rows } = csv();
    expect(head.slice(0, 8)).toEqual([
      "iteration",
      "mode",
      "duration_seconds",
      "commit_hash",
      "stories_complete",
      "stories_total",
      "stuck_count",
      "timestamp",
    ]);
    for (const [at, row] of rows.entries()) {
      expect(row).toHaveLength(head.length);
      expect(row.slice(0, 8)).toEqual([
        String(at + 1),
        "implement",
        expect.stringMatching(/^\d+(\.\d+)?$/),
        expect.stringMatching(/^[0-9a-f]{7,}$/),
        String(at + 1),
        "3",
        "0",
        expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
      ]);
    }
  });

  test("the summary table is printed to stdout at loop completion", () => {
    expect(run.stdout).toMatch(
      /\nRalph Loop Summary\n─+\nExit: {8}COMPLETE \(code 0\)\nIterations: {2}3 \/ 50\nDuration: {4}\S+.*\nStories: {5}3\/3 complete\nAvg\/iter: {4}\S+\nStuck iters: 0\nCost: {8}\S+\nLog: {9}\.ralph\/logs\/summary\.csv\n$/,
    );
  });

  test("logs/ is in .gitignore", async () => {
    expect(project.git("status", "--porcelain", "--untracked-files=all")).toBe("");
    await project.ralph("init");
    expect(project.read(".gitignore").split("\n")).toContain(".ralph/logs/");
  });

  test("archive without --include-logs: logs are NOT in the archive", async () => {
    expect(await project.ralph("archive", "--label", "lean")).toMatchObject({ code: 0 });
    expect(exists(project, `${archiveOf("lean")}/summary.md`)).toBe(true);
    expect(exists(project, `${archiveOf("lean")}/logs`)).toBe(false);
  });

  test("archive with --include-logs: logs ARE in the archive", async () => {
    project.write("TODO.md", "- [ ] another list\n");
    expect(await project.ralph("archive", "--label", "full", "--include-logs")).toMatchObject({ code: 0 });
    expect(project.read(`${archiveOf("full")}/logs/iteration-003.log`)).toContain("Hello from the agent.");
    expect(exists(project, `${archiveOf("full")}/logs/summary.csv`)).toBe(true);
  });
});

function archiveOf(label: string): string {
  const name = readdirSync(join(project.root, ".ralph/archive")).find((one) => one.endsWith(`-${label}`));
  return `.ralph/archive/${name ?? "missing"}`;
}

function csv(): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const lines = project.read(".ralph/logs/summary.csv").trim().split("\n");
  const [head = [], ...rows] = lines.map((line) => line.split(","));
  return { head, rows };
}

function column(name: string): readonly (string | undefined)[] {
  const { head, rows } = csv();
  return rows.map((row) => row[head.indexOf(name)]);
}
