import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { FileMark, MergeRequest, Merging, PreparedMerge } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

const AGENT = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
const WAYS = ["squash", "merge", "rebase"] as const;

let repository: TemporaryRepository;
let scratch: string;
let merging: Merging;

beforeEach(() => begin(temporaryRepository()));
afterEach(() => repository.dispose());

function begin(made: TemporaryRepository): void {
  repository = made;
  scratch = join(repository.root, "../scratch");
  merging = createMerging({ root: repository.root, scratch });
}

function tick(task: string, path = "TODO.md"): FileMark {
  const apply = (file: Buffer): Buffer =>
    Buffer.from(file.toString("latin1").replace(`- [ ] ${task}`, `- [x] ${task}`), "latin1");
  return { path, apply };
}

async function prepare(over: Partial<MergeRequest> = {}): Promise<PreparedMerge> {
  return merging.prepare({
    commit: over.commit ?? repository.git("rev-parse", over.branch ?? "work"),
    run: "r1",
    task: "T1",
    iteration: 7,
    title: "Add the thing",
    base: "main",
    branch: "work",
    how: "squash",
    mark: null,
    ...over,
  });
}

async function ready(over: Partial<MergeRequest> = {}): Promise<string> {
  const prepared = await prepare(over);
  expect(prepared).toMatchObject({ is: "ready", from: repository.git("rev-parse", over.base ?? "main") });
  return prepared.is === "ready" ? prepared.to : "";
}

/** Commits on the branch, made from where we are; then back to the base. */
function onBranch(...commits: (() => void)[]): void {
  repository.git("checkout", "--quiet", "-B", "work");
  for (const [at, change] of commits.entries()) {
    change();
    repository.git("add", "--all");
    repository.git(...AGENT, "commit", "--quiet", "--allow-empty", "-m", `step ${at + 1}`);
  }
  repository.git("checkout", "--quiet", "main");
}

function onBase(change: () => void): void {
  change();
  repository.commit("on the base");
}

const write = (path: string, content: string | Uint8Array) => (): void => repository.write(path, content);
const show = (commit: string, path: string): string => repository.git("show", `${commit}:${path}`);
const files = (commit: string): string[] =>
  repository.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", commit).split("\n");
const format = (commit: string, what: string): string =>
  repository.git("log", "-1", `--format=${what}`, commit);

/** Everything that preparing must leave as it is. */
function surroundings(): unknown {
  const { root } = repository;
  return {
    refs: repository.git("for-each-ref"),
    head: readFileSync(join(root, ".git/HEAD"), "utf8"),
    index: readFileSync(join(root, ".git/index"), "base64"),
    gitDir: readdirSync(join(root, ".git")).toSorted(),
    status: repository.git("status", "--porcelain", "--ignored"),
    worktrees: repository.git("worktree", "list"),
    scratch: existsSync(scratch) ? readdirSync(scratch) : [],
  };
}

