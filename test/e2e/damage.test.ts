import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

describe("a damaged state file", () => {
  test.each([
    ["full of garbage", (file: string) => writeFileSync(file, Buffer.alloc(40_000, "garbage"))],
    ["cut in half", (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2))],
  ])("%s is set aside and said so, and no number is used again", async (_how, damage) => {
    project = createProject({ tasks: ["one", "two"] });
    await project.ralph("run", "--task", "one");
    damage(join(project.root, ".git/ralph/state.db"));
    const run = await project.ralph("run");
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/^ralph: .*damaged.*set aside/);
    expect(
      readdirSync(join(project.root, ".git/ralph")).some((name) => name.startsWith("state.db.corrupt-")),
    ).toBe(true);
    expect((await project.history()).map((entry) => entry.iteration)).toEqual([2]);
    expect(exists(project, ".ralph/logs/iteration-001.log")).toBe(true);
    expect(project.read(".ralph/logs/summary.csv").trim().split("\n")).toHaveLength(2);
    expect(readdirSync(join(project.root, ".ralph/logs")).join()).toMatch(/summary\.csv\.before-/);
  });

  test("whose damage nobody has met yet is found by doctor", async () => {
    project = createProject({ tasks: ["one", "two"] });
    await project.ralph("run");
    const file = join(project.root, ".git/ralph/state.db");
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length - 6_000));
    const doctor = await project.ralph("doctor");
    expect(doctor.stdout).toMatch(/✗ state: .*damaged.*set aside/);
    expect(doctor.code).toBe(1);
    expect((await project.ralph("doctor")).stdout).toContain("✔ state");
  });
});

test("a state file of a newer version is refused and not touched", async () => {
  project = createProject();
  await project.ralph("run");
  const file = join(project.root, ".git/ralph/state.db");
  const db = new Database(file);
  db.exec("CREATE TABLE later (x); PRAGMA user_version = 99");
  db.close();
  const run = await project.ralph("run");
  expect(run.code).toBe(64);
  expect(run.stderr).toMatch(/newer/);
  const after = new Database(file, { readonly: true });
  expect(after.pragma("user_version", { simple: true })).toBe(99);
  after.close();
});
