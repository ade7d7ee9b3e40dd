import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { requestFrom } from "../../../../test/contract/workspace.contract.ts";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { Evidence } from "../../../core/verdict/evidence.ts";
import type { CollectRequest, Snapshot } from "../../../engine/ports.ts";
import { createGitWorkspace, type GitWorkspace } from "./git-workspace.ts";

const STRAY = "refs/ralph/stray/0b5e1c2a/1";

let repository: TemporaryRepository;
let workspace: GitWorkspace;
let from: Snapshot;

beforeEach(async () => {
  repository = temporaryRepository();
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
});
afterEach(() => repository.dispose());

function collect(over: Partial<CollectRequest> = {}): Promise<Evidence> {
  return workspace.collect({ ...requestFrom(from, "TODO.md"), ...over });
}

function head(): string {
  return repository.git("rev-parse", "--abbrev-ref", "HEAD");
}

test("a branch that continues ours is brought along, with what is uncommitted on it", async () => {
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.write("a.txt", "one\n");
  repository.commit();
  repository.write("b.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changed.paths).toEqual(["a.txt", "b.txt"]);
  expect(head()).toBe("main");
  expect(repository.git("log", "--format=%s", "main")).toBe("ralph(task-001): Make it work\nwork\nfirst");
});

test.each([
  ["ahead of ours", "main"],
  ["beside ours", "first"],
])("a person's branch %s stays as it is, and what is uncommitted comes back", async (_where, start) => {
  repository.git("tag", "first");
  repository.write("own.txt", "own\n");
  repository.commit("on main");
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "-b", "feature", start);
  repository.write("theirs.txt", "theirs\n");
  const theirs = repository.commit("theirs");
  repository.git("checkout", "--quiet", "main");
  repository.write("a.txt", "one\n");
  repository.git("checkout", "--quiet", "feature");
  const evidence = await collect({ since: Date.now() + 60_000 });
  expect(evidence).toMatchObject({ strayedTo: null, changed: { paths: ["a.txt"] } });
  expect(head()).toBe("main");
  expect(repository.git("rev-parse", "feature")).toBe(theirs);
  expect(repository.git("log", "--format=%s", "main")).toBe("ralph(task-001): Make it work\non main\nfirst");
});

test("a detached HEAD that continues ours is brought along", async () => {
  repository.git("checkout", "--quiet", "--detach");
  repository.write("a.txt", "one\n");
  repository.commit();
  const evidence = await collect({ commit: "agent" });
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changed.paths).toEqual(["a.txt"]);
  expect(head()).toBe("main");
});

test.each([
  [
    "detached",
    [
      ["checkout", "--quiet", "--detach"],
      ["branch", "-D", "main"],
    ],
  ],
  ["renamed", [["branch", "--move", "renamed"]]],
  [
    "orphaned",
    [
      ["checkout", "--quiet", "--orphan", "fresh"],
      ["branch", "-D", "main"],
    ],
  ],
])("a branch that is gone (%s) keeps its history", async (_how, commands) => {
  for (const command of commands) repository.git(...command);
  repository.write("a.txt", "one\n");
  await collect();
  expect(head()).toBe("main");
  expect(repository.git("log", "--format=%s", "main")).toBe("ralph(task-001): Make it work\nfirst");
});

test("a renamed branch gets its name back", async () => {
  repository.git("branch", "--move", "renamed");
  repository.write("a.txt", "one\n");
  const evidence = await collect();
  expect(evidence.changed.paths).toEqual(["a.txt"]);
  expect(head()).toBe("main");
});

test("work on a branch that does not continue ours stays there, leftovers too", async () => {
  repository.write("main-only.txt", "one\n");
  repository.commit();
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "-b", "elsewhere", "HEAD~1");
  repository.write("a.txt", "one\n");
  repository.commit();
  repository.write("b.txt", "one\n");
  const evidence = await collect({ commit: "agent" });
  expect(evidence.strayedTo).toBe("elsewhere");
  expect(evidence.changed.files).toBe(0);
  expect(evidence.headAfter).toBe(from.head);
  expect(head()).toBe("main");
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(repository.git("show", "elsewhere:b.txt")).toBe("one");
  expect(existsSync(join(repository.root, "main-only.txt"))).toBe(true);
});