describe("how the history looks", () => {
  beforeEach(() => {
    onBranch(write("a.txt", "one\n"), () => undefined, write("b.txt", "two\n"));
    onBase(write("c.txt", "three\n"));
  });

  test("squash: one commit with subject and trailers", async () => {
    const to = await ready();
    expect(format(to, "%P")).toBe(repository.git("rev-parse", "main"));
    expect(format(to, "%B")).toBe(
      "ralph(T1): Add the thing\n\nRalph-Run: r1\nRalph-Iteration: 7\n".trimEnd(),
    );
    expect(format(to, "%an <%ae>")).toBe("Operator <operator@example.com>");
    expect(files(to)).toEqual(["README.md", "a.txt", "b.txt", "c.txt", "src/main.ts"]);
  });

  test("merge: both parents", async () => {
    const to = await ready({ how: "merge" });
    expect(format(to, "%P")).toBe(repository.git("rev-parse", "main", "work").replace("\n", " "));
    expect(format(to, "%s")).toBe("ralph(T1): Add the thing");
  });

  test("rebase: the commits one by one, empty ones left out", async () => {
    const to = await ready({ how: "rebase" });
    const log = (range: string): string => repository.git("log", "--format=%s|%an|%ae|%ad|%B", range);
    expect(repository.git("log", "--format=%s", `main..${to}`)).toBe("step 3\nstep 1");
    expect(log(`${to}~1..${to}`)).toBe(log("work~1..work"));
    expect(format(to, "%cn")).toBe("Operator");
    expect(format(`${to}~2`, "%H")).toBe(repository.git("rev-parse", "main"));
  });

  test("rebase: the mark comes last, in a commit of its own", async () => {
    onBase(write("TODO.md", "- [ ] T1\n"));
    const to = await ready({ how: "rebase", mark: tick("T1") });
    expect(repository.git("log", "--format=%s", `main..${to}`)).toBe("ralph(T1): mark done\nstep 3\nstep 1");
    expect(show(to, "TODO.md")).toBe("- [x] T1");
    expect(show(`${to}~1`, "TODO.md")).toBe("- [ ] T1");
  });

  test.each(WAYS)("%s: the same files, and nothing else touched", async (how) => {
    const before = surroundings();
    const to = await ready({ how });
    expect(format(to, "%T")).toBe(format(await ready({ how: "merge" }), "%T"));
    expect(surroundings()).toEqual(before);
  });

  test("what is in the checkout does not matter", async () => {
    write("c.txt", "a person's edit\n")();
    write("a.txt", "untracked\n")();
    repository.git("rm", "--quiet", "README.md");
    write(".gitattributes", "* -merge\n")();
    const before = surroundings();
    expect(files(await ready())).toContain("README.md");
    expect(surroundings()).toEqual(before);
    expect(repository.read("a.txt")).toBe("untracked\n");
  });
});

test("rebase: author, date, encoding and odd messages stay", async () => {
  const body = join(repository.root, "../body");
  onBranch(() => {
    write("a.txt", "one\n")();
    repository.git("add", "--all");
    writeFileSync(body, Buffer.from("Gr\xfc\xdfe\n\n# no comment\n\n\n  end  \n", "latin1"));
    const who = [
      "-c",
      "user.name=Jos\u00e9 \u2603",
      "-c",
      "user.email=j@x",
      "-c",
      "i18n.commitEncoding=iso-8859-1",
    ];
    repository.git(
      ...who,
      "commit",
      "-q",
      "--cleanup=verbatim",
      "--date=2001-02-03T04:05:06+0300",
      "-F",
      body,
    );
    write("b.txt", "two\n")();
  });
  onBase(write("c.txt", "three\n"));
  const to = `${await ready({ how: "rebase" })}~1`;
  const raw = (commit: string): string =>
    repository.git("cat-file", "commit", commit).replaceAll(/^(tree|parent|committer) .*\n/gm, "");
  expect(raw(to)).toBe(raw("work~1"));
  expect(raw(to)).toContain("encoding iso-8859-1");
});

test("rebase: a conflict that the branch has solved by a merge is solved", async () => {
  onBranch(write("README.md", "# Theirs\n"), write("b.txt", "two\n"));
  onBase(write("README.md", "# Ours\n"));
  expect(await prepare({ how: "rebase" })).toMatchObject({ is: "conflict", paths: ["README.md"] });
  repository.git("checkout", "--quiet", "work");
  expect(() => repository.git("merge", "main")).toThrow("git merge");
  onBase(write("README.md", "# Both\n"));
  repository.git("checkout", "--quiet", "main");
  const to = await ready({ how: "rebase" });
  expect([show(to, "README.md"), show(to, "b.txt")]).toEqual(["# Both", "two"]);
  expect(repository.git("log", "--format=%s", `main..${to}`)).toBe("ralph(T1): Add the thing");
});

