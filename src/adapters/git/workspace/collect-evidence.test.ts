import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Evidence, Leftover } from "../../../core/verdict/evidence.ts";
import type { CollectRequest, Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(() => begin(temporaryRepository()));
afterEach(() => repository.dispose());

async function begin(made: TemporaryRepository): Promise<void> {
  repository = made;
  workspace = createGitWorkspace({ root: made.root, ralphDir: join(made.root, ".ralph") });
  from = await workspace.snapshot();
}

/** As `begin`, for tests that need another repository than the usual one. */
async function beginWith(made: TemporaryRepository): Promise<void> {
  repository.dispose();
  await begin(made);
}

function collect(over: Partial<CollectRequest> = {}): Promise<Evidence> {
  return workspace.collect({ ...requestFrom(from, "TODO.md"), ...over });
}

/** Commits what is there as the state in which the iteration begins. */
async function given(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) repository.write(path, content);
  repository.commit("given");
  from = await workspace.snapshot();
}

function committed(): string[] {
  return lines(repository.git("diff-tree", "-r", "--root", "--no-commit-id", "--name-only", "HEAD"));
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n").toSorted();
}

describe("what counts as a change", () => {
  const before = { "a.txt": "one\ntwo\n" };
  const WHITE_SPACE: [string, () => void, number][] = [
    ["indentation", () => repository.write("a.txt", "  one\n\ttwo\n"), 1],
    ["trailing spaces", () => repository.write("a.txt", "one \ntwo\n"), 1],
    ["blank lines", () => repository.write("a.txt", "one\n\n\ntwo\n\n"), 1],
    ["line endings", () => repository.write("a.txt", "one\r\ntwo\r\n"), 1],
    ["a missing last newline", () => repository.write("a.txt", "one\ntwo"), 1],
  ];
  const table: [string, () => void, number][] = [
    ...WHITE_SPACE,
    ["a word", () => repository.write("a.txt", "one\nthree\n"), 1],
    ["a new empty file", () => repository.write("b.txt", ""), 0],
    ["a new file of blanks", () => repository.write("b.txt", " \n\t\n"), 0],
    ["a new file with a byte-order mark only", () => repository.write("b.txt", "\uFEFF\n"), 0],
    ["a new file of characters without a width", () => repository.write("b.txt", "\u200B\u2060\n"), 0],
    ["an old file that is emptied", () => repository.write("a.txt", ""), 1],
    ["a deleted file", () => repository.remove("a.txt"), 1],
    ["an executable bit", () => chmodSync(join(repository.root, "a.txt"), 0o755), 1],
    ["a binary file", () => repository.write("b.bin", new Uint8Array([0, 1, 2])), 1],
    ["a renamed file", () => repository.git("mv", "a.txt", "b.txt"), 2],
    ["a file that became a link", () => relink("a.txt", "README.md"), 1],
  ];
  test.each(table)("%s, committed by ralph", async (_name, act, files) => {
    await given(before);
    act();
    const evidence = await collect();
    expect(evidence.changed.files).toBe(files);
    expect(evidence.uncommitted).toEqual([]);
    expect(repository.git("status", "--porcelain")).toBe("");
  });
  test.each(table)("%s, left in the work tree", async (_name, act, files) => {
    await given(before);
    act();
    expect((await collect({ commit: "agent" })).changed.files).toBe(files);
  });

  test.each(WHITE_SPACE)("%s is told apart from other changes", async (_name, act) => {
    await given(before);
    act();
    expect((await collect({ taskBase: from.head })).isWhiteSpaceOnly).toBe(true);
    repository.write("a.txt", "other words\n");
    expect((await collect({ taskBase: from.head, iteration: 2 })).isWhiteSpaceOnly).toBe(false);
  });

  test("new lines that switch a checker off are named, and those that moved are not", async () => {
    await given({ "a.ts": "// eslint-disable-next-line no-console\nlog(1);\n" });
    repository.write("b.ts", "// eslint-disable-next-line no-console\nlog(1);\n");
    repository.remove("a.ts");
    repository.write("c.py", "import os  # noqa: F401\n");
    repository.write("d.ts", "log((user as any).mail);\n// as good as any word\n");
    repository.write("README.md", "Use `# noqa` with care.\n");
    const { suppressions } = await collect({ taskBase: from.head });
    expect(suppressions).toEqual(["c.py: import os  # noqa: F401", "d.ts: log((user as any).mail);"]);
  });

  test("an empty commit is none, though HEAD moved", async () => {
    repository.git("commit", "--quiet", "--allow-empty", "--message", "nothing");
    const evidence = await collect();
    expect(evidence.headAfter).not.toBe(evidence.headBefore);
    expect(evidence.changed.files).toBe(0);
  });

  test("ignored files are none", async () => {
    await given({ ".gitignore": "dist/\n" });
    repository.write("dist/main.js", "built");
    expect((await collect()).changed.files).toBe(0);
  });

  test("at most two hundred paths are kept, all are counted", async () => {
    for (let n = 0; n < 250; n += 1) repository.write(`many/${n}.txt`, `${n}\n`);
    const { changed } = await collect();
    expect(changed.files).toBe(250);
    expect(changed.paths).toHaveLength(200);
  });

  test("a repository that the agent made anew is all new, and does not continue ours", async () => {
    rmSync(join(repository.root, ".git"), { recursive: true });
    repository.git("init", "--quiet", "--initial-branch=main");
    const evidence = await collect();
    expect(evidence.changed.paths).toEqual(["README.md", "src/main.ts"]);
    expect(evidence.strayedTo).not.toBeNull();
  });
});

