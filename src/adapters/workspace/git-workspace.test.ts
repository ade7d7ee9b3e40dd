import { spawn } from "node:child_process";
import { chmodSync, existsSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;

beforeEach(() => {
  repository = temporaryRepository();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
});
afterEach(() => repository.dispose());

async function commitMark(path = "TODO.md", hooks = false): Promise<string | null> {
  return workspace.commitMark({ ...requestFrom(await workspace.snapshot(), path), hooks, path });
}

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

describe("committing a mark", () => {
  beforeEach(() => {
    repository.write("TODO.md", "- [ ] one\n");
    repository.commit();
    repository.write("TODO.md", "- [x] one\n");
  });

  test("takes that file alone; what else is staged stays staged", async () => {
    repository.write("staged.txt", "one\n");
    repository.git("add", "staged.txt");
    repository.write("src/main.ts", "changed\n");
    const commit = await commitMark();
    expect(commit).toBe(repository.git("rev-parse", "HEAD"));
    expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe("TODO.md");
    expect(repository.git("status", "--porcelain").split("\n")).toEqual([" M src/main.ts", "A  staged.txt"]);
    expect(repository.git("log", "-1", "--format=%s%n%(trailers)")).toContain("ralph(task-001): mark done");
    expect(repository.git("log", "-1", "--format=%(trailers:key=Ralph-Iteration,valueonly)").trim()).toBe(
      "1",
    );
  });

  test("has nothing to do when the file is unchanged, ignored, deleted or outside", async () => {
    repository.git("checkout", "--quiet", "TODO.md");
    expect(await commitMark()).toBeNull();
    repository.write(".git/info/exclude", "private.md\n");
    repository.write("private.md", "- [x] one\n");
    expect(await commitMark("private.md")).toBeNull();
    repository.remove("TODO.md");
    expect(await commitMark()).toBeNull();
  });

  test("adds a file that was not tracked yet, also as the first commit", async () => {
    repository.write("tasks [1]*.md", "- [x] one\n");
    repository.write("tasks 1.md", "- [x] one\n");
    expect(await commitMark("tasks [1]*.md")).not.toBeNull();
    expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe("tasks [1]*.md");
    const unborn = temporaryRepository({ unborn: true });
    unborn.write("TODO.md", "- [x] one\n");
    const fresh = createGitWorkspace({ root: unborn.root, ralphDir: ".ralph" });
    const request = { ...requestFrom({ head: null, branch: "main" }, "TODO.md"), path: "TODO.md" };
    expect(await fresh.commitMark(request)).toBe(unborn.git("rev-parse", "HEAD"));
    unborn.dispose();
  });

  test("commits the real file when the task source is a link to it", async () => {
    repository.write("docs/plan.md", "- [ ] one\n");
    symlinkSync("docs/plan.md", join(repository.root, "PLAN.md"));
    repository.commit();
    const from = await workspace.snapshot();
    repository.write("docs/plan.md", "- [x] one\n");
    expect((await workspace.collect(requestFrom(from, "PLAN.md"))).changed.files).toBe(0);
    expect(await commitMark("PLAN.md")).not.toBeNull();
    expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe("docs/plan.md");
  });

  test("waits for the end of a merge rather than becoming it", async () => {
    repository.git("stash", "--quiet");
    repository.git("checkout", "--quiet", "-b", "other");
    repository.write("other.txt", "one\n");
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    repository.git("merge", "--quiet", "--no-commit", "--no-ff", "other");
    repository.write("TODO.md", "- [x] one\n");
    expect(await commitMark()).toBeNull();
    expect(existsSync(join(repository.root, ".git/MERGE_HEAD"))).toBe(true);
  });

  test("is left uncommitted by a hook that refuses, if hooks are wanted", async () => {
    repository.write(".git/hooks/commit-msg", "#!/bin/sh\nexit 1\n");
    chmodSync(join(repository.root, ".git/hooks/commit-msg"), 0o755);
    expect(await commitMark("TODO.md", true)).toBeNull();
    expect(await commitMark("TODO.md", false)).not.toBeNull();
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