test("rebase: what a merge on the branch did besides merging is kept", async () => {
  onBranch(write("a.txt", "one\n"));
  onBase(write("b.txt", "two\n"));
  repository.git("checkout", "--quiet", "work");
  repository.git("merge", "--quiet", "--no-commit", "main");
  onBase(write("besides.txt", "three\n"));
  repository.git("checkout", "--quiet", "main");
  expect(files(await ready({ how: "rebase" }))).toContain("besides.txt");
});

describe("conflicts", () => {
  test.each(WAYS)("%s: all paths, in Unicode, and nothing left behind", async (how) => {
    onBase(() => ["ä ö.txt", "dir/☃\n.txt", "gone.txt", "fine.txt"].forEach((path) => write(path, "a\n")()));
    onBranch(() => {
      for (const path of ["ä ö.txt", "dir/☃\n.txt", "gone.txt", "fine.txt"]) write(path, "theirs\n")();
    });
    onBase(() => {
      for (const path of ["ä ö.txt", "dir/☃\n.txt"]) write(path, "ours\n")();
      repository.remove("gone.txt");
    });
    const before = surroundings();
    const from = repository.git("rev-parse", "main");
    const paths = ["ä ö.txt", "dir/☃\n.txt", "gone.txt"].toSorted();
    expect(await prepare({ how })).toEqual({ is: "conflict", from, paths });
    expect(surroundings()).toEqual(before);
  });

  test("a path that is no UTF-8", async () => {
    const odd = Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from("caf\xe9", "latin1")]);
    onBranch(() => writeFileSync(odd, "theirs\n"));
    onBase(() => writeFileSync(odd, "ours\n"));
    expect(await prepare()).toMatchObject({ is: "conflict", paths: ["caf\uFFFD"] });
  });

  test("folders renamed in two ways", async () => {
    onBase(() => ["1", "2", "3", "4"].forEach((name) => write(`old/${name}`, `${name}\n`.repeat(9))()));
    onBranch(() => {
      repository.git("mv", "old/1", "one-1");
      for (const to of ["x", "y"]) mkdirSync(join(repository.root, to));
      repository.git("mv", "one-1", "old/2", "x");
      repository.git("mv", "old/3", "old/4", "y");
    });
    onBase(write("old/new", "new\n"));
    expect(await prepare()).toMatchObject({ is: "conflict", paths: [expect.stringContaining("old")] });
  });

  test("no commit in common", async () => {
    repository.git("checkout", "--quiet", "--orphan", "work");
    write("README.md", "# Another\n")();
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    expect(await prepare()).toMatchObject({ is: "conflict", paths: ["README.md"], why: expect.any(String) });
  });

  test("a submodule that both moved", async () => {
    const link = (oid: string) => (): void =>
      void repository.git("update-index", "--add", "--cacheinfo", `160000,${oid.repeat(40)},sub`);
    const commit = (oid: string): void => {
      link(oid)();
      repository.git("commit", "--quiet", "-m", oid);
    };
    commit("1");
    repository.git("checkout", "--quiet", "-b", "work");
    commit("2");
    repository.git("checkout", "--quiet", "main");
    expect(repository.git("ls-tree", await ready(), "sub")).toContain("2".repeat(40));
    commit("3");
    expect(await prepare()).toMatchObject({ is: "conflict", paths: ["sub"] });
  });
});