test.each([
  ["feature", ["checkout -q -b feature", "add a.txt", "commit -qm work", "checkout -q main"]],
  ["stash", ["add a.txt", "stash -q"]],
])("an agent that comes back without its work is told that it is at %s", async (place, commands) => {
  repository.write("a.txt", "one\n");
  for (const command of commands) repository.git(...command.split(" "));
  expect((await collect()).elsewhere).toBe(place);
  expect(await collect({ since: Date.now() + 3_000 })).not.toHaveProperty("elsewhere");
});

test("collecting again after a crash still knows where the work went", async () => {
  repository.git("checkout", "--quiet", "--orphan", "elsewhere");
  repository.commit();
  const first = await collect();
  expect(first.strayedTo).toBe("elsewhere");
  expect(await collect()).toEqual(first);
  expect((await collect({ run: "another-run" })).strayedTo).toBeNull();
});

test("work on a detached HEAD gets a name of its own", async () => {
  repository.write("main-only.txt", "one\n");
  repository.commit();
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "--detach", "HEAD~1");
  repository.write("a.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(repository.git("show", `${STRAY}:a.txt`)).toBe("one");
  expect(head()).toBe("main");
  expect(evidence.changed.files).toBe(0);
  expect(await collect()).toEqual(evidence);
});

test("an agent that only looked at an older commit is put back without a word", async () => {
  repository.write("a.txt", "one\n");
  repository.commit();
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "HEAD~1");
  const evidence = await collect();
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.headAfter).toBe(from.head);
  expect(head()).toBe("main");
});