describe("what ralph commits", () => {
  test("with the task in the subject and run and iteration as trailers", async () => {
    repository.write("a.txt", "one\n");
    await collect({ iteration: 7, title: "A title\nwith lines" });
    expect(repository.git("log", "-1", "--format=%s")).toBe("ralph(task-001): A title with lines");
    expect(repository.git("log", "-1", "--format=%(trailers:key=Ralph-Run,valueonly)")).toContain("0b5e1c2a");
    expect(repository.git("log", "-1", "--format=%(trailers:key=Ralph-Iteration,valueonly)").trim()).toBe(
      "7",
    );
    expect(repository.git("log", "-1", "--format=%an <%ae>")).toBe("Operator <operator@example.com>");
  });

  test("a long title is cut at a line's width", async () => {
    repository.write("a.txt", "one\n");
    await collect({ title: "ä".repeat(100) });
    const subject = repository.git("log", "-1", "--format=%s");
    expect(Array.from(subject)).toHaveLength(72);
    expect(subject.endsWith("…")).toBe(true);
  });

  test("as Ralph where git knows no name", async () => {
    await beginWith(temporaryRepository({ anonymous: true }));
    repository.write("a.txt", "one\n");
    await collect();
    expect(repository.git("log", "-1", "--format=%an <%ae> %cn <%ce>")).toBe(
      "Ralph <ralph@localhost> Ralph <ralph@localhost>",
    );
  });

  test("paths of every kind", async () => {
    const paths = [
      "with space.txt",
      "ünï/cödé.txt",
      "-dash.txt",
      "new\nline.txt",
      "*.glob",
      ":(top)x",
      'q"uote',
      "a\\b",
    ];
    for (const path of paths) repository.write(path, "one\n");
    const bytes = Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0xff, 0xfe, 0x2e])]);
    writeFileSync(bytes, "not UTF-8\n");
    const { changed, uncommitted } = await collect();
    expect(uncommitted).toEqual([]);
    expect(changed.files).toBe(paths.length + 1);
    expect(changed.paths).toEqual(expect.arrayContaining(paths));
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("a file that became a folder, and a folder that became a file or a link", async () => {
    await given({ file: "one\n", "folder/a": "one\n", "linked/a": "one\n", "target/a": "one\n" });
    repository.remove("file");
    repository.write("file/inside", "one\n");
    repository.remove("folder");
    repository.write("folder", "one\n");
    relink("linked", "target");
    const { uncommitted } = await collect();
    expect(uncommitted).toEqual([]);
    expect(repository.git("status", "--porcelain")).toBe("");
    expect(lines(repository.git("ls-files"))).toEqual(
      ["README.md", "file/inside", "folder", "linked", "src/main.ts", "target/a"].toSorted(),
    );
  });

  test("also what the agent has staged, and a staged file that it deleted again", async () => {
    repository.write("staged.txt", "one\n");
    repository.write("gone.txt", "one\n");
    repository.git("add", "--all");
    repository.remove("gone.txt");
    await collect();
    expect(committed()).toEqual(["staged.txt"]);
  });

  test("nothing at all when the only staged file was deleted again", async () => {
    repository.write("gone.txt", "one\n");
    repository.git("add", "--all");
    repository.remove("gone.txt");
    const evidence = await collect();
    expect(evidence.headAfter).toBe(from.head);
    expect(evidence.changed.files).toBe(0);
  });

  test("never the task source, even if the agent staged it", async () => {
    await given({ "TODO.md": "- [ ] one\n" });
    repository.write("TODO.md", "- [x] one\n");
    repository.write("a.txt", "one\n");
    repository.git("add", "--all");
    const { changed, uncommitted } = await collect();
    expect(committed()).toEqual(["a.txt"]);
    expect(changed.paths).toEqual(["a.txt"]);
    expect(uncommitted).toEqual([]);
    expect(repository.git("status", "--porcelain")).toBe("M  TODO.md");
  });

  test("never a path that was dirty before the run", async () => {
    repository.write("mine.txt", "operator\n");
    repository.write("src/main.ts", "export const answer = 43;\n");
    repository.write("a.txt", "one\n");
    const { changed, uncommitted } = await collect({ leaveAlone: ["mine.txt", "src/main.ts"] });
    expect(committed()).toEqual(["a.txt"]);
    expect(changed.paths).toEqual(["a.txt"]);
    expect(uncommitted).toEqual([]);
  });

  test("of .ralph/ only the documents, which count as nothing", async () => {
    repository.write(".ralph/status.json", "{}\n");
    repository.write(".ralph/ralph.toml", "agent = 'claude'\n");
    repository.write(".ralph/progress.txt", "learned something\n");
    const { changed, uncommitted } = await collect();
    expect(committed()).toEqual([".ralph/progress.txt"]);
    expect(changed.files).toBe(0);
    expect(uncommitted).toEqual([]);
  });

  test("not the lines that ralph init added to .gitignore", async () => {
    await given({ ".gitignore": "dist/" });
    repository.write(".gitignore", "dist/\n\n# ralph\n.ralph/logs/\n.ralph/status.json\n");
    const evidence = await collect();
    expect(evidence.headAfter).toBe(from.head);
    expect(evidence.changed.files).toBe(0);
    repository.write(".gitignore", `${repository.read(".gitignore")}coverage/\n`);
    expect((await collect({ iteration: 2 })).changed.paths).toEqual([".gitignore"]);
  });

  test("without the repository's hooks, unless they are asked for", async () => {
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n");
    chmodSync(join(repository.root, ".git/hooks/pre-commit"), 0o755);
    repository.write("a.txt", "one\n");
    const refused = await collect({ hooks: true });
    expect(refused.headAfter).toBe(from.head);
    expect(pathsOf(refused.uncommitted)).toEqual(["a.txt"]);
    expect(refused.changed.paths).toEqual(["a.txt"]);
    expect(refused.refusal).toBe("no");
    const taken = await collect({ iteration: 2 });
    expect(taken.refusal).toBeNull();
    expect(taken.uncommitted).toEqual([]);
    expect(taken.changed.paths).toEqual(["a.txt"]);
  });

  test("with the end of what a hook says that refuses, or that it said nothing", async () => {
    const refuse = (script: string): void => {
      repository.write(".git/hooks/pre-commit", `#!/bin/sh\n${script}\nexit 1\n`);
      chmodSync(join(repository.root, ".git/hooks/pre-commit"), 0o755);
    };
    refuse("exit 0");
    expect((await collect({ hooks: true })).refusal).toBeNull();
    repository.write("a.txt", "one\n");
    refuse("seq 1000; echo the end");
    const long = (await collect({ hooks: true })).refusal ?? "";
    expect(long).toHaveLength(1000);
    expect(long.endsWith("\n1000\nthe end")).toBe(true);
    refuse("");
    expect((await collect({ hooks: true })).refusal).toBe("git commit ended with code 1 and said nothing");
  });

  test("in a repository without a first commit", async () => {
    await beginWith(temporaryRepository({ unborn: true }));
    expect(from).toEqual({ head: null, branch: "main" });
    expect((await collect()).changed.files).toBe(0);
    repository.write("a.txt", "one\n");
    const left = await collect({ commit: "agent" });
    expect(left.headAfter).toBeNull();
    expect(left.changed.paths).toEqual(["a.txt"]);
    const evidence = await collect();
    expect(evidence.headAfter).not.toBeNull();
    expect(evidence.changed).toEqual({ files: 1, paths: ["a.txt"] });
    expect(evidence.changedSinceTaskBegan).toEqual({ files: 1, paths: ["a.txt"] });
  });

  test("in a repository whose objects have SHA-256 names", async () => {
    await beginWith(temporaryRepository({ unborn: true }));
    rmSync(join(repository.root, ".git"), { recursive: true });
    repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main");
    repository.write("a.txt", "one\n");
    const evidence = await collect({ run: "r" });
    expect(evidence.headAfter).toHaveLength(64);
    expect(evidence.changed.files).toBe(1);
  });
});

