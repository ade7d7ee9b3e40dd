import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { PreparedMerge } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
});
afterEach(() => repository.dispose());

type Deed = () => void;

/** The base and the branch do something each, from a common start. */
async function merge(given: Deed, theirs: Deed, ours: Deed): Promise<PreparedMerge> {
  commit(given);
  repository.git("checkout", "--quiet", "-b", "work");
  commit(theirs);
  repository.git("checkout", "--quiet", "main");
  commit(ours);
  return prepare();
}

const REQUEST = { run: "r1", task: "T1", iteration: 1, title: "Work", base: "main", branch: "work" };

function prepare(how: "squash" | "rebase" = "squash"): Promise<PreparedMerge> {
  const scratch = join(repository.root, "../scratch");
  return createMerging({ root: repository.root, scratch }).prepare({
    ...REQUEST,
    commit: repository.git("rev-parse", "work"),
    how,
    mark: null,
  });
}

function commit(deed: Deed): void {
  deed();
  repository.git("add", "--all");
  repository.git(
    "-c",
    "commit.gpgSign=false",
    "commit",
    "--quiet",
    "--allow-empty",
    "--no-verify",
    "-m",
    "x",
  );
}

function listed(prepared: PreparedMerge, path: string): string {
  expect(prepared.is).toBe("ready");
  return prepared.is === "ready" ? repository.git("ls-tree", "-r", prepared.to, path) : "";
}

function content(prepared: PreparedMerge, path: string): string {
  expect(prepared.is).toBe("ready");
  return prepared.is === "ready" ? `${repository.git("cat-file", "-p", `${prepared.to}:${path}`)}\n` : "";
}

const write =
  (path: string, text: string | Uint8Array): Deed =>
  () =>
    repository.write(path, text);
const all =
  (...deeds: Deed[]): Deed =>
  () =>
    deeds.forEach((deed) => deed());
const link =
  (path: string, target: string): Deed =>
  () => {
    repository.remove(path);
    symlinkSync(target, join(repository.root, path));
  };
const nothing: Deed = () => undefined;
const LINES = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

test("a mode of one side and lines of the other", async () => {
  const executable: Deed = () => chmodSync(join(repository.root, "a.sh"), 0o755);
  const merged = await merge(write("a.sh", LINES), executable, write("a.sh", `0\n${LINES}`));
  expect(listed(merged, "a.sh")).toMatch(/^100755/);
  expect(content(merged, "a.sh")).toBe(`0\n${LINES}`);
});

test("links: their targets are no text", async () => {
  expect(content(await merge(link("a", "1"), link("a", "2"), write("b", "b\n")), "a").trim()).toBe("2");
  commit(link("a", "3"));
  expect(await prepare()).toMatchObject({ is: "conflict", paths: ["a"] });
});

test("a file renamed by one and changed by the other", async () => {
  const merged = await merge(
    write("old.txt", LINES),
    () => void repository.git("mv", "old.txt", "new.txt"),
    write("old.txt", LINES.replace("5", "five")),
  );
  expect(content(merged, "new.txt")).toBe(LINES.replace("5", "five"));
  expect(listed(merged, "old.txt")).toBe("");
});

test("binary files: taken whole, or in conflict", async () => {
  const bytes = (last: number): Uint8Array => new Uint8Array([0, 255, 10, 0, 13, 10, last]);
  const merged = await merge(write("a.bin", bytes(1)), write("a.bin", bytes(2)), write("b", "b\n"));
  expect(merged.is).toBe("ready");
  const { to } = merged as { to: string };
  expect(repository.git("rev-parse", `${to}:a.bin`)).toBe(repository.git("rev-parse", "work:a.bin"));
  commit(write("a.bin", bytes(3)));
  expect(await prepare()).toMatchObject({ is: "conflict", paths: ["a.bin"] });
});

describe("attributes", () => {
  const both = [write("sub/log.md", "a\nb\n"), write("sub/log.md", "a\nc\n")] as const;

  test("of the base's commit count: union", async () => {
    const merged = await merge(
      all(write("sub/.gitattributes", "log.md merge=union\n"), write("sub/log.md", "a\n")),
      ...both,
    );
    expect(content(merged, "sub/log.md")).toBe("a\nc\nb\n");
  });

  test("of the base's commit count: no merging at all", async () => {
    const given = all(write(".gitattributes", "*.md -merge\n"), write("sub/log.md", LINES));
    const [theirs, ours] = [write("sub/log.md", `0\n${LINES}`), write("sub/log.md", `${LINES}10\n`)];
    expect(await merge(given, theirs, ours)).toMatchObject({ is: "conflict", paths: ["sub/log.md"] });
  });

  test("of the checkout do not: another branch is there, with others", async () => {
    commit(write(".gitattributes", "*.md merge=union\n"));
    const given = all(write("sub/log.md", "a\n"));
    expect((await merge(given, ...both)).is).toBe("ready");
    repository.git("checkout", "--quiet", "--detach", "main");
    commit(() => repository.remove(".gitattributes"));
    expect((await prepare()).is).toBe("ready");
  });

  test("a driver of the operator's runs outside of the checkout", async () => {
    const note = join(repository.root, "../note");
    repository.git("config", "merge.mine.driver", `pwd > ${note}; cat %B >> %A`);
    const given = all(write(".gitattributes", "*.md merge=mine\n"), write("sub/log.md", "a\n"));
    expect(content(await merge(given, ...both), "sub/log.md")).toBe("a\nc\na\nb\n");
    expect(readFileSync(note, "utf8")).toMatch(/\/scratch\/merging-\d+-\w+\/tree\n$/);
  });

  test.each(["true", "input"])("autocrlf=%s does not change what is stored", async (autocrlf) => {
    repository.git("config", "core.autocrlf", autocrlf);
    const merged = await merge(
      all(write(".gitattributes", "*.bat eol=crlf\n"), write("a.txt", LINES), write("b.bat", LINES)),
      all(write("a.txt", `0\n${LINES}`), write("b.bat", `0\n${LINES}`)),
      all(write("a.txt", `${LINES}10\n`), write("b.bat", `${LINES}10\n`)),
    );
    for (const path of ["a.txt", "b.bat"]) expect(content(merged, path)).toBe(`0\n${LINES}10\n`);
  });
});

