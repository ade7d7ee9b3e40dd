import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { BranchMove, BranchMoved } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

const { PATH = "" } = process.env;
const REAL_GIT = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

let repository: TemporaryRepository;
/** The last accepted commit, and the work on top of it. */
let base: string;
let work: string;

beforeEach(begin);
afterEach(() => {
  process.env["PATH"] = PATH;
  repository.dispose();
});

const git = (...args: string[]): string => repository.git(...args);
const gitPath = (path: string): string => join(repository.root, ".git", path);
const status = (): string => git("status", "--porcelain");

function begin(): void {
  repository = temporaryRepository();
  for (const name of ["changed", "removed", "other", "folder/inside", "mode.sh", "renamed"])
    repository.write(name, `${name}\n`);
  repository.write("crlf.bat", "one\r\ntwo\r\n");
  repository.write(".gitattributes", "*.bat eol=crlf\n");
  base = repository.commit("before");
  for (const step of WORK) step();
  work = repository.commit("work");
}

const WORK: readonly (() => void)[] = [
  () => repository.remove("removed"),
  () => repository.remove("folder"),
  () => repository.write("added ä", "added\n"),
  () => repository.write("changed", "changed now\n"),
  () => repository.write("crlf.bat", "one\r\ntwo\r\nthree\r\n"),
  () => repository.write("folder", "a file now\n"),
  () => symlinkSync("changed", join(repository.root, "link")),
  () => chmodSync(join(repository.root, "mode.sh"), 0o755),
  () => {
    repository.remove("renamed");
    repository.write("new/one", "renamed\n");
  },
];

/** What git does to the files when the work leaves: what goes and what comes, one by one. */
const LEAVING: readonly (() => void)[] = [
  () => repository.remove("added ä"),
  () => repository.remove("folder"),
  () => repository.remove("link"),
  () => repository.remove("new"),
  () => repository.write("changed", "changed\n"),
  () => repository.write("crlf.bat", "one\r\ntwo\r\n"),
  () => repository.write("folder/inside", "folder/inside\n"),
  () => chmodSync(join(repository.root, "mode.sh"), 0o644),
  () => repository.write("removed", "removed\n"),
  () => repository.write("renamed", "renamed\n"),
];

function set(from: string | null, to: string | null, hold: readonly string[] = []): Promise<BranchMoved> {
  const merging = createMerging({ root: repository.root, scratch: join(repository.root, "../scratch") });
  const move: BranchMove = { branch: "main", from, to, hold };
  return merging.set(move);
}

const leave = (): Promise<BranchMoved> => set(work, base);
const MOVED: BranchMoved = { is: "moved", held: [] };

function expectAt(commit: string, answer: BranchMoved): void {
  expect(answer).toEqual(MOVED);
  expect(git("rev-parse", "main")).toBe(commit);
  expect(status()).toBe("");
  expect(git("diff", commit)).toBe("");
}

/** As after a move that was killed once the files were written. */
function writeIndex(commit: string): void {
  const index = join(repository.root, "../index");
  const env = { ...process.env, GIT_INDEX_FILE: index };
  execFileSync("git", ["read-tree", commit], { cwd: repository.root, env });
  copyFileSync(index, gitPath("index"));
}

test("files of every kind leave and come back as they were", async () => {
  expectAt(base, await leave());
  expectAt(work, await set(base, work));
});

test("a submodule of the work leaves its folder behind, and comes back", async () => {
  const other = join(repository.root, "../other");
  git("clone", "--quiet", repository.root, other);
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub");
  const added = repository.commit("submodule");
  expect(await set(added, work)).toEqual(MOVED);
  expect(status()).toBe("?? sub/");
  expectAt(added, await set(work, added));
});

test("the first commits of a branch leave it without one, and come back", async () => {
  git("switch", "--quiet", "--orphan", "young");
  repository.write("TODO.md", "- [ ] one\n");
  repository.write("mine.txt", "mine\n");
  repository.write("one.txt", "one\n");
  git("add", "one.txt");
  git("commit", "--quiet", "--message", "one");
  const first = git("rev-parse", "HEAD");
  const merging = createMerging({ root: repository.root, scratch: join(repository.root, "../scratch") });
  const move = { branch: "young", from: first, to: null, hold: ["TODO.md"] };
  for (const _ of [1, 2]) expect(await merging.set(move)).toEqual(MOVED);
  expect(git("for-each-ref", "refs/heads/young")).toBe("");
  expect(status()).toBe("?? TODO.md\n?? mine.txt");
  expect(await merging.set({ ...move, from: null, to: first })).toEqual(MOVED);
  expect([repository.read("one.txt"), git("rev-parse", "HEAD")]).toEqual(["one\n", first]);
});

test("what a person has staged or changed elsewhere stays as it is", async () => {
  repository.write("other", "staged\n");
  git("add", "other");
  repository.write("other", "changed\n");
  repository.write("staged.txt", "staged\n");
  git("add", "staged.txt");
  const before = status();
  expect(await leave()).toEqual(MOVED);
  expect(status()).toBe(before);
  expect([git("show", ":other"), repository.read("other")]).toEqual(["staged", "changed\n"]);
});