describe("what ralph leaves out on purpose", () => {
  test("a big file and a secret, named and left where they are", async () => {
    repository.write("data.bin", Buffer.alloc(10 * 1024 * 1024 + 1));
    repository.write("config/.env", "TOKEN=1\n");
    repository.write("fits.bin", Buffer.alloc(10 * 1024 * 1024));
    const evidence = await collect();
    expect(evidence.leftOut).toEqual([
      { path: "config/.env", why: "looks-secret" },
      { path: "data.bin", why: "too-big" },
    ]);
    expect(pathsOf(evidence.uncommitted)).toEqual(["config/.env", "data.bin"]);
    expect(committed()).toEqual(["fits.bin"]);
  });

  test("even if the agent staged it, in the first commit too", async () => {
    for (const unborn of [false, true]) {
      await beginWith(temporaryRepository({ unborn }));
      repository.write(".env", "TOKEN=1\n");
      repository.write("a.txt", "one\n");
      repository.git("add", "--all");
      const evidence = await collect();
      expect(evidence.leftOut).toEqual([{ path: ".env", why: "looks-secret" }]);
      expect(committed()).toEqual(["a.txt"]);
      expect(repository.git("status", "--porcelain")).toBe("A  .env");
    }
  });

  test("counts as a change once, not in every later iteration and task", async () => {
    repository.write(".env", "TOKEN=1\n");
    const { changed, uncommitted: leftBefore } = await collect();
    expect(changed.paths).toEqual([".env"]);
    const idle = await collect({ iteration: 2, leftBefore });
    expect(idle.changed.files).toBe(0);
    expect(idle.changedSinceTaskBegan.files).toBe(1);
    const next = { iteration: 3, task: "task-002", leftBefore, leftBeforeTask: leftBefore };
    expect((await collect(next)).changedSinceTaskBegan.files).toBe(0);
    repository.write(".env", "TOKEN=22\n");
    expect((await collect(next)).changed.paths).toEqual([".env"]);
  });

  test("but the agent's own commit of it is a fact", async () => {
    repository.write(".env", "TOKEN=1\n");
    repository.commit();
    const evidence = await collect();
    expect(evidence.leftOut).toEqual([]);
    expect(evidence.changed.paths).toEqual([".env"]);
  });
});

