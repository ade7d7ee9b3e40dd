import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, jsonLines, WORKS, type Project, type Steps } from "./project.ts";

const CONFIG = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[run]\nmax_attempts = 2\n';
const CRASHES: Steps = [{ append: { path: "notes.txt", text: "more\n" } }, { crash: 3 }];

let project: Project;
afterEach(() => project.dispose());

describe("ralph retry-blocked", () => {
  test("tries just the blocked tasks again, and keeps the reason", async () => {
    await blocked({ one: [[{ blocked: "no key" }]], two: [CRASHES] }, "--max-iterations", "3");
    project.script({}, [WORKS]);
    project.commit();
    const retried = await project.ralph("retry-blocked", "--json");
    expect(retried).toMatchObject({ code: 0 });
    const begun = jsonLines(retried.stdout).filter(({ type }) => type === "iteration.started");
    expect(begun).toMatchObject([{ task: "one" }, { task: "two" }]);
    expect(exists(project, "three.txt")).toBe(false);
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
    expect((await project.ralph("why", "one")).stdout).toContain("A person unblocked it: retry-blocked.");
  });

  test("--max-attempts is of this run alone", async () => {
    await blocked({ one: [CRASHES] }, "--max-iterations", "2");
    const retried = await project.ralph("retry-blocked", "--max-attempts", "1");
    expect(retried).toMatchObject({ code: 2 });
    expect(await project.history()).toHaveLength(3);
    expect(retried.stdout).toContain("■ blocked   one: 1 failed iteration; the last: exit code 3");
  });

  test("without a blocked task says so, and starts nothing", async () => {
    project = createProject();
    expect(await project.ralph("retry-blocked")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "ralph: no task is blocked, so there is nothing to try again\n",
    });
    expect(exists(project, ".git/ralph")).toBe(false);
  });

  test("a mistake on the command line leaves them blocked", async () => {
    await blocked({ one: [[{ blocked: "no key" }]] }, "--max-iterations", "1");
    expect(await project.ralph("retry-blocked", "--agent", "nobody")).toMatchObject({ code: 64 });
    expect(await project.ralph("retry-blocked", "--max-attempts", "0")).toMatchObject({ code: 64 });
    expect(JSON.parse((await project.ralph("blocked", "--json")).stdout)).toHaveLength(1);
  });

  test("of a goal tries the same goal again", async () => {
    project = createProject({ config: CONFIG });
    project.script({}, [[{ blocked: "no key" }]]);
    project.commit();
    expect(await project.ralph("run", "make the parser faster")).toMatchObject({ code: 2 });
    project.script({}, [WORKS]);
    project.commit();
    expect(await project.ralph("retry-blocked")).toMatchObject({ code: 0 });
    const tasks = new Set((await project.history()).map(({ task }) => task));
    expect(tasks.size).toBe(1);
  });
});

describe("a task that timeouts have blocked", () => {
  test("is suggested more time, and gets it from the next run by itself", async () => {
    await blocked({ one: [[{ hang: true }]] }, "--timeout", "4s", "--max-iterations", "2");
    const { stdout } = await project.ralph("run", "--quiet", "--task", "two");
    expect(stdout).not.toContain("What would help:");
    project.script({}, [WORKS]);
    project.commit();
    const next = await project.ralph("run");
    expect(next).toMatchObject({ code: 0 });
    expect(next.stdout).toContain("✔ unblocked one: blocked by timeouts; tried again with 8s");
    const begun = (await project.events()).filter(
      ({ type, task }) => type === "iteration.started" && task === "one",
    );
    expect(begun.map((event) => event["timeout_ms"])).toEqual([4_000, 4_000, 8_000]);
    expect((await project.ralph("why", "one")).stdout).toContain(
      "It was unblocked by itself: blocked by timeouts",
    );
  });

  test("stays blocked when the configuration says so", async () => {
    const config = `${CONFIG}[unblock]\nmax_auto_unblock_attempts = 0\nauto_suggest = false\n`;
    project = createProject({ config });
    project.script({ one: [[{ hang: true }]] });
    project.commit();
    const first = await project.ralph("run", "--timeout", "1s");
    expect(first).toMatchObject({ code: 2 });
    expect(first.stdout).not.toContain("What would help:");
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(await project.history()).toHaveLength(2);
  });
});

test("status.json is in step after unblock and decide without a run", async () => {
  await blocked({ one: [[{ blocked: "no key" }]], two: [[{ decide: "a or b?" }]] }, "--max-iterations", "2");
  expect(inbox()).toHaveLength(2);
  await project.ralph("unblock", "one");
  expect(inbox()).toMatchObject([{ task: "two" }]);
  await project.ralph("decide", "two", "a");
  expect(inbox()).toEqual([]);
});

function inbox(): unknown {
  return (JSON.parse(project.read(".ralph/status.json")) as { inbox: unknown }).inbox;
}

/** A run that ends with these tasks held up, and says what would help. */
async function blocked(script: Parameters<Project["script"]>[0], ...flags: readonly string[]): Promise<void> {
  project = createProject({
    tasks: [...Object.keys(script), "two", "three"].filter(isFirst),
    config: CONFIG,
  });
  project.script(script, [WORKS]);
  project.commit();
  const run = await project.ralph("run", "--keep-going", ...flags);
  expect([2, 3]).toContain(run.code);
  expect(run.stdout).toMatch(/\nWhat would help:\none {2}make one .*\n {5}→ .*ralph unblock one/);
}

function isFirst(id: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(id) === at;
}