describe("the mark", () => {
  const TODO = "- [ ] T1\n- [ ] T2\n- [ ] T3\n";

  beforeEach(() => onBase(write("TODO.md", TODO)));

  const deeds: Record<string, () => void> = {
    nothing: () => undefined,
    "its own tick": write("TODO.md", TODO.replace("[ ] T1", "[x] T1")),
    "the ticks of others": write("TODO.md", TODO.replaceAll("[ ]", "[x]")),
    "its deletion": () => repository.remove("TODO.md"),
    "a new name": () => void repository.git("mv", "TODO.md", "DONE.md"),
    "a link in its place": () => (
      repository.remove("TODO.md"),
      symlinkSync("README.md", join(repository.root, "TODO.md"))
    ),
    "a folder in its place": () => (repository.remove("TODO.md"), write("TODO.md/x", "x\n")()),
    "another mode": () => chmodSync(join(repository.root, "TODO.md"), 0o755),
  };

  describe.each(WAYS)("with %s", (how) => {
    test.each(Object.keys(deeds))("is on the base's version, after %s by the branch", async (deed) => {
      onBranch(deeds[deed]!, write("work.txt", "x\n"));
      onBase(write("TODO.md", TODO.replace("[ ] T2", "[x] T2")));
      const to = await ready({ how, mark: tick("T1") });
      expect(repository.git("cat-file", "-p", `${to}:TODO.md`)).toBe("- [x] T1\n- [x] T2\n- [ ] T3");
      expect(repository.git("ls-tree", to, "TODO.md")).toMatch(/^100644 blob/);
      expect(show(to, "work.txt")).toBe("x");
    });

    test("is on the branch's version where the base has none", async () => {
      onBase(() => repository.remove("TODO.md"));
      onBranch(write("TODO.md", "- [ ] T1\n- [x] T9\n"), write("work.txt", "x\n"));
      const to = await ready({ how, mark: tick("T1") });
      expect(show(to, "TODO.md")).toBe("- [x] T1\n- [x] T9");
    });
  });

  test("goes to the file that a link means, and its folder may be one", async () => {
    onBase(() => {
      write("docs/plans/tasks.md", TODO)();
      symlinkSync("docs/plans", join(repository.root, "plan"));
      symlinkSync("plan/../plans/tasks.md", join(repository.root, "docs/PLAN.md"));
    });
    onBranch(write("docs/plans/tasks.md", "gone\n"), () => write("work.txt", "x\n")());
    const to = await ready({ mark: tick("T1", "plan/tasks.md") });
    expect(show(to, "docs/plans/tasks.md")).toContain("- [x] T1");
    expect(repository.git("ls-tree", to, "plan")).toMatch(/^120000/);
  });

  test.each(["nowhere.md", "src", "../outside.md"])("cannot be put into %s", async (path) => {
    onBranch(write("work.txt", "x\n"));
    expect(files(await ready({ mark: tick("T1", path) }))).toContain("work.txt");
  });

  test("keeps bytes that are no UTF-8, and line ends as they are stored", async () => {
    const file = Buffer.from("- [ ] T1 caf\xe9\r\n\0", "latin1");
    onBase(write("TODO.md", file));
    onBranch(write("work.txt", "x\n"));
    const to = await ready({ mark: tick("T1") });
    repository.git("checkout", "--quiet", to);
    expect(readFileSync(join(repository.root, "TODO.md")).toString("latin1")).toBe("- [x] T1 caf\xe9\r\n\0");
  });

  test.each(WAYS)("alone is left to do when %s finds the work there", async (how) => {
    onBranch(write("work.txt", "x\n"));
    repository.git("merge", "--quiet", "work");
    const to = await ready({ how, mark: tick("T1") });
    expect(format(to, "%s %P")).toBe(`ralph(T1): mark done ${repository.git("rev-parse", "main")}`);
    repository.git("merge", "--quiet", to);
    expect(await prepare({ how, mark: tick("T1") })).toMatchObject({ is: "nothing" });
  });
});

describe("nothing to do", () => {
  test.each(WAYS)(
    "%s: a branch without work, one whose work is there, one that took its own back",
    async (how) => {
      onBranch();
      expect(await prepare({ how })).toEqual({ is: "nothing", from: repository.git("rev-parse", "main") });
      onBranch(write("a.txt", "one\n"));
      onBase(write("a.txt", "one\n"));
      expect(await prepare({ how })).toMatchObject({ is: "nothing" });
      onBranch(write("b.txt", "one\n"), () => repository.remove("b.txt"));
      expect(await prepare({ how })).toMatchObject({ is: "nothing" });
    },
  );
});

