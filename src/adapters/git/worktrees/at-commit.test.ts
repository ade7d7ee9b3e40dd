import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Worktrees } from "../../../engine/parallel-ports.ts";
import { createWorktrees, type WorktreesOptions } from "./git-worktrees.ts";

let repository: TemporaryRepository;
let place: string;
let worktrees: Worktrees;
let head: string;

beforeEach(() => {
  repository = temporaryRepository();
  place = join(dirname(repository.root), "state/ralph/id");
  head = repository.git("rev-parse", "HEAD");
  worktrees = create({});
});
afterEach(() => repository.dispose());

function create(more: Partial<WorktreesOptions>): Worktrees {
  const stateHome = join(dirname(repository.root), "state");
  const options = { root: repository.root, stateHome, projectId: "id", include: [], setup: "" };
  return createWorktrees({ ...options, env: process.env, redact: (text) => text, ...more });
}

function expectNothingLeft(): void {
  expect(readdirSync(place)).toEqual([]);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
}

test("is a checkout of the commit, set up, and gone afterwards", async () => {
  const used = await create({ setup: "echo done > setup.log" }).at(head.slice(0, 10), async (opened) => {
    expect(opened).toMatchObject({ is: "ready", copied: [] });
    expect(dirname(opened.root)).toBe(place);
    expect(readFileSync(join(opened.root, "setup.log"), "utf8")).toBe("done\n");
    expect(await worktrees.list()).toEqual([]);
    writeFileSync(join(opened.root, "README.md"), "changed");
    return execFileSync("git", ["rev-parse", "HEAD"], { cwd: opened.root, encoding: "utf8" }).trim();
  });
  expect(used).toBe(head);
  expectNothingLeft();
});

test("is gone when its use fails", async () => {
  const use = worktrees.at("main", () => Promise.reject(new Error("in vain")));
  await expect(use).rejects.toThrow("in vain");
  expectNothingLeft();
});

test("its use is told that the set-up failed", async () => {
  const opened = await create({ setup: "exit 3" }).at("main", (opened) => Promise.resolve(opened));
  expect(opened).toMatchObject({ is: "failed", why: 'the set-up "exit 3" failed with exit code 3' });
  expectNothingLeft();
});

test("several of the same commit at once", async () => {
  const all = Array.from({ length: 4 }, () => worktrees.at(head, ({ root }) => Promise.resolve(root)));
  expect(new Set(await Promise.all(all)).size).toBe(4);
  expectNothingLeft();
});

test("what is no commit is told", async () => {
  await expect(worktrees.at("nothing", () => Promise.resolve())).rejects.toThrow('"nothing" is not a commit');
});

test("leftovers of dead processes are removed, those of the living stay", async () => {
  const dead = spawnSync("true").pid;
  const stem = `@${head.slice(0, 12)}`;
  const leftBehind = [`${stem}-${dead}-1`, `${stem}-${process.pid}-7`].map((name) => join(place, name));
  for (const root of leftBehind) repository.git("worktree", "add", "--quiet", "--detach", root);
  const folders = [`${stem}-${dead}-2`, `a~removed-${dead}-1`, `a~removed-${process.pid}-1`];
  for (const name of folders) mkdirSync(join(place, name, "deep"), { recursive: true });
  const living = `${stem}-${process.ppid}-1`;
  repository.git("worktree", "add", "--quiet", "--detach", join(place, living));
  const staying = ["a~aside-1", "removed-1-1"];
  for (const name of staying) mkdirSync(join(place, name));
  await worktrees.at(head, async ({ root }) => {
    await create({}).clearLeftovers();
    expect(readdirSync(place).toSorted()).toEqual([...staying, living, basename(root)].toSorted());
  });
  expect(existsSync(join(place, living, "README.md"))).toBe(true);
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(2);
});

test("clearing forgets folders that are gone, and leaves tasks alone", async () => {
  const gone = await worktrees.open("gone", "main");
  const { root } = await worktrees.open("a", "main");
  writeFileSync(join(root, "new.txt"), "x");
  rmSync(gone.root, { recursive: true });
  await worktrees.clearLeftovers();
  await worktrees.clearLeftovers();
  expect((await worktrees.list()).map(({ task }) => task)).toEqual(["a"]);
  expect(readFileSync(join(root, "new.txt"), "utf8")).toBe("x");
  expect(repository.git("worktree", "list").split("\n")).toHaveLength(2);
});
