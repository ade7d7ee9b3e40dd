import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

function collect(): Promise<Evidence> {
  return workspace.collect(requestFrom(from, "TODO.md"));
}

test("a work tree that the agent put elsewhere in the configuration is not looked at", async () => {
  repository.git("config", "core.worktree", join(repository.root, "..", "elsewhere"));
  expect((await collect()).changed.files).toBe(0);
  repository.write("a.txt", "one\n");
  expect((await collect()).changed.paths).toEqual(["a.txt"]);
});

test("a file that git cannot take stays, is told of, and does not keep the others out", async () => {
  repository.write(".gitattributes", "*.utf16 working-tree-encoding=UTF-16\n");
  repository.write("bad.utf16", "no byte order mark\n");
  repository.write("good.txt", "one\n");
  const evidence = await collect();
  expect(evidence.uncommitted.map(({ path }) => path)).toEqual(["bad.utf16"]);
  expect(evidence.refusal).toContain("bad.utf16");
  expect(repository.git("show", "--format=", "--name-only", "HEAD")).toBe(".gitattributes\ngood.txt");
  expect((await collect()).uncommitted.map(({ path }) => path)).toEqual(["bad.utf16"]);
});
