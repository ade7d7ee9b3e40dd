import { spawn, spawnSync } from "node:child_process";
import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;

beforeEach(() => {
  repository = temporaryRepository();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
});
afterEach(() => repository.dispose());

describe("a snapshot", () => {
  test("has HEAD and the branch", async () => {
    expect(await workspace.snapshot()).toEqual({ head: repository.git("rev-parse", "HEAD"), branch: "main" });
  });

  test("is the same when the references are packed, on branches with slashes and accents", async () => {
    repository.git("checkout", "--quiet", "-b", "feature/übung");
    const loose = await workspace.snapshot();
    expect(loose.branch).toBe("feature/übung");
    repository.git("pack-refs", "--all");
    expect(await workspace.snapshot()).toEqual(loose);
  });

  test("has no branch when HEAD is detached", async () => {
    repository.git("checkout", "--quiet", "--detach");
    expect(await workspace.snapshot()).toEqual({ head: repository.git("rev-parse", "HEAD"), branch: null });
  });

  test("is of the worktree that it is taken in", async () => {
    const root = join(repository.root, "..", "worktree");
    repository.git("worktree", "add", "--quiet", "-b", "lane", root);
    const lane = createGitWorkspace({ root, ralphDir: ".ralph" });
    expect(await lane.snapshot()).toEqual({ head: repository.git("rev-parse", "HEAD"), branch: "lane" });
  });
});

describe("clearing leftovers", () => {
  const locks = [".git/index.lock", ".git/HEAD.lock", ".git/config.lock", ".git/refs/heads/main.lock"];

  test("removes the locks and copies of a dead process", async () => {
    for (const lock of [...locks, ".git/ralph-index-12ab"]) repository.write(lock, "");
    await workspace.clearLeftovers();
    for (const lock of [...locks, ".git/ralph-index-12ab"])
      expect(existsSync(join(repository.root, lock))).toBe(false);
  });

  test("removes what a dead process of ours was writing, and nothing that a living one writes", async () => {
    const { pid: dead } = spawnSync("true");
    const half = `src/.ralph-tmp-${dead}-0a1b2c3d-main.ts`;
    const own = `.ralph-tmp-${process.pid}-0a1b2c3d-TODO.md`;
    for (const path of [half, own]) repository.write(path, "half");
    await workspace.clearLeftovers();
    expect(existsSync(join(repository.root, half))).toBe(false);
    expect(existsSync(join(repository.root, own))).toBe(true);
  });

  test("leaves them while a git is at work there", async () => {
    for (const lock of locks) repository.write(lock, "");
    const git = spawn("git", ["cat-file", "--batch"], { cwd: join(repository.root, "src"), stdio: "pipe" });
    await new Promise((resolve) => git.once("spawn", resolve));
    await workspace.clearLeftovers();
    for (const lock of locks) expect(existsSync(join(repository.root, lock))).toBe(true);
    git.kill();
    await new Promise((resolve) => git.once("exit", resolve));
  });

  test("happens by itself when an agent was killed in the middle of git add", async () => {
    const from = await workspace.snapshot();
    repository.write("a.txt", "one\n");
    repository.write(".git/index.lock", "");
    const evidence = await workspace.collect(requestFrom(from, "TODO.md"));
    expect(evidence.changed.paths).toEqual(["a.txt"]);
    expect(evidence.uncommitted).toEqual([]);
  });

  test("a lock whose holder lives is an error in one sentence", async () => {
    const from = await workspace.snapshot();
    repository.write("a.txt", "one\n");
    repository.write(".git/index.lock", "");
    const git = spawn("git", ["cat-file", "--batch"], { cwd: repository.root, stdio: "pipe" });
    await new Promise((resolve) => git.once("spawn", resolve));
    await expect(workspace.collect(requestFrom(from, "TODO.md"))).rejects.toMatchObject({
      code: "git-failed",
      message: expect.stringMatching(
        /^git update-index failed: Unable to create '.*index\.lock': File exists\.?$/,
      ),
    });
    git.kill();
    await new Promise((resolve) => git.once("exit", resolve));
  });
});

describe("dirty paths", () => {
  test("are what is uncommitted, without ours and what is ignored", async () => {
    repository.write(".gitignore", "dist/\n");
    repository.write("TODO.md", "- [ ] one\n");
    repository.commit();
    repository.write("dist/a.js", "built\n");
    repository.write("TODO.md", "- [ ] two\n");
    repository.write(".ralph/ralph.toml", "");
    repository.write(".ralph/progress.txt", "");
    repository.write(".ralph-tmp-12ab-TODO.md", "");
    repository.write(".gitignore", "dist/\n# ralph\n.ralph/logs/\n");
    expect(await workspace.dirtyPaths(["TODO.md"])).toEqual([]);
    repository.write("new/a.txt", "");
    repository.write("src/main.ts", "changed\n");
    repository.remove("README.md");
    repository.write(".gitignore", "dist/\n.ralph/logs/\nmine\n");
    expect(await workspace.dirtyPaths(["TODO.md"])).toEqual([
      ".gitignore",
      "README.md",
      "new/a.txt",
      "src/main.ts",
    ]);
  });

  test("a file that was only touched is clean", async () => {
    utimesSync(join(repository.root, "README.md"), 1, 1);
    expect(await workspace.dirtyPaths([])).toEqual([]);
  });

  test("follow the name of our folder", async () => {
    repository.write("tools/loop/status.json", "{}");
    const other = createGitWorkspace({
      root: repository.root,
      ralphDir: join(repository.root, "tools/loop"),
    });
    expect(await other.dirtyPaths([])).toEqual([]);
    expect(await workspace.dirtyPaths([])).toEqual(["tools/loop/status.json"]);
  });
});
