import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Advanced, AdvanceRequest } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

let repository: TemporaryRepository;
let from: string;
let to: string;

/** The base stands at one commit; the next one changes, adds, removes and turns a folder into a file. */
beforeEach(() => {
  repository = temporaryRepository();
  for (const name of ["changed", "removed", "other", "folder/inside", "mode.sh"])
    repository.write(name, `${name}\n`);
  repository.write(".gitignore", "*.log\n");
  from = repository.commit("before");
  repository.git("checkout", "--quiet", "--detach");
  repository.write("changed", "changed now\n");
  repository.write("added", "added\n");
  repository.write("new/ä.txt", "added\n");
  repository.write("kept.log", "added\n");
  repository.remove("removed");
  repository.remove("folder");
  repository.write("folder", "a file now\n");
  chmodSync(join(repository.root, "mode.sh"), 0o755);
  repository.git("add", "--force", "kept.log");
  to = repository.commit("after");
  repository.git("checkout", "--quiet", "main");
});
afterEach(() => repository.dispose());

function advance(over: Partial<AdvanceRequest> = {}): Promise<Advanced> {
  const scratch = join(repository.root, "../scratch");
  const merging = createMerging({ root: repository.root, scratch });
  return merging.advance({ base: "main", from, to, run: "2026-01-01 a:b", iteration: 4, ...over });
}

const git = (...args: string[]): string => repository.git(...args);
const write = (path: string, content: string): void => repository.write(path, content);
const tip = (): string => git("rev-parse", "main");
const backups = (): string => git("for-each-ref", "--format=%(refname) %(objectname)", "refs/ralph");
const BACKUP = "refs/ralph/backup/2026-01-01-a-b/4";

/** Every file with its bytes and mode, the index and all references. */
function everything(root = repository.root): unknown {
  const tree = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path !== ".git" && !path.startsWith(".git/"))
    .toSorted()
    .map((path) => [path, describeFile(join(root, path))]);
  const gitDir = execFileSync("git", ["rev-parse", "--absolute-git-dir"], { cwd: root, encoding: "utf8" });
  return {
    tree,
    index: execFileSync("git", ["ls-files", "--stage", "-v", "-z"], { cwd: root, encoding: "latin1" }),
    head: readFileSync(join(gitDir.trim(), "HEAD"), "utf8"),
    refs: git("for-each-ref"),
  };
}

function describeFile(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  return stats.isDirectory() ? "folder" : `${stats.mode} ${readFileSync(path, "base64")}`;
}

describe("moves", () => {
  test("a base that is not checked out, and no checkout", async () => {
    git("checkout", "--quiet", "-b", "elsewhere");
    write("changed", "a person's\n");
    write("added", "a person's\n");
    const { tree, index, head } = everything() as Record<string, unknown>;
    expect(await advance()).toEqual({ is: "moved" });
    expect(tip()).toBe(to);
    expect(everything()).toMatchObject({ tree, index, head });
    expect(backups()).toBe(`${BACKUP} ${from}`);
  });

  test("a base that is checked out, with its checkout", async () => {
    expect(await advance()).toEqual({ is: "moved" });
    expect(tip()).toBe(to);
    expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(git("status", "--porcelain")).toBe("");
    expect(repository.read("folder")).toBe("a file now\n");
    expect(existsSync(join(repository.root, "removed"))).toBe(false);
    expect(backups()).toBe(`${BACKUP} ${from}`);
    expect(await advance()).toEqual({ is: "moved" });
  });

  test("a base that is checked out elsewhere", async () => {
    git("checkout", "--quiet", "-b", "mine");
    const linked = join(repository.root, "../linked ü");
    git("worktree", "add", "--quiet", linked, "main");
    const { tree, index } = everything() as Record<string, unknown>;
    expect(await advance()).toEqual({ is: "moved" });
    expect(readFileSync(join(linked, "new/ä.txt"), "utf8")).toBe("added\n");
    expect(git("-C", linked, "status", "--porcelain")).toBe("");
    expect(everything()).toMatchObject({ tree, index });
  });

  test("past a checkout whose folder is gone", async () => {
    git("checkout", "--quiet", "-b", "mine");
    const linked = join(repository.root, "../linked");
    git("worktree", "add", "--quiet", linked, "main");
    repository.remove("../linked");
    expect(await advance()).toEqual({ is: "moved" });
    expect(tip()).toBe(to);
  });

  const harmless: Record<string, () => void> = {
    "untracked and ignored files elsewhere": () => (write("mine.txt", "x\n"), write("mine.log", "x\n")),
    "a file that was only touched": () => utimesSync(join(repository.root, "changed"), 1, 1),
    "an empty folder in the place of a new file": () => mkdirSync(join(repository.root, "added")),
    "a submodule with work inside": () => {
      git("init", "--quiet", "sub");
      git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "1");
      git("-c", "advice.addEmbeddedRepo=false", "add", "sub");
      git("commit", "--quiet", "-m", "sub");
      from = tip();
      git("-C", "sub", "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "2");
      write("sub/untracked", "x\n");
      to = git("commit-tree", "-p", from, "-m", "after", `${from}^{tree}`);
    },
  };

  test.each(Object.keys(harmless))("a checkout with %s", async (deed) => {
    harmless[deed]!();
    expect(await advance()).toEqual({ is: "moved" });
    expect(tip()).toBe(to);
    for (const path of ["mine.txt", "mine.log"])
      if (deed.startsWith("untracked")) expect(repository.read(path)).toBe("x\n");
  });
});

