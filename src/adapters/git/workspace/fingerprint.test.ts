import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { createGitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
beforeEach(() => {
  repository = temporaryRepository();
  repository.write(".gitignore", "build/\n");
  repository.write("kept.txt", "one");
  repository.commit();
  repository.write("new.txt", "one");
});
afterEach(() => repository.dispose());

/** Whether the fingerprint is another one afterwards. */
async function tells(change: () => void): Promise<boolean> {
  const { root } = repository;
  const workspace = createGitWorkspace({ root, ralphDir: join(root, ".ralph") });
  const before = await workspace.fingerprint();
  change();
  return (await workspace.fingerprint()) !== before;
}

describe("the fingerprint of a work tree tells that", () => {
  test.each<[string, () => void]>([
    ["a file was written", () => repository.write("other.txt", "one")],
    ["a file was changed", () => repository.write("kept.txt", "two")],
    ["an uncommitted file was changed again", () => repository.write("new.txt", "two")],
    ["a file was deleted", () => repository.remove("kept.txt")],
    ["an uncommitted file was deleted", () => repository.remove("new.txt")],
    ["a file was staged", () => void repository.git("add", "new.txt")],
    ["something was committed", () => void repository.git("commit", "--quiet", "--allow-empty", "-m", "x")],
    ["another branch was begun", () => void repository.git("switch", "--quiet", "-c", "other")],
    ["notes were written", () => repository.write(".ralph/progress.txt", "done")],
  ])("%s", async (_, change) => {
    expect(await tells(change)).toBe(true);
  });
});

describe("the fingerprint of a work tree stays", () => {
  test.each<[string, () => void]>([
    ["when nothing happens", () => {}],
    ["when git ignores the file", () => repository.write("build/out.txt", "one")],
    ["when we write our own files", () => repository.write(".ralph/progress.json", "{}")],
  ])("%s", async (_, change) => {
    expect(await tells(change)).toBe(false);
  });
});
