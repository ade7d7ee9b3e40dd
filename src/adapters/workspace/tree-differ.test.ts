import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { createGit } from "../git/git.ts";
import { createTreeDiffer, type TreeDiffer } from "./compare-commits.ts";

let repository: TemporaryRepository;
let differ: TreeDiffer;
let started: ChildProcessWithoutNullStreams[];
let commits: readonly [string, string, string];

beforeEach(() => {
  repository = temporaryRepository();
  const git = createGit(repository.root);
  started = [];
  differ = createTreeDiffer(() => {
    const child = git.start(["diff-tree", "--stdin", "--no-commit-id", "-r", "-z", "--name-only"]);
    started.push(child);
    return child;
  });
  const first = repository.git("rev-parse", "HEAD");
  repository.write("a b.txt", "one\n");
  repository.commit();
  const second = repository.git("rev-parse", "HEAD");
  repository.write("c.txt", "one\n");
  repository.commit();
  commits = [first, second, repository.git("rev-parse", "HEAD")];
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  repository.dispose();
});

test("answers one question after the other from one git", async () => {
  const [first, second, third] = commits;
  const answers = [
    differ.records(first, third),
    differ.records(first, second),
    differ.records(second, second),
  ];
  expect(await Promise.all(answers)).toEqual([["a b.txt", "c.txt"], ["a b.txt"], []]);
  expect(started).toHaveLength(1);
});

test("does not know what differs from a commit that is gone, and answers the next question", async () => {
  const [first, second] = commits;
  expect(await differ.records("0".repeat(39) + "1", second)).toBeNull();
  expect(await differ.records(first, second)).toEqual(["a b.txt"]);
});

test("starts another git when the one before has ended", async () => {
  const [first, second] = commits;
  await differ.records(first, second);
  const [child] = started;
  child?.stdin.end();
  if (child !== undefined) await once(child, "close");
  expect(await differ.records(first, second)).toEqual(["a b.txt"]);
  expect(started).toHaveLength(2);
});