describe("keeps the old base", () => {
  test("under another name when that one is taken", async () => {
    git("update-ref", BACKUP, to);
    git("update-ref", `${BACKUP}-2`, to);
    await advance();
    expect(backups().split("\n")).toEqual([`${BACKUP} ${to}`, `${BACKUP}-2 ${to}`, `${BACKUP}-3 ${from}`]);
  });

  test("once", async () => {
    git("update-ref", BACKUP, from);
    await advance();
    await advance();
    expect(backups()).toBe(`${BACKUP} ${from}`);
  });
});

/** What a person did, and which paths are named. */
const deeds: Record<string, [paths: readonly string[], deed: () => void]> = {
  "an edit of a file that changes": [["changed"], () => write("changed", "mine\n")],
  "an edit of another file": [["other"], () => write("other", "mine\n")],
  "an edit that is staged": [["other"], () => (write("other", "mine\n"), git("add", "other"))],
  "an edit that is staged and taken back": [
    ["changed"],
    () => (write("changed", "mine\n"), git("add", "changed"), write("changed", "changed\n")),
  ],
  "an edit over what comes, which is staged": [
    ["changed"],
    () => (write("changed", "changed now\n"), git("add", "changed"), write("changed", "mine\n")),
  ],
  "a deletion": [["other"], () => repository.remove("other")],
  "a deletion of a file that changes": [["changed"], () => repository.remove("changed")],
  "a mode": [["other"], () => chmodSync(join(repository.root, "other"), 0o755)],
  "a new file, staged": [["mine"], () => (write("mine", "x\n"), git("add", "mine"))],
  "a new file, to be added": [["mine"], () => (write("mine", "x\n"), git("add", "-N", "mine"))],
  "an untracked file in the way": [["added"], () => write("added", "mine\n")],
  "an ignored file in the way": [["kept.log"], () => write("kept.log", "mine\n")],
  "an untracked link in the way": [["added"], () => symlinkSync("changed", join(repository.root, "added"))],
  "an untracked file with another mode": [
    ["added"],
    () => (write("added", "added\n"), chmodSync(join(repository.root, "added"), 0o755)),
  ],
  "an untracked folder in the way": [["added/mine"], () => write("added/mine", "x\n")],
  "an ignored file in a folder in the way": [["added/mine.log"], () => write("added/mine.log", "x\n")],
  "an untracked file where a folder comes": [["new"], () => write("new", "mine\n")],
  "an untracked file in a folder that goes": [["folder/mine"], () => write("folder/mine", "x\n")],
  "an ignored file in a folder that goes": [["folder/mine.log"], () => write("folder/mine.log", "x\n")],
  "an edit that git was told not to see": [
    ["changed"],
    () => (git("update-index", "--assume-unchanged", "changed"), write("changed", "mine\n")),
  ],
  "two edits, one of them as it will be": [
    ["other"],
    () => (write("changed", "changed now\n"), write("other", "mine\n")),
  ],
  "an edit as it will be, and an untracked folder in the way": [
    ["added/mine"],
    () => (write("changed", "changed now\n"), write("added/mine", "x\n")),
  ],
  "a merge in conflict": [[], () => beginMerge()],
  "a cherry-pick in conflict": [[], () => attempt("cherry-pick", conflicting())],
  "a revert in conflict": [[], () => attempt("revert", "--no-edit", conflicting())],
  "a rebase": [[], () => (attempt("rebase", conflicting()), expect(git("branch")).toContain("no branch"))],
  "a bisection": [[], () => (git("bisect", "start"), git("bisect", "bad"), git("bisect", "good", "HEAD~1"))],
  "a bisection that has only begun": [[], () => git("bisect", "start")],
};

