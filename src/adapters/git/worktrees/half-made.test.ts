import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Worktrees } from "../../../engine/parallel-ports.ts";
import { createWorktrees } from "./git-worktrees.ts";
import { newRecord, writeRecord } from "./registry.ts";

let repository: TemporaryRepository;
let place: string;
let root: string;
let gitDir: string;
let worktrees: Worktrees;

beforeEach(() => {
  repository = temporaryRepository();
  const stateHome = join(dirname(repository.root), "state");
  place = join(stateHome, "ralph/id");
  root = join(place, "a");
  gitDir = join(repository.root, ".git/worktrees/a");
  worktrees = createWorktrees({
    root: repository.root,
    stateHome,
    projectId: "id",
    include: [],
    setup: "",
    env: process.env,
    redact: (text) => text,
  });
});
afterEach(() => repository.dispose());

function gitIn(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trimEnd();
}

/** As git leaves it when it is killed after it has written its own files, before or while it writes the project's. */
function addHalf(): void {
  repository.git("worktree", "add", "--quiet", "--no-checkout", "-b", "ralph/a", root);
}

async function expectMended(): Promise<void> {
  expect(await worktrees.open("a", "main")).toMatchObject({ is: "ready", root });
  expect(gitIn("status", "--porcelain", "--branch")).toBe("## ralph/a");
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("# A project\n");
  expect(existsSync(join(gitDirNow(), "locked"))).toBe(false);
  gitIn("commit", "--quiet", "--allow-empty", "--message", "an agent's");
  expect(repository.git("branch", "--show-current")).toBe("main");
}

function gitDirNow(): string {
  return gitIn("rev-parse", "--absolute-git-dir");
}

test("a file that a dead process was writing in it does not keep it", async () => {
  await worktrees.open("a", "main");
  const { pid: dead } = spawnSync("true");
  mkdirSync(join(root, ".ralph"));
  writeFileSync(join(root, ".ralph", `.ralph-tmp-${dead}-clock`), "");
  expect(await worktrees.remove("a")).toBe(false);
  await worktrees.clearLeftovers();
  expect(await worktrees.remove("a")).toBe(true);
});

test("before any file", async () => {
  addHalf();
  await expectMended();
  expect(readdirSync(place)).toEqual(["a"]);
});

test("before any file, and locked by git", async () => {
  addHalf();
  writeFileSync(join(gitDir, "locked"), "initializing");
  await expectMended();
  expect(readdirSync(place)).toEqual(["a"]);
});

test("before it knew its commit", async () => {
  addHalf();
  writeFileSync(join(gitDir, "locked"), "initializing");
  writeFileSync(join(gitDir, "HEAD"), `${"0".repeat(40)}\n`);
  await expectMended();
});

test("between two files, by git alone: what is there is set aside", async () => {
  addHalf();
  writeFileSync(join(gitDir, "locked"), "initializing");
  writeFileSync(join(gitDir, "index.lock"), "");
  writeFileSync(join(root, "README.md"), "# A pro");
  await expectMended();
  expect(readdirSync(place).toSorted()).toEqual(["a", "a~aside-1"]);
});

test("between two files, by us: they are written again", async () => {
  addHalf();
  writeRecord({ root, gitDir }, newRecord("a"));
  writeFileSync(join(gitDir, "index.lock"), "");
  writeFileSync(join(root, "README.md"), "# A pro");
  await expectMended();
  expect(readdirSync(place)).toEqual(["a"]);
});

test("after the last file, before git unlocked it", async () => {
  addHalf();
  gitIn("reset", "--hard", "--quiet");
  writeFileSync(join(gitDir, "locked"), "initializing");
  await expectMended();
});

test("before the folder had a link to the repository", async () => {
  addHalf();
  writeFileSync(join(gitDir, "locked"), "initializing");
  rmSync(join(root, ".git"));
  rmSync(join(gitDir, "HEAD"));
  await expectMended();
  expect(readdirSync(place)).toEqual(["a"]);
});

test("before the repository knew the folder", async () => {
  mkdirSync(gitDir, { recursive: true });
  writeFileSync(join(gitDir, "locked"), "initializing");
  await expectMended();
});

test("after the branch was made", async () => {
  repository.git("branch", "ralph/a");
  await expectMended();
});

test("while it was removed", async () => {
  await worktrees.open("a", "main");
  execFileSync("mv", [root, `${root}~removed-999999999-1`]);
  await expectMended();
  await worktrees.clearLeftovers();
  expect(readdirSync(place)).toEqual(["a"]);
});

test("half of a worktree holds nothing that could be lost", async () => {
  addHalf();
  expect(await worktrees.list()).toMatchObject([{ task: "a", head: null, isDirty: false }]);
  expect(await worktrees.remove("a")).toBe(true);
});

test("locks that a killed git left are removed", async () => {
  await worktrees.open("a", "main");
  const locks = ["index.lock", "HEAD.lock"].map((name) => join(gitDir, name));
  for (const lock of locks) writeFileSync(lock, "");
  await expectMended();
  expect(locks.filter((lock) => existsSync(lock))).toEqual([]);
});

test("locks on what all worktrees share may be those of a git in another one, and stay", async () => {
  const shared = join(repository.root, ".git/packed-refs.lock");
  writeFileSync(shared, "");
  await expectMended();
  await worktrees.open("a", "main");
  expect(existsSync(shared)).toBe(true);
});

test("an index that is gone is made again, and work in the files stays", async () => {
  await worktrees.open("a", "main");
  writeFileSync(join(root, "README.md"), "half done\n");
  rmSync(join(gitDir, "index"));
  await worktrees.open("a", "main");
  expect(gitIn("status", "--porcelain")).toBe(" M README.md");
});

test("files without an index or a record of ours may be somebody's work, and stay", async () => {
  addHalf();
  writeFileSync(join(root, "README.md"), "half done\n");
  await worktrees.open("a", "main");
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("half done\n");
});

test.each(["", "null", "{}", '{"task":1}', "[", '{"copied":[null]}'])(
  "a record that says %j is none of ours",
  async (text) => {
    await worktrees.open("a", "main");
    writeFileSync(join(gitDir, "ralph-worktree.json"), text);
    expect(await worktrees.list()).toMatchObject([{ task: "a", isDirty: false }]);
    await expectMended();
  },
);

test("what git knew of one is removed as a whole, also by a process that was killed half-way", async () => {
  await worktrees.open("a", "main");
  renameSync(gitDir, `${gitDir}~ralph-removed`);
  rmSync(join(`${gitDir}~ralph-removed`, "gitdir"));
  rmSync(root, { recursive: true });
  await worktrees.clearLeftovers();
  expect(existsSync(dirname(gitDir))).toBe(false);
  expect(await worktrees.open("a", "main")).toMatchObject({ is: "ready", root });
});