test("an empty repository, and a base that is not there", async () => {
  const commit = "f".repeat(40);
  await expect(prepare({ base: "nowhere", commit })).rejects.toThrow("there is no branch nowhere");
  repository.dispose();
  begin(temporaryRepository({ unborn: true }));
  await expect(prepare({ commit })).rejects.toThrow("the branch main has no commit yet");
});

describe("prepare revert", () => {
  let repository: TemporaryRepository;
  let from: string;
  let to: string;

  beforeEach(() => {
    repository = temporaryRepository();
    repository.write("TODO.md", "- [ ] T1\n- [ ] T2\n");
    repository.write("old.txt", "1\n2\n3\n");
    from = repository.commit("before");
    repository.write("new.txt", "new\n");
    repository.write("src/main.ts", "changed\n");
    repository.remove("old.txt");
    repository.write("TODO.md", "- [x] T1\n- [ ] T2\n");
    to = repository.commit("merged");
  });
  afterEach(() => repository.dispose());

  const MARK: FileMark = {
    path: "TODO.md",
    apply: (file) => Buffer.from(file.toString().replace("[x] T1", "[ ] T1")),
  };

  function revert(mark: FileMark | null = null, since = from): Promise<PreparedMerge> {
    const scratch = join(repository.root, "../scratch");
    const request = {
      run: "r1",
      task: "T1",
      iteration: 3,
      title: "Work",
      base: "main",
      spans: [{ from: since, to }],
      mark,
    };
    return createMerging({ root: repository.root, scratch }).revert(request);
  }

  function commitOf(prepared: PreparedMerge): string {
    expect(prepared).toMatchObject({ is: "ready", from: repository.git("rev-parse", "main") });
    return prepared.is === "ready" ? prepared.to : "";
  }

  test("takes everything back in one commit", async () => {
    const undone = commitOf(await revert());
    expect(repository.git("diff", "--stat", from, undone)).toBe("");
    expect(repository.git("log", "-1", "--format=%P|%B", undone)).toBe(
      `${to}|ralph(T1): undo\n\nRalph-Run: r1\nRalph-Iteration: 3`,
    );
    expect(repository.git("status", "--porcelain")).toBe("");
    expect(repository.git("rev-parse", "main")).toBe(to);
  });

  test("takes a merge commit and several commits back", async () => {
    repository.git("checkout", "--quiet", "-b", "work");
    for (const name of ["a", "b"]) {
      repository.write(name, name);
      repository.commit(name);
    }
    repository.git("checkout", "--quiet", "main");
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "work");
    const since = to;
    to = repository.git("rev-parse", "main");
    expect(repository.git("diff", "--stat", since, commitOf(await revert(null, since)))).toBe("");
  });

  test("leaves what came after, marks in the next line too", async () => {
    repository.write("later.txt", "later\n");
    repository.write("TODO.md", "- [x] T1\n- [x] T2\n");
    repository.commit("later");
    expect(await revert()).toMatchObject({ is: "conflict", paths: ["TODO.md"] });
    const undone = commitOf(await revert(MARK));
    expect(repository.git("show", `${undone}:TODO.md`)).toBe("- [ ] T1\n- [x] T2");
    expect(repository.git("ls-tree", "--name-only", undone).split("\n")).toEqual([
      "README.md",
      "TODO.md",
      "later.txt",
      "old.txt",
      "src",
    ]);
  });

  test("conflicts with what was built on it", async () => {
    repository.write("new.txt", "new and more\n");
    repository.write("src/main.ts", "changed again\n");
    repository.commit("later");
    expect(await revert(MARK)).toEqual({
      is: "conflict",
      from: repository.git("rev-parse", "main"),
      paths: ["new.txt", "src/main.ts"],
    });
  });

  test("has nothing to do the second time", async () => {
    repository.git("merge", "--quiet", commitOf(await revert(MARK)));
    expect(await revert(MARK)).toEqual({ is: "nothing", from: repository.git("rev-parse", "main") });
  });
});