/** A commit beside the base that changes the same file. The base gets one more. */
function conflicting(): string {
  git("checkout", "--quiet", "--detach", "main~1");
  write("README.md", "theirs\n");
  const theirs = repository.commit("theirs");
  git("checkout", "--quiet", "main");
  write("README.md", "ours\n");
  from = repository.commit("ours");
  to = git("commit-tree", "-p", from, "-m", "after", `${from}^{tree}`);
  return theirs;
}

function attempt(...args: string[]): void {
  expect(() => git(...args)).toThrow(args[0]!);
}

function beginMerge(): void {
  const theirs = conflicting();
  attempt("merge", theirs);
  write("README.md", "solved\n");
  git("add", "README.md");
}

describe("waits, and touches nothing", () => {
  test.each(Object.keys(deeds))("for %s", async (name) => {
    const [paths, deed] = deeds[name]!;
    deed();
    const before = everything() as Record<string, unknown>;
    const answer = await advance();
    const { refs: _refs, ...rest } = everything() as Record<string, unknown>;
    expect(answer).toMatchObject({ is: "waits", root: repository.root, paths });
    expect(before).toMatchObject(rest);
    expect(tip()).toBe(from);
    expect(git("stash", "list")).toBe("");
  });

  test("for a rebase that takes the base along", async () => {
    mkdirSync(join(repository.root, ".git/rebase-merge"));
    git("checkout", "--quiet", "--detach");
    write(".git/rebase-merge/update-refs", `refs/heads/main\n${from}\n${from}\n`);
    expect(await advance()).toMatchObject({ is: "waits", why: "a rebase is under way there" });
  });

  test("for the second of two checkouts", async () => {
    const linked = join(repository.root, "../linked");
    git("worktree", "add", "--quiet", "--force", linked, "main");
    expect(await advance()).toMatchObject({ is: "waits", root: linked, paths: [] });
    expect(tip()).toBe(from);
  });

  test("for a checkout on a disk that is not there", async () => {
    git("checkout", "--quiet", "-b", "mine");
    const linked = join(repository.root, "../linked");
    git("worktree", "add", "--quiet", linked, "main");
    git("worktree", "lock", linked);
    renameSync(linked, `${linked}-away`);
    expect(await advance()).toMatchObject({ is: "waits", root: linked, why: "its folder is not there" });
    expect(tip()).toBe(from);
  });

  test("and moves when the person is done", async () => {
    write("other", "mine\n");
    expect(await advance()).toMatchObject({ is: "waits", why: "it has uncommitted changes" });
    git("checkout", "--", "other");
    expect(await advance()).toEqual({ is: "moved" });
  });
});

describe("is told where the base is", () => {
  test("when somebody moved it", async () => {
    const head = repository.git("commit-tree", "-p", from, "-m", "theirs", `${from}^{tree}`);
    git("merge", "--quiet", "--ff-only", head);
    expect(await advance()).toEqual({ is: "elsewhere", head });
    expect(backups()).toBe("");
  });

  test("when somebody deleted it", async () => {
    git("checkout", "--quiet", "--detach");
    git("branch", "--quiet", "-D", "main");
    expect(await advance()).toEqual({ is: "elsewhere", head: null });
  });

  test("when what was prepared is gone", async () => {
    git("reflog", "expire", "--expire=now", "--all");
    git("gc", "--quiet", "--prune=now");
    expect(await advance()).toEqual({ is: "elsewhere", head: from });
  });

  test("when somebody has worked on top of it since", async () => {
    await advance();
    write("other", "more\n");
    const head = repository.commit();
    expect(await advance()).toEqual({ is: "moved" });
    expect(tip()).toBe(head);
  });
});

test("a commit that does not continue the base is no next one", async () => {
  to = git("commit-tree", "-m", "another", `${from}^{tree}`);
  await expect(advance()).rejects.toThrow("does not continue");
  expect(tip()).toBe(from);
});

test("a submodule as the user's checkout", async () => {
  const host = join(repository.root, "../host");
  git("init", "--quiet", host);
  git("-C", host, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository.root, "sub");
  const root = join(host, "sub");
  git("-C", root, "fetch", "--quiet", repository.root, to);
  const merging = createMerging({ root, scratch: join(host, "scratch") });
  expect(await merging.advance({ base: "main", from, to, run: "r", iteration: 1 })).toEqual({ is: "moved" });
  expect(git("-C", root, "status", "--porcelain")).toBe("");
  expect(readFileSync(join(root, "added"), "utf8")).toBe("added\n");
});