test.each(["staged", "unstaged", "deleted", "untracked", "ignored"])(
  "%s work of a person in the way is not lost",
  async (how) => {
    const path = how === "untracked" || how === "ignored" ? "removed" : "changed";
    if (how === "deleted") repository.remove(path);
    else repository.write(path, "a person's\n");
    if (how === "staged") git("add", path);
    if (how === "ignored") writeFileSync(gitPath("info/exclude"), "removed\n");
    const before = [status(), git("stash", "create")];
    expect(await leave()).toMatchObject({ is: "stays", paths: [path] });
    expect([status(), git("stash", "create")].map((text) => text.length)).toEqual(
      before.map((text) => text.length),
    );
    expect(git("rev-parse", "main")).toBe(work);
    if (how !== "deleted") expect(repository.read(path)).toBe("a person's\n");
  },
);

test("a branch that another checkout has, or where a merge is under way, stays", async () => {
  git("worktree", "add", "--quiet", "--force", join(repository.root, "../second"), "main");
  expect(await leave()).toMatchObject({ is: "stays", why: expect.stringContaining("as well") as string });
  git("worktree", "remove", "--force", join(repository.root, "../second"));
  writeFileSync(gitPath("MERGE_HEAD"), `${base}\n`);
  expect(await leave()).toMatchObject({
    is: "stays",
    why: expect.stringContaining("a merge is under way") as string,
  });
  expect(git("rev-parse", "main")).toBe(work);
});

test("a file that is held stays, though the commit that has it goes", async () => {
  repository.write("TODO.md", "- [x] one\n");
  const mark = repository.commit("mark");
  expect(await set(mark, base, ["TODO.md"])).toEqual({ is: "moved", held: [] });
  expect([repository.read("TODO.md"), status()]).toEqual(["- [x] one\n", "?? TODO.md"]);
});

/** Puts a script in git's place; `$@` goes to the real one. */
function wrapGit(...lines: readonly string[]): void {
  const bin = join(repository.root, "../bin");
  mkdirSync(bin, { recursive: true });
  const script = ["#!/bin/sh", ...lines, `exec ${REAL_GIT} "$@"`].join("\n");
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  process.env["PATH"] = `${bin}:${PATH}`;
}

test("somebody who commits at the last moment keeps the commit, and the files of it", async () => {
  const once = join(repository.root, "../once");
  wrapGit(
    `case "$*" in *update-ref*)`,
    `  if [ ! -e ${once} ]; then : > ${once}`,
    `    theirs=$(${REAL_GIT} -c user.name=T -c user.email=t@example.org commit-tree -p ${work} -m theirs ${work}^{tree})`,
    `    ${REAL_GIT} update-ref refs/heads/main $theirs`,
    "  fi ;;",
    "esac",
  );
  expect(await leave()).toMatchObject({ is: "stays", why: "somebody else has moved it" });
  expect(git("log", "-1", "--format=%s")).toBe("theirs");
  expect(status()).toBe("");
});

describe("git was killed in the middle, and its lock was left behind", () => {
  const kill = (steps: number): void => {
    for (const step of LEAVING.slice(0, steps)) step();
    writeFileSync(gitPath("index.lock"), "");
  };

  test.each([...LEAVING.keys(), LEAVING.length])("after %i files", async (steps) => {
    kill(steps);
    expectAt(base, await leave());
  });

  test("after the index", async () => {
    kill(LEAVING.length);
    writeIndex(base);
    expectAt(base, await leave());
  });

  test("and a person has edited a file since", async () => {
    kill(6);
    repository.write("changed", "a person's\n");
    for (const _ of [1, 2]) {
      expect(await leave()).toMatchObject({ is: "stays", paths: ["changed"] });
      expect(repository.read("changed")).toBe("a person's\n");
    }
  });
});

test.each(["leaves", "comes back"])(
  "work that %s does so whichever call of git we die before",
  async (which) => {
    const move = (): Promise<BranchMoved> => (which === "leaves" ? leave() : set(base, work));
    const calls = join(repository.root, "../calls");
    const dieAt = async (call: number): Promise<number> => {
      writeFileSync(calls, "");
      wrapGit(`printf . >> ${calls}`, `[ $(wc -c < ${calls}) -ge ${call} ] && exit 137`);
      await move().catch(() => null);
      process.env["PATH"] = PATH;
      return readFileSync(calls, "utf8").length;
    };
    const restore = (): void => {
      git("reset", "--quiet", "--hard", which === "leaves" ? work : base);
    };
    restore();
    const total = await dieAt(Number.MAX_SAFE_INTEGER);
    expect(total).toBeGreaterThan(4);
    for (let call = 1; call <= total; call += 1) {
      restore();
      await dieAt(call);
      expect([base, work]).toContain(git("rev-parse", "main"));
      expectAt(which === "leaves" ? base : work, await move());
    }
  },
);
