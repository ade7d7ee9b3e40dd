import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Worktrees } from "../../../engine/parallel-ports.ts";
import { createWorktrees, type WorktreesOptions } from "./git-worktrees.ts";

let repository: TemporaryRepository;
let place: string;
let worktrees: Worktrees;
let before: Map<string, string>;

function create(more: Partial<WorktreesOptions> = {}): Worktrees {
  const stateHome = join(dirname(repository.root), "state");
  const { env } = process;
  const options = { root: repository.root, stateHome, projectId: "id", include: [], setup: "", env };
  return createWorktrees({ ...options, redact: (text) => text, ...more });
}

beforeEach(() => {
  repository = temporaryRepository();
  place = join(dirname(repository.root), "state/ralph/id");
  repository.write("notes.txt", "mine, uncommitted\n");
  repository.write("src/main.ts", "changed, uncommitted\n");
  repository.git("add", "notes.txt");
  worktrees = create();
  before = lookAtCheckout();
});
afterEach(() => {
  expect(lookAtCheckout()).toEqual(before);
  repository.dispose();
});

/** Files, HEAD, index and configuration of the user's checkout, byte for byte. */
function lookAtCheckout(): Map<string, string> {
  const files = readdirSync(repository.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/\.git\/(?!HEAD$|index$|config$|ORIG_HEAD$)/.test(path));
  return new Map(files.map((path) => [path, readFileSync(path, "latin1")]));
}

function gitIn(root: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trimEnd();
}

function read(...path: string[]): string {
  return readFileSync(join(...path), "utf8");
}