describe("what cannot be committed", () => {
  test("a repository inside ours stays, is named, and counts once", async () => {
    mkdirSync(join(repository.root, "vendor"));
    repository.git("clone", "--quiet", repository.root, "vendor/copy");
    repository.write("a.txt", "one\n");
    const evidence = await collect();
    expect(pathsOf(evidence.uncommitted)).toEqual(["vendor/copy/"]);
    expect(evidence.changed.paths).toEqual(["a.txt", "vendor/copy/"]);
    const later = { iteration: 2, from: await workspace.snapshot(), leftBefore: evidence.uncommitted };
    expect((await collect(later)).changed.files).toBe(0);
  });

  test("git init in a folder with files of ours is survived", async () => {
    repository.git("init", "--quiet", "src");
    repository.write("src/main.ts", "export const answer = 1;\n");
    const { changed } = await collect();
    expect(changed.paths).toContain("src/main.ts");
  });

  test("a submodule's new commit is committed, changes inside it are not", async () => {
    const other = temporaryRepository();
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub");
    repository.commit();
    from = await workspace.snapshot();
    repository.write("sub/README.md", "changed\n");
    const inside = await collect();
    expect(pathsOf(inside.uncommitted)).toEqual(["sub"]);
    expect(inside.headAfter).toBe(from.head);
    expect(inside.changed.paths).toEqual(["sub"]);
    repository.git(
      "-C",
      "sub",
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "commit",
      "--quiet",
      "-am",
      "inside",
    );
    const moved = await collect({ iteration: 2 });
    expect(moved.uncommitted).toEqual([]);
    expect(committed()).toEqual(["sub"]);
    repository.write("sub/README.md", "changed again\n");
    repository.write("a.txt", "one\n");
    expect(pathsOf((await collect({ iteration: 3 })).uncommitted)).toEqual(["sub"]);
    other.dispose();
  });

  test("an unfinished merge without conflicts is concluded", async () => {
    startMerge("other.txt");
    repository.write(".env", "TOKEN=1\n");
    repository.git("add", ".env");
    const evidence = await collect();
    expect(repository.git("rev-list", "--parents", "-1", "HEAD").split(" ")).toHaveLength(3);
    expect(evidence.changed.paths).toEqual([".env", "other.txt"]);
    expect(pathsOf(evidence.uncommitted)).toEqual([".env"]);
    expect(repository.git("ls-files", "--stage", ".env")).not.toBe("");
    expect(repository.git("ls-tree", "HEAD", ".env")).toBe("");
  });

  test("a merge with conflicts stays as it is and is named", async () => {
    startMerge("README.md");
    const evidence = await collect();
    expect(pathsOf(evidence.uncommitted)).toEqual(["README.md"]);
    expect(evidence.headAfter).toBe(from.head);
    expect(evidence.changed.paths).toEqual(["README.md"]);
    expect(repository.git("status", "--porcelain")).toBe("UU README.md");
  });

  test("a cherry-pick that stopped is concluded once its conflict is gone", async () => {
    repository.git("checkout", "--quiet", "-b", "other");
    repository.write("README.md", "# Theirs\n");
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    repository.write("README.md", "# Ours\n");
    repository.commit();
    from = await workspace.snapshot();
    expect(() => repository.git("cherry-pick", "other")).toThrow("conflict");
    expect(pathsOf((await collect()).uncommitted)).toEqual(["README.md"]);
    repository.write("README.md", "# Both\n");
    repository.git("add", "README.md");
    expect((await collect({ iteration: 2 })).uncommitted).toEqual([]);
  });
});

/** Leaves the repository in the middle of merging a branch that changed one file. */
function startMerge(path: string): void {
  repository.git("checkout", "--quiet", "-b", "other");
  repository.write(path, "theirs\n");
  repository.commit();
  repository.git("checkout", "--quiet", "main");
  if (path === "README.md") {
    repository.write(path, "ours\n");
    repository.commit();
    from = { head: repository.git("rev-parse", "HEAD"), branch: "main" };
  }
  try {
    repository.git("merge", "--no-commit", "--no-ff", "other");
  } catch {
    // A conflict is what the test is about.
  }
}

function relink(path: string, target: string): void {
  repository.remove(path);
  symlinkSync(target, join(repository.root, path));
}

function pathsOf(left: readonly Leftover[]): readonly string[] {
  return left.map(({ path }) => path);
}