test("an orphan branch without a commit is only a HEAD to put back", async () => {
  repository.git("checkout", "--quiet", "--orphan", "fresh");
  repository.write("a.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changed.paths).toEqual(["a.txt"]);
  expect(head()).toBe("main");
});

test("a rebase that was killed in a conflict is saved and undone", async () => {
  repository.git("checkout", "--quiet", "-b", "other");
  repository.write("README.md", "# Theirs\n");
  repository.commit();
  repository.git("checkout", "--quiet", "main");
  repository.write("README.md", "# Ours\n");
  repository.commit();
  from = await workspace.snapshot();
  expect(() => repository.git("rebase", "other")).toThrow("conflict");
  repository.write("notes.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(repository.git("show", `${STRAY}:README.md`)).toContain("<<<<<<<");
  expect(repository.git("show", `${STRAY}:notes.txt`)).toBe("one");
  expect(head()).toBe("main");
  expect(repository.read("README.md")).toBe("# Ours\n");
  expect(existsSync(join(repository.root, ".git/rebase-merge"))).toBe(false);
});

test("a conflict on another branch is saved there and does not come along", async () => {
  repository.git("checkout", "--quiet", "-b", "other");
  repository.write("README.md", "# Theirs\n");
  repository.commit();
  repository.git("checkout", "--quiet", "-b", "elsewhere", "main");
  repository.write("README.md", "# Elsewhere\n");
  repository.commit();
  repository.git("checkout", "--quiet", "main");
  repository.write("README.md", "# Ours\n");
  repository.commit();
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "elsewhere");
  expect(() => repository.git("merge", "other")).toThrow("merge");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(evidence.uncommitted).toEqual([]);
  expect(head()).toBe("main");
  expect(repository.read("README.md")).toBe("# Ours\n");
});

test("where the run began on a detached HEAD, a new branch is left again with its work", async () => {
  repository.git("checkout", "--quiet", "--detach");
  from = await workspace.snapshot();
  expect(from.branch).toBeNull();
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.write("a.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changed.paths).toEqual(["a.txt"]);
  expect(head()).toBe("HEAD");
  expect(repository.git("rev-parse", "HEAD")).toBe(evidence.headAfter);
});

test("before the first commit, another name for the branch is put right", async () => {
  repository.dispose();
  repository = temporaryRepository({ unborn: true });
  workspace = createGitWorkspace({ root: repository.root, ralphDir: ".ralph" });
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.write("a.txt", "one\n");
  repository.commit();
  const evidence = await collect();
  expect(evidence.changed.paths).toEqual(["a.txt"]);
  expect(evidence.strayedTo).toBeNull();
  expect(head()).toBe("main");
});

test("files of the operator's that are in the way are not lost: the run stops and says so", async () => {
  repository.write("README.md", "# New\n");
  repository.commit();
  from = await workspace.snapshot();
  repository.git("checkout", "--quiet", "-b", "elsewhere", "HEAD~1");
  repository.write("a.txt", "one\n");
  repository.commit();
  repository.write("README.md", "# Operator's\n");
  await expect(collect({ leaveAlone: ["README.md"] })).rejects.toMatchObject({ code: "git-failed" });
  expect(repository.read("README.md")).toBe("# Operator's\n");
});

test("an agent that throws away the commits before its task gets them back", async () => {
  repository.write("human.txt", "work of a person\n");
  repository.commit("human");
  from = await workspace.snapshot();
  repository.git("reset", "--quiet", "--hard", "HEAD~1");
  repository.write("a.txt", "one\n");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(evidence.changed.files).toBe(0);
  expect(head()).toBe("main");
  expect(repository.read("human.txt")).toBe("work of a person\n");
  expect(repository.git("show", "--format=", "--name-only", STRAY)).toBe("a.txt");
  expect(repository.git("status", "--porcelain")).toBe("");
  expect((await collect()).strayedTo).toBe(STRAY);
});

test("an agent may not amend the commit on which its task began", async () => {
  repository.write("a.txt", "one\n");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "--amend", "--no-edit");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(repository.git("rev-parse", "main")).toBe(from.head);
});

test("an agent may rewrite its own commits, of this iteration and of earlier ones", async () => {
  const taskBase = from.head;
  repository.write("a.txt", "one\n");
  repository.commit("mine");
  from = await workspace.snapshot();
  repository.write("a.txt", "two\n");
  repository.git("commit", "--quiet", "--amend", "--all", "--no-edit");
  const evidence = await collect({ taskBase });
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changedSinceTaskBegan.paths).toEqual(["a.txt"]);
});

test("a merge of the agent's own branch continues ours", async () => {
  repository.git("checkout", "--quiet", "-b", "side");
  repository.write("a.txt", "one\n");
  repository.commit("side");
  repository.git("checkout", "--quiet", "main");
  repository.write("b.txt", "one\n");
  repository.commit("main");
  repository.git("merge", "--quiet", "--no-edit", "side");
  const evidence = await collect();
  expect(evidence.strayedTo).toBeNull();
  expect(evidence.changed.paths).toEqual(["a.txt", "b.txt"]);
});

test("a history of which the beginning is gone is nobody's work", async () => {
  repository.git("checkout", "--quiet", "--orphan", "fresh");
  repository.write("a.txt", "one\n");
  repository.commit("all anew");
  repository.git("branch", "--quiet", "--force", "main", "fresh");
  repository.git("checkout", "--quiet", "main");
  const evidence = await collect();
  expect(evidence.strayedTo).toBe(STRAY);
  expect(repository.git("rev-parse", "main")).toBe(from.head);
});

test("a commit that git's replacements pretend is not believed", async () => {
  const empty = repository.git(
    "commit-tree",
    "-m",
    "x",
    repository.git("hash-object", "-t", "tree", "/dev/null"),
  );
  repository.git("replace", "HEAD", empty);
  expect((await collect()).changed.files).toBe(0);
});