describe("open", () => {
  test("makes a checkout of the base on a branch of its own", async () => {
    const head = repository.git("rev-parse", "HEAD");
    const opened = await worktrees.open("TASK-001", "main");
    const root = join(place, "TASK-001");
    expect(opened).toEqual({ is: "ready", root, branch: "ralph/TASK-001", copied: [] });
    expect(gitIn(root, "status", "--porcelain", "--branch")).toBe("## ralph/TASK-001");
    expect(gitIn(root, "rev-parse", "HEAD")).toBe(head);
    expect(read(root, "src/main.ts")).toContain("42");
  });

  test("an agent can commit there", async () => {
    const { root } = await worktrees.open("a", "main");
    writeFileSync(join(root, "new.txt"), "x");
    gitIn(root, "add", "--all");
    gitIn(root, "commit", "--quiet", "--message", "work");
    expect(repository.git("log", "--format=%s", "ralph/a")).toBe("work\nfirst");
    expect(await worktrees.list()).toMatchObject([
      { head: gitIn(root, "rev-parse", "HEAD"), isDirty: false },
    ]);
  });

  test("a checkout that is there is taken up as it was left", async () => {
    const { root } = await worktrees.open("a", "main");
    writeFileSync(join(root, "README.md"), "half done\n");
    writeFileSync(join(root, "new.txt"), "x");
    gitIn(root, "add", "new.txt");
    gitIn(root, "switch", "--quiet", "--detach");
    expect(await create().open("a", "main")).toMatchObject({ is: "ready", root, branch: "ralph/a" });
    expect(gitIn(root, "status", "--porcelain")).toBe(" M README.md\nA  new.txt");
  });

  test("a branch that is there is taken up as it is, whatever the base", async () => {
    repository.git("branch", "other");
    repository.git("update-ref", "refs/heads/ralph/a", commitOn("main", "earlier work"));
    const { root } = await worktrees.open("a", "other");
    expect(gitIn(root, "log", "-1", "--format=%s")).toBe("earlier work");
  });

  test("a folder that was deleted is made again", async () => {
    const { root } = await worktrees.open("a", "main");
    gitIn(root, "commit", "--quiet", "--allow-empty", "--message", "work");
    rmSync(root, { recursive: true });
    await worktrees.open("a", "main");
    expect(gitIn(root, "log", "-1", "--format=%s")).toBe("work");
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(2);
  });

  test("worktrees of the user's whose folder is not there now stay known", async () => {
    const other = join(dirname(repository.root), "unplugged");
    repository.git("worktree", "add", "--quiet", "-b", "theirs", other);
    rmSync(other, { recursive: true });
    const { root } = await worktrees.open("a", "main");
    rmSync(root, { recursive: true });
    await worktrees.open("a", "main");
    await worktrees.clearLeftovers();
    expect(repository.git("worktree", "list")).toContain(other);
  });

  test.each([
    [
      "a folder",
      (root: string) => (mkdirSync(root, { recursive: true }), writeFileSync(join(root, "x"), "precious")),
    ],
    [
      "a file",
      (root: string) => (mkdirSync(dirname(root), { recursive: true }), writeFileSync(root, "precious")),
    ],
    [
      "another repository",
      (root: string) => (mkdirSync(root, { recursive: true }), gitIn(root, "init", "--quiet")),
    ],
  ])("%s in the way is set aside", async (_what, put) => {
    const root = join(place, "a");
    put(root);
    expect(await worktrees.open("a", "main")).toMatchObject({ is: "ready", root });
    expect(readdirSync(place).toSorted()).toEqual(["a", "a~aside-1"]);
    expect(gitIn(root, "status", "--porcelain", "--branch")).toBe("## ralph/a");
    expect(await worktrees.list()).toHaveLength(1);
  });

  test("a checkout whose link to the repository was replaced is set aside, and made again", async () => {
    const { root } = await worktrees.open("a", "main");
    writeFileSync(join(root, "new.txt"), "precious");
    rmSync(join(root, ".git"));
    gitIn(root, "init", "--quiet");
    await worktrees.open("a", "main");
    expect(gitIn(root, "status", "--porcelain", "--branch")).toBe("## ralph/a");
    expect(read(place, "a~aside-1/new.txt")).toBe("precious");
  });

  test("a branch that the user has checked out is refused", async () => {
    const other = join(dirname(repository.root), "other");
    repository.git("worktree", "add", "--quiet", "-b", "ralph/a", other);
    await expect(worktrees.open("a", "main")).rejects.toMatchObject({
      code: "not-writable",
      message: `the branch ralph/a is checked out in ${other}`,
      hint: `check out another branch there, for instance: git -C ${other} switch --detach`,
    });
    expect(existsSync(join(place, "a"))).toBe(false);
  });

  test("a branch that was checked out in a folder that is gone is free", async () => {
    const other = join(dirname(repository.root), "other");
    repository.git("worktree", "add", "--quiet", "-b", "ralph/a", other);
    rmSync(other, { recursive: true });
    expect(await worktrees.open("a", "main")).toMatchObject({ is: "ready" });
  });

  test.each(["ralph", "ralph/a/b"])("a branch %s is in the way", async (name) => {
    repository.git("branch", name);
    await expect(worktrees.open("a", "main")).rejects.toMatchObject({
      message: `the branch ${name} is in the way of the branch ralph/a`,
      hint: `git cannot have both; rename it: git branch -m ${name} another-name`,
    });
  });

  test("a base that is none is told", async () => {
    await expect(worktrees.open("a", "nowhere")).rejects.toThrow('"nowhere" is not a commit');
  });

  test("hooks do not run, and a base on a remote is not followed", async () => {
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD");
    const hook = join(repository.root, ".git/hooks/post-checkout");
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(dirname(repository.root), "ran")}\n`);
    chmodSync(hook, 0o755);
    await worktrees.open("a", "refs/remotes/origin/main");
    expect(existsSync(join(dirname(repository.root), "ran"))).toBe(false);
  });

  test("an index that the environment names is not written", async () => {
    process.env["GIT_INDEX_FILE"] = join(repository.root, ".git/index");
    try {
      await worktrees.open("a", "main");
      expect(await worktrees.list()).toMatchObject([{ isDirty: false }]);
    } finally {
      delete process.env["GIT_INDEX_FILE"];
    }
    expect(gitIn(join(place, "a"), "status", "--porcelain")).toBe("");
  });

  test("submodules stay empty, and do not keep it", async () => {
    const tree = `160000 commit ${repository.git("rev-parse", "HEAD")}\tlibrary\n`;
    const made = execFileSync("git", ["mktree"], {
      cwd: repository.root,
      input: tree,
      encoding: "utf8",
    }).trim();
    repository.git("branch", "modular", repository.git("commit-tree", "-m", "a submodule", made));
    const { root } = await worktrees.open("a", "modular");
    expect(readdirSync(join(root, "library"))).toEqual([]);
    expect(await worktrees.remove("a")).toBe(true);
  });

  test("many at once", async () => {
    const tasks = Array.from({ length: 8 }, (_, at) => `T ${at}`);
    const opened = await Promise.all(tasks.map((task) => worktrees.open(task, "main")));
    expect(opened.every(({ is }) => is === "ready")).toBe(true);
    const entries = await worktrees.list();
    expect(entries.map(({ task }) => task).toSorted()).toEqual(tasks);
    expect(entries.some(({ isDirty }) => isDirty)).toBe(false);
    expect(await Promise.all(tasks.map((task) => worktrees.remove(task)))).not.toContain(false);
    expect(readdirSync(place)).toEqual([]);
  });

  test("the same one twice at once", async () => {
    const [one, other] = await Promise.all([worktrees.open("a", "main"), create().open("a", "main")]);
    expect(one).toEqual(other);
  });

  test("the user's checkout may be a linked worktree itself", async () => {
    const lane = join(dirname(repository.root), "lane");
    repository.git("worktree", "add", "--quiet", "-b", "lane", lane);
    writeFileSync(join(lane, ".env"), "SECRET=1");
    const fromLane = create({ root: lane, include: [".env"] });
    const { root } = await fromLane.open("a", "lane");
    expect(realpathSync(root)).toBe(join(place, "a"));
    expect(read(root, ".env")).toBe("SECRET=1");
    expect(gitIn(lane, "status", "--porcelain")).toBe("?? .env");
    expect(await fromLane.list()).toHaveLength(1);
  });

  test("where case does not count, tasks whose ids differ in nothing else have folders of their own", async () => {
    repository.git("config", "core.ignorecase", "true");
    before = lookAtCheckout();
    const opened = await Promise.all(["login", "Login"].map((task) => worktrees.open(task, "main")));
    expect(new Set(opened.map(({ root }) => root.toLowerCase())).size).toBe(2);
    expect((await worktrees.list()).map(({ task }) => task).toSorted()).toEqual(["Login", "login"]);
  });

  test("a place inside of the checkout is refused", async () => {
    const inside = create({ stateHome: join(repository.root, "state") });
    await expect(inside.open("a", "main")).rejects.toThrow("inside the checkout");
    await expect(inside.list()).rejects.toThrow("inside the checkout");
  });
});

describe("remove", () => {
  test("leaves nothing but the branch", async () => {
    const { root } = await worktrees.open("a", "main");
    expect(await worktrees.remove("a")).toBe(true);
    expect(existsSync(root)).toBe(false);
    expect(readdirSync(place)).toEqual([]);
    expect(existsSync(join(repository.root, ".git/worktrees"))).toBe(false);
    expect(repository.git("branch", "--list", "ralph/*")).toContain("ralph/a");
    expect(await worktrees.remove("a")).toBe(true);
  });

  test.each([
    ["a change", (root: string) => writeFileSync(join(root, "README.md"), "x")],
    ["something staged", (root: string) => gitIn(root, "rm", "--quiet", "README.md")],
    ["an untracked file", (root: string) => writeFileSync(join(root, "new.txt"), "x")],
    [
      "a commit that is on no branch",
      (root: string) => {
        gitIn(root, "switch", "--quiet", "--detach");
        gitIn(root, "commit", "--quiet", "--allow-empty", "--message", "lost?");
      },
    ],
    ["a person's lock", (root: string) => gitIn(root, "worktree", "lock", root)],
    [
      "an index that git cannot read",
      (root: string) => writeFileSync(join(gitDirOf(root), "index"), "broken"),
    ],
  ])("%s keeps it, unless it is forced", async (_what, spoil) => {
    const { root } = await worktrees.open("a", "main");
    spoil(root);
    expect(await worktrees.remove("a")).toBe(false);
    expect(existsSync(join(root, "src/main.ts"))).toBe(true);
    expect(await worktrees.remove("a", { force: true })).toBe(true);
    expect(readdirSync(place)).toEqual([]);
  });

  test("ignored files do not keep it, also in folders that nobody may write to", async () => {
    const { root } = await worktrees.open("a", "main");
    writeFileSync(join(root, ".gitignore"), "build/\n");
    gitIn(root, "add", "--all");
    gitIn(root, "commit", "--quiet", "--message", "ignore");
    mkdirSync(join(root, "build/cache"), { recursive: true });
    writeFileSync(join(root, "build/cache/x"), "x");
    chmodSync(join(root, "build/cache"), 0o500);
    expect(await worktrees.remove("a")).toBe(true);
    expect(readdirSync(place)).toEqual([]);
  });

  test("a folder that is no worktree is not ours to remove", async () => {
    mkdirSync(join(place, "a"), { recursive: true });
    expect(await worktrees.remove("a", { force: true })).toBe(false);
    expect(existsSync(join(place, "a"))).toBe(true);
  });
});

test("list leaves out what is removed meanwhile", async () => {
  for (const task of ["a", "b"]) await worktrees.open(task, "main");
  const [entries] = await Promise.all([worktrees.list(), worktrees.remove("b")]);
  expect(entries.map(({ task }) => task)).toContain("a");
});

test("list tells the ids of tasks, also of those whose names had to be changed", async () => {
  expect(await worktrees.list()).toEqual([]);
  const { root, branch } = await worktrees.open("a b/c", "main");
  writeFileSync(join(root, "new.txt"), "x");
  const head = repository.git("rev-parse", "main");
  expect(await worktrees.list()).toEqual([{ task: "a b/c", root, branch, head, isDirty: true }]);
});

function gitDirOf(root: string): string {
  return gitIn(root, "rev-parse", "--absolute-git-dir");
}

function commitOn(base: string, message: string): string {
  return repository.git("commit-tree", "-p", base, "-m", message, `${base}^{tree}`);
}
