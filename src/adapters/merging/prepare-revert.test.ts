import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import type { FileMark, PreparedMerge } from "../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

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