describe("a repository with a configuration of its own", () => {
  const settings: Record<string, string> = {
    "commit.gpgSign": "true",
    "gpg.program": "/nonexistent/gpg",
    "merge.conflictStyle": "zdiff3",
    "core.autocrlf": "true",
    "rerere.enabled": "true",
    "rerere.autoUpdate": "true",
    "commit.template": "/nonexistent/template",
    "commit.cleanup": "scissors",
    "core.commentChar": "r",
    "core.splitIndex": "true",
    "core.sparseCheckout": "true",
    "core.untrackedCache": "true",
    "index.sparse": "true",
    "index.version": "4",
    "i18n.commitEncoding": "iso-8859-1",
    "i18n.logOutputEncoding": "utf-16",
    "log.showSignature": "true",
    "merge.ff": "false",
    "merge.verifySignatures": "true",
    "merge.autoStash": "true",
    "branch.main.mergeOptions": "-s ours --squash",
    "diff.external": "/nonexistent/diff",
    "diff.noprefix": "true",
    "diff.renames": "copies",
    "status.showUntrackedFiles": "no",
    "status.branch": "true",
    "core.quotePath": "true",
    "color.ui": "always",
    "core.abbrev": "4",
    "column.ui": "always",
    "core.pager": "/nonexistent/pager",
    "advice.statusHints": "false",
    "core.fsync": "none",
    "user.useConfigOnly": "true",
    "submodule.recurse": "true",
    "core.logAllRefUpdates": "always",
  };

  test.each(["squash", "rebase"] as const)("%s and the move are not disturbed", async (how) => {
    await merge(write("ä.txt", LINES), write("ä.txt", `0\n${LINES}`), write("b.txt", "b\n"));
    for (const [key, value] of Object.entries(settings)) repository.git("config", key, value);
    const hook = "#!/bin/sh\necho ran >> ../ran\nexit 1\n";
    for (const name of ["pre-commit", "commit-msg", "post-merge", "post-checkout", "reference-transaction"]) {
      writeFileSync(join(repository.root, ".git/hooks", name), hook, { mode: 0o755 });
    }
    const gitDir = (): string[] => readdirSync(join(repository.root, ".git")).toSorted();
    const before = gitDir();
    const prepared = await prepare(how);
    expect(prepared.is).toBe("ready");
    expect(gitDir()).toEqual(before);
    const { from, to } = prepared as { from: string; to: string };
    const merging = createMerging({
      root: repository.root,

      scratch: join(repository.root, "../scratch"),
    });
    const request = { base: "main", from, to, run: "r1", iteration: 1 };
    expect(await merging.advance(request)).toEqual({ is: "moved" });
    expect(repository.git("rev-parse", "main")).toBe(to);
    expect(repository.git("status", "--porcelain", "--untracked-files=all")).not.toMatch(/^[ MADU?]{2} /m);
    expect(repository.read("ä.txt").replaceAll("\r", "")).toBe(`0\n${LINES}`);
    expect(() => readFileSync(join(repository.root, "../ran"))).toThrow("ENOENT");
    expect(repository.git("cat-file", "commit", to)).not.toContain("gpgsig");
  });

  test("nobody has told git a name", async () => {
    repository.dispose();
    repository = temporaryRepository({ anonymous: true });
    repository.git("config", "user.useConfigOnly", "true");
    repository.git("checkout", "--quiet", "-b", "work");
    write("a.txt", "a\n")();
    repository.commit();
    repository.git("checkout", "--quiet", "main");
    write("b.txt", "b\n")();
    repository.commit();
    for (const how of ["squash", "rebase"] as const) {
      const prepared = await prepare(how);
      const { to } = prepared as { to: string };
      expect(repository.git("log", "-1", "--format=%cn", to)).toBe("Ralph");
    }
  });
});

test("a linked checkout as the user's, a repository of SHA-256", async () => {
  await merge(nothing, write("a.txt", "a\n"), write("b.txt", "b\n"));
  const root = join(repository.root, "../linked");
  repository.git("worktree", "add", "--quiet", "--detach", root);
  const scratch = join(repository.root, "../scratch");
  const request = { ...REQUEST, commit: repository.git("rev-parse", "work") };
  const merging = createMerging({ root, scratch });
  expect((await merging.prepare({ ...request, how: "squash", mark: null })).is).toBe("ready");

  repository.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main", "../wide");
  const wide = join(repository.root, "../wide");
  const git = (...args: string[]): string =>
    repository.git("-C", wide, "-c", "user.name=a", "-c", "user.email=a", ...args);
  git("commit", "--quiet", "--allow-empty", "-m", "first");
  git("checkout", "--quiet", "-b", "work");
  writeFileSync(join(wide, "a.txt"), "a\n");
  git("add", "a.txt");
  git("commit", "--quiet", "-m", "work");
  const second = createMerging({ root: wide, scratch });
  for (const how of ["squash", "merge", "rebase"] as const) {
    const commit = git("rev-parse", "work");
    const prepared = await second.prepare({ ...REQUEST, commit, how, mark: null });
    const { from, to } = prepared as { from: string; to: string };
    expect(git("rev-parse", `${to}^1`)).toBe(from);
  }
});
