import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, jsonLines, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** Where git finds no repository. */
function outside(...args: string[]): { readonly code: number | null; readonly stdout: string } {
  const ralph = join(import.meta.dirname, "..", "..", "bin", "ralph");
  const { status, stdout } = spawnSync(ralph, args, { cwd: "/", env: project.env, encoding: "utf8" });
  return { code: status, stdout };
}

async function twoRuns(): Promise<{ readonly first: string; readonly second: string }> {
  project = createProject({ tasks: ["one", "two"] });
  project.script({ one: [[{ promise: "COMPLETE" }], WORKS] }, [WORKS]);
  project.commit();
  const first = (await project.ralph("run", "--task", "one")).stdout;
  const second = (await project.ralph("run")).stdout;
  return { first, second };
}

async function exported(): Promise<string> {
  project.write("../export.jsonl", (await project.ralph("history", "--jsonl")).stdout);
  return join(project.root, "..", "export.jsonl");
}

describe("ralph replay", () => {
  test("shows a run as it was shown, with the times of then and the summary", async () => {
    const { first, second } = await twoRuns();
    expect(await project.ralph("replay", "last")).toMatchObject({ code: 0, stdout: second });
    expect((await project.ralph("replay")).stdout).toBe(second);
    const [run] = (await project.events()).map((event) => String(event["run"]));
    expect((await project.ralph("replay", run!)).stdout).toBe(first);
    expect((await project.ralph("replay", run!.slice(0, 8))).stdout).toBe(first);
  });

  test("of an export is the same as of the log, and needs no repository", async () => {
    const { first, second } = await twoRuns();
    const file = await exported();
    expect(outside("replay", file)).toEqual({ code: 0, stdout: first + second });
    expect(outside("replay", file, "--run", "last")).toEqual({ code: 0, stdout: second });
  });

  test("--json prints the events as ralph run --json does", async () => {
    project = createProject();
    const shown = (await project.ralph("run", "--json")).stdout;
    expect((await project.ralph("replay", "--json")).stdout).toBe(shown);
    expect(outside("replay", await exported(), "--json").stdout).toBe(shown);
  });

  test("what ralph run --json printed can be shown, too", async () => {
    project = createProject();
    project.write("../live.jsonl", (await project.ralph("run", "--json")).stdout);
    const { code, stdout } = outside("replay", join(project.root, "..", "live.jsonl"));
    expect(code).toBe(0);
    expect(stdout).toBe((await project.ralph("replay")).stdout);
  });

  test("names what it does not know", async () => {
    await twoRuns();
    for (const wanted of ["nonsense", "missing.jsonl"]) {
      const { code, stderr } = await project.ralph("replay", wanted);
      expect(code).toBe(64);
      expect(stderr).toContain(wanted);
    }
  });

  test.each([
    ["a line that is no JSON", () => "{oops", /line 2 of export\.jsonl is damaged: it is not JSON/],
    ["a line that is no event", () => "[]", /line 2 of export\.jsonl is damaged/],
    ["an event without its content", withoutPlan, /line 2 of export\.jsonl is damaged/],
    ["an event of a newer ralph", newer, /line 2 of export\.jsonl was written by a newer ralph/],
  ])("refuses %s, with the line", async (_, damage, message) => {
    project = createProject();
    await project.ralph("run");
    const lines = (await project.ralph("history", "--jsonl")).stdout.split("\n");
    lines[1] = damage(lines[1]!);
    project.write("export.jsonl", lines.join("\n"));
    const { code, stderr } = await project.ralph("replay", "export.jsonl");
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });

  test("an export of one task has no run to show", async () => {
    project = createProject();
    await project.ralph("run");
    project.write("x.jsonl", (await project.ralph("history", "--jsonl", "--task", "one")).stdout);
    expect(await project.ralph("replay", "x.jsonl")).toMatchObject({ code: 64 });
  });
});

describe("ralph history --jsonl", () => {
  test("has the keys of ralph run --json, and the version", async () => {
    project = createProject({ tasks: ["one", "two"] });
    const shown = jsonLines((await project.ralph("run", "--json")).stdout);
    const events = await project.events();
    expect(events.map(({ v, ...event }) => [v, event])).toEqual(
      shown.map((event) => [expect.any(Number), event]),
    );
    const some = jsonLines((await project.ralph("history", "--jsonl", "--task", "two")).stdout);
    expect(some.length).toBeGreaterThan(3);
    expect(new Set(some.map((event) => event["task"]))).toEqual(new Set(["two"]));
  });
});

function withoutPlan(line: string): string {
  const { plan: _, ...event } = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify(event);
}

function newer(line: string): string {
  return JSON.stringify({ ...(JSON.parse(line) as object), v: 99 });
}
