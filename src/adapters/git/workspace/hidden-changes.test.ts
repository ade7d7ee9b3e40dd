import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Evidence } from "../../../core/verdict/evidence.ts";
import type { Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  for (const name of ["a.txt", "b.txt", "test/a.txt"]) repository.write(name, "one\n");
  repository.commit("files");
  workspace = createGitWorkspace({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

async function collect(isClaimed = false): Promise<Evidence> {
  return workspace.collect({ ...requestFrom(from, "TODO.md"), taskBase: from.head, isClaimed });
}

function gitFile(name: string, text: string): void {
  repository.write(`.git/${name}`, text);
}

describe("a change that is hidden from git is seen, and what hid it is undone and named:", () => {
  test.each<[string, () => void, string]>([
    [
      "assume-unchanged",
      () => repository.git("update-index", "--assume-unchanged", "a.txt"),
      "index flag of a.txt",
    ],
    [
      "skip-worktree",
      () => repository.git("update-index", "--skip-worktree", "a.txt"),
      "index flag of a.txt",
    ],
    ["info/exclude", () => gitFile("info/exclude", "new.txt\n"), "info/exclude"],
    [
      "an excludes file",
      () => repository.git("config", "core.excludesFile", ".git/mine"),
      "core.excludesfile",
    ],
    ["a monitor", () => repository.git("config", "core.fsmonitor", "sh -c 'printf 1'"), "core.fsmonitor"],
    ["a filter", () => repository.git("config", "filter.x.clean", "cat a.txt"), "filter.x.clean"],
    ["untracked files", () => repository.git("config", "status.showUntrackedFiles", "no"), "status.show"],
  ])("%s", async (_how, hide, named) => {
    repository.write("a.txt", "two\n");
    hide();
    repository.write("new.txt", "new\n");
    gitFile("mine", "new.txt\n");
    const { hidden, changed } = await collect();
    expect(hidden?.join().toLowerCase()).toContain(named.toLowerCase());
    expect(changed.paths).toEqual(["a.txt", "new.txt"]);
    expect(repository.git("ls-files", "-v", "a.txt")).toBe("H a.txt");
    from = await workspace.snapshot();
    expect((await collect()).hidden).toEqual([]);
  });

  test("a file that was added through a filter", async () => {
    gitFile("old.txt", "one\n");
    gitFile("info/attributes", "a.txt filter=keep\n");
    repository.git("config", "filter.keep.clean", "cat .git/old.txt");
    repository.write("a.txt", "two\n");
    repository.git("add", "a.txt");
    const { hidden, changed } = await collect();
    expect(hidden?.join()).toContain("filter.keep.clean");
    expect(changed.paths).toEqual(["a.txt"]);
  });

  test("a file that was added through a filter of which nothing is left", async () => {
    gitFile("old.txt", "one\n");
    gitFile("mine", "a.txt filter=keep\n");
    repository.write("a.txt", "two\n");
    utimesSync(join(repository.root, "a.txt"), 1_000, 1_000);
    const passing = ["-c", "filter.keep.clean=cat .git/old.txt", "-c", "core.attributesFile=.git/mine"];
    repository.git(...passing, "add", "a.txt");
    expect(repository.git("status", "--porcelain")).toBe("");
    const { changed } = await collect(true);
    expect(changed.paths).toEqual(["a.txt"]);
  });

  test("a sparse checkout brings its files back", async () => {
    repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/test/");
    const { hidden, changed } = await collect();
    expect(hidden?.join()).toContain("index flag of test/a.txt");
    expect(changed.files).toBe(0);
    expect(repository.read("test/a.txt")).toBe("one\n");
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("a replaced object counts as it was", async () => {
    const [one, two] = [
      repository.git("rev-parse", "HEAD:a.txt"),
      repository.git("rev-parse", "HEAD:README.md"),
    ];
    repository.git("replace", one, two);
    expect((await collect()).hidden).toEqual([`refs/replace/${one}`]);
    expect(repository.git("replace", "--list")).toBe("");
  });
});

test("what the operator had set before the agent stays", async () => {
  repository.git("update-index", "--skip-worktree", "b.txt");
  repository.git("config", "core.fsmonitor", "false");
  gitFile("info/exclude", "mine.txt\n");
  workspace = createGitWorkspace({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
  from = await workspace.snapshot();
  repository.git("config", "user.nickname", "x");
  writeFileSync(join(repository.root, "a.txt"), "two\n");
  rmSync(join(repository.root, "test"), { recursive: true });
  const { hidden, changed } = await collect();
  expect(hidden).toEqual([]);
  expect(changed.paths).toEqual(["a.txt", "test/a.txt"]);
  expect(repository.git("config", "user.nickname")).toBe("x");
  expect(repository.git("ls-files", "-v", "b.txt")).toBe("S b.txt");
});
