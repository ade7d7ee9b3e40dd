import { chmodSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

describe.each([
  ["a small repository", 1_000_000],
  ["a big one", 0],
])("committing a mark in %s", (_size, bigIndexBytes) => {
  let repository: TemporaryRepository;
  let workspace: GitWorkspace;

  const workspaceOf = ({ root }: TemporaryRepository): GitWorkspace =>
    createGitWorkspace({ root, ralphDir: ".ralph", bigIndexBytes });
  const commitMark = async (path = "TODO.md", hooks = false): Promise<string | null> =>
    (await workspace.commitMark({ ...requestFrom(await workspace.snapshot(), path), hooks, path }))?.commit ??
    null;

  beforeEach(() => {
    repository = temporaryRepository();
    workspace = workspaceOf(repository);
    repository.write("TODO.md", "- [ ] one\n");
    repository.commit();
    repository.write("TODO.md", "- [x] one\n");
  });
  afterEach(() => repository.dispose());

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

  test("takes it again after every change, with a line in the log of references", async () => {
    for (const text of ["- [x] one\n- [ ] two\n", "- [x] one\n- [x] two\n"]) {
      repository.write("TODO.md", text);
      const commit = await commitMark();
      expect(commit).toBe(repository.git("rev-parse", "HEAD"));
      expect(repository.git("show", "HEAD:TODO.md")).toBe(text.trimEnd());
      expect(repository.git("status", "--porcelain")).toBe("");
    }
    expect(repository.git("reflog", "-1", "--format=%gs")).toBe("commit: ralph(task-001): mark done");
    expect(repository.git("rev-list", "--count", "HEAD")).toBe("4");
  });

  test("finds the commit of a process that died before it could record it", async () => {
    const parent = repository.git("rev-parse", "HEAD");
    const request = { ...requestFrom(await workspace.snapshot(), "TODO.md"), path: "TODO.md" };
    const first = await workspace.commitMark(request);
    expect(first).toEqual({ commit: repository.git("rev-parse", "HEAD"), parent });
    expect(await workspaceOf(repository).commitMark(request)).toEqual(first);
    expect(await workspaceOf(repository).commitMark({ ...request, iteration: 2 })).toBeNull();
  });

  test("is done by a second call when the first died before its commit", async () => {
    repository.git("update-index", "TODO.md");
    expect(await commitMark()).not.toBeNull();
    expect(repository.git("status", "--porcelain")).toBe("");
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

  test.each(["--assume-unchanged", "--skip-worktree"])(
    "leaves a file alone that the operator keeps private by %s",
    async (flag) => {
      repository.git("update-index", flag, "TODO.md");
      expect(await commitMark()).toBeNull();
      expect(repository.git("show", "HEAD:TODO.md")).toBe("- [ ] one");
    },
  );

  test("leaves a file alone that is in conflict, though no merge is under way", async () => {
    await commitMark();
    repository.write("TODO.md", "- [x] one\n- [x] two\n");
    repository.git("stash", "--quiet");
    repository.write("TODO.md", "- [ ] another\n");
    repository.commit();
    const head = repository.git("rev-parse", "HEAD");
    expect(() => repository.git("stash", "pop", "--quiet")).toThrow("stash");
    await workspace.collect(requestFrom(await workspace.snapshot(), "TODO.md"));
    expect(await commitMark()).toBeNull();
    expect(repository.git("rev-parse", "HEAD")).toBe(head);
    expect(repository.git("status", "--porcelain", "TODO.md")).toBe("UU TODO.md");
  });

  test("goes on when the agent stops tracking the file in the middle of a run", async () => {
    await commitMark();
    repository.git("rm", "--quiet", "--cached", "TODO.md");
    repository.git("commit", "--quiet", "--message", "untracked");
    repository.write("TODO.md", "- [x] one\n- [x] two\n");
    expect(await commitMark()).not.toBeNull();
    expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe("TODO.md");
  });

  test("adds a file that was not tracked yet, also as the first commit", async () => {
    repository.write("tasks [1]*.md", "- [x] one\n");
    repository.write("tasks 1.md", "- [x] one\n");
    expect(await commitMark("tasks [1]*.md")).not.toBeNull();
    expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe("tasks [1]*.md");
    const unborn = temporaryRepository({ unborn: true });
    unborn.write("TODO.md", "- [x] one\n");
    const request = { ...requestFrom({ head: null, branch: "main" }, "TODO.md"), path: "TODO.md" };
    expect((await workspaceOf(unborn).commitMark(request))?.commit).toBe(unborn.git("rev-parse", "HEAD"));
    unborn.dispose();
  });

  test("is the first commit of a repository that has only staged it", async () => {
    const unborn = temporaryRepository({ unborn: true });
    unborn.write("TODO.md", "- [x] one\n");
    unborn.git("add", "TODO.md");
    const request = { ...requestFrom({ head: null, branch: "main" }, "TODO.md"), path: "TODO.md" };
    expect((await workspaceOf(unborn).commitMark(request))?.commit).toBe(unborn.git("rev-parse", "HEAD"));
    unborn.dispose();
  });

  test("works on a detached HEAD, and on a branch of a linked work tree", async () => {
    repository.git("checkout", "--quiet", "--detach");
    expect(await commitMark()).toBe(repository.git("rev-parse", "HEAD"));
    expect(repository.git("rev-parse", "main")).not.toBe(repository.git("rev-parse", "HEAD"));
    const root = join(repository.root, "..", "lane");
    repository.git("worktree", "add", "--quiet", "-b", "lane", root);
    repository.write("../lane/TODO.md", "- [x] one\n- [x] two\n");
    const lane = createGitWorkspace({ root, ralphDir: ".ralph", bigIndexBytes });
    const request = { ...requestFrom(await lane.snapshot(), "TODO.md"), path: "TODO.md" };
    expect((await lane.commitMark(request))?.commit).toBe(repository.git("rev-parse", "lane"));
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
