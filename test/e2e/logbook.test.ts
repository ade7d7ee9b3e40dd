import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createProject, jsonLines, startRalph, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const LOGBOOK = ".ralph/logs/ralph.log";

test("every fact of a run is a line of JSON in ralph.log, what goes wrong as a warning", async () => {
  project = createProject();
  project.script({}, [[{ promise: "COMPLETE" }], WORKS]);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  const lines = jsonLines(project.read(LOGBOOK));
  const facts = await project.events();
  expect(lines.filter(({ event }) => event !== undefined).map(({ position }) => position)).toEqual(
    facts.map(({ position }) => position),
  );
  expect(lines.find(({ event }) => event === "verdict.reached")).toMatchObject({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: "warn",
    message: expect.stringContaining("rejected"),
    run: facts[0]?.["run"],
    task: "one",
    iteration: 1,
    pid: expect.any(Number),
  });
  expect(lines.find(({ event }) => event === "iteration.started")).toMatchObject({ level: "info" });
});

test("what a run refuses is an error there", async () => {
  project = createProject();
  project.write("README.md", "not committed");
  expect(await project.ralph("run")).toMatchObject({ code: 64 });
  expect(jsonLines(project.read(LOGBOOK)).at(-1)).toMatchObject({
    level: "error",
    message: expect.stringContaining("the work tree has uncommitted changes"),
  });
});

test("a logbook that cannot be written is one sentence, and the run goes on", async () => {
  project = createProject();
  project.write(`${LOGBOOK}/is-a-folder`, "");
  const run = await project.ralph("run");
  expect(run.code).toBe(0);
  expect(run.stderr.match(/cannot be written to ralph\.log/g)).toHaveLength(1);
});

test("transcripts are kept for so many days, and then it is said that they are gone", async () => {
  project = createProject({ tasks: ["one", "two", "three"] });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  for (const name of readdirSync(join(project.root, ".ralph/logs"))) aged(`.ralph/logs/${name}`, 40);
  project.write("TODO.md", `${project.read("TODO.md")}- [ ] **four**: make four\n`);
  project.commit("four");
  const run = await later(40, "run", "--verbose");
  expect(run).toMatchObject({ code: 0 });
  expect(run.stderr).toContain("4 transcripts and prompts were older than 30 days: deleted");
  expect(kept()).toEqual([3, 4]);
  const gone = await later(40, "logs", "1");
  expect(gone).toMatchObject({ code: 64, stdout: "" });
  expect(gone.stderr).toContain("the transcript of iteration 1 is deleted: it was older than 30 days");
  expect(await later(40, "logs", "9")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("there is no transcript of iteration 9"),
  });
  expect(await later(40, "why", "1")).toMatchObject({ code: 0 });
});

test("with keep_days = 0 nothing is deleted", async () => {
  project = createProject({
    tasks: ["one", "two"],
    config: 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[logs]\nkeep_days = 0\n',
  });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  for (const name of readdirSync(join(project.root, ".ralph/logs"))) aged(`.ralph/logs/${name}`, 4_000);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(kept()).toEqual([1, 2]);
});

const DAY_S = 86_400;

function aged(path: string, days: number): void {
  const file = join(project.root, path);
  const at = statSync(file).mtimeMs / 1_000 - days * DAY_S;
  utimesSync(file, at, at);
}

function kept(): readonly number[] {
  return [1, 2, 3, 4, 5].filter((number) =>
    existsSync(join(project.root, `.ralph/logs/iteration-00${number}.log`)),
  );
}

/** As it would be in so many days. */
function later(days: number, ...args: readonly string[]): ReturnType<Project["ralph"]> {
  const wrongClock = join(import.meta.dirname, "..", "fixtures", "wrong-clock.ts");
  const env = {
    ...project.env,
    NODE_OPTIONS: `--import ${wrongClock}`,
    RALPH_TEST_CLOCK_MS: String(days * DAY_S * 1_000),
  };
  return startRalph(project.root, env, args).finished;
}
