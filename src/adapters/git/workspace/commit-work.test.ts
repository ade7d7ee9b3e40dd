import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { NO_LEFTOVERS } from "../../../core/verdict/evidence.ts";
import type { CommittedWork, Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  repository.write("TODO.md", "- [ ] one\n");
  repository.write("src/tracked.ts", "one\n");
  repository.commit("tasks");
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

const git = (...args: string[]): string => repository.git(...args);

async function commitWork(
  over: Partial<Parameters<GitWorkspace["commitWork"]>[0]> = {},
): Promise<CommittedWork> {
  return workspace.commitWork({ ...requestFrom(from, "TODO.md"), ...over });
}

function committed(left: readonly string[] = []): CommittedWork {
  return { is: "committed", head: git("rev-parse", "main"), left };
}

const inCommit = (): string => git("diff", "--name-only", from.head ?? "", "HEAD");

test("work that an agent left uncommitted, staged or not, is committed, and the list is not", async () => {
  repository.write("src/tracked.ts", "two\n");
  repository.write("new.txt", "new\n");
  repository.write("staged.txt", "staged\n");
  git("add", "staged.txt");
  repository.write("TODO.md", "- [x] one\n");
  git("add", "TODO.md");
  const answer = await commitWork();
  expect(answer).toEqual(committed());
  expect(inCommit()).toBe("new.txt\nsrc/tracked.ts\nstaged.txt");
  expect(repository.read("TODO.md")).toBe("- [x] one\n");
  expect(await commitWork()).toEqual(answer);
});

test("without anything to commit, the branch stays", async () => {
  expect(await commitWork()).toEqual({ is: "committed", head: from.head, left: [] });
});

test("secrets and big files stay, and are named", async () => {
  repository.write(".env", "TOKEN=1\n");
  git("add", ".env");
  repository.write("big.bin", new Uint8Array(10 * 1024 * 1024 + 1));
  repository.write("new.txt", "new\n");
  const answer = await commitWork();
  expect(answer).toMatchObject({ is: "committed", left: [".env", "big.bin"] });
  expect(inCommit()).toBe("new.txt");
  expect(repository.read(".env")).toBe("TOKEN=1\n");
});

test("what gates left behind is not taken along", async () => {
  repository.write("new.txt", "new\n");
  const began = await workspace.beforeGates();
  repository.write("report.xml", "1\n");
  const { gatesRan } = await workspace.leftoversAfterGates(NO_LEFTOVERS, began);
  expect(await commitWork({ gatesRan })).toEqual(committed());
  expect(inCommit()).toBe("new.txt");
  expect(git("status", "--porcelain")).toBe("?? report.xml");
});

test("what the person has left alone is not taken along", async () => {
  repository.write("mine.txt", "mine\n");
  repository.write("new.txt", "new\n");
  expect(await commitWork({ leaveAlone: ["mine.txt"] })).toEqual(committed());
  expect(inCommit()).toBe("new.txt");
});

function mergeInConflict(): void {
  git("switch", "--quiet", "--create", "other");
  repository.write("src/tracked.ts", "theirs\n");
  repository.write("theirs.txt", "theirs\n");
  repository.commit("theirs");
  git("switch", "--quiet", "main");
  repository.write("src/tracked.ts", "ours\n");
  repository.commit("ours");
}

test("a merge that stopped at a conflict is committed with its marks, and is over", async () => {
  mergeInConflict();
  from = await workspace.snapshot();
  expect(() => git("merge", "other")).toThrow("git merge other");
  repository.write("new.txt", "new\n");
  repository.write("README.md", "# Changed\n");
  repository.write(".env", "TOKEN=1\n");
  git("add", ".env");
  const answer = await commitWork();
  expect(answer).toEqual(committed([".env"]));
  expect(inCommit()).toBe("README.md\nnew.txt\nsrc/tracked.ts\ntheirs.txt");
  expect(git("show", "HEAD:src/tracked.ts")).toContain("<<<<<<<");
  expect(git("status", "--porcelain")).toBe("?? .env");
  expect(() => git("rev-parse", "--verify", "MERGE_HEAD")).toThrow("fatal");
  expect(await commitWork()).toEqual(answer);
});

test("commits of somebody else are not touched", async () => {
  repository.write("theirs.txt", "theirs\n");
  const theirs = repository.commit("theirs");
  repository.write("new.txt", "new\n");
  expect(await commitWork()).toEqual({ is: "moved" });
  expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([theirs, "?? new.txt"]);
});

test("a person who has checked out another branch keeps all that is uncommitted there", async () => {
  git("switch", "--quiet", "--create", "mine");
  repository.write("mine.txt", "mine\n");
  expect(await commitWork()).toEqual({ is: "committed", head: from.head, left: [] });
  git("branch", "--force", "main", repository.commit("mine"));
  expect(await commitWork()).toEqual({ is: "moved" });
});

test("the first work in a repository without a commit becomes its first commit", async () => {
  git("switch", "--quiet", "--orphan", "young");
  repository.write("TODO.md", "- [ ] one\n");
  repository.write("new.txt", "new\n");
  from = await workspace.snapshot();
  expect(from.head).toBe(null);
  const answer = await commitWork();
  expect(answer).toEqual({ is: "committed", head: git("rev-parse", "young"), left: [] });
  expect(git("ls-tree", "--name-only", "HEAD")).toBe("new.txt");
  expect(await commitWork()).toEqual(answer);
});

test("a hook that refuses does not keep unaccepted work in place", async () => {
  writeFileSync(join(repository.root, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  repository.write("new.txt", "new\n");
  expect(await commitWork({ hooks: true })).toEqual(committed());
  expect(inCommit()).toBe("new.txt");
});
