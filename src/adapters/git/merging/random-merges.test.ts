import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { MergeRequest, PreparedMerge } from "../../../engine/parallel-ports.ts";
import { createMerging } from "./git-merging.ts";

let repository: TemporaryRepository;

afterEach(() => repository.dispose());

type Random = (below: number) => number;

function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    // A linear congruence is chance enough here; its high bits are the better ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PATHS = ["a.txt", "b.txt", "dir/c.txt", "dir/d.txt", "dir/deep/e.txt", "ü.txt", "union.log"];

function content(random: Random): string {
  return Array.from({ length: 30 }, (_, line) => `${line} ${random(1000)}\n`).join("");
}

function tracked(): string[] {
  return repository.git("-c", "core.quotePath=false", "ls-files").split("\n");
}

function changeSomething(random: Random): void {
  const files = tracked().filter((path) => path !== ".gitattributes");
  const path = files[random(files.length)]!;
  const deeds = [
    () => edit(path, random),
    () => edit(path, random),
    () => edit(path, random),
    () => repository.write(`dir/new-${random(6)}.txt`, content(seeded(random(3)))),
    () => repository.remove(path),
    () => rename(path, `moved/${random(4)}.txt`),
    () => rename(path, `dir/renamed-${random(4)}.txt`),
    () => chmodSync(join(repository.root, path), random(2) === 0 ? 0o755 : 0o644),
  ];
  deeds[random(deeds.length)]!();
}

function edit(path: string, random: Random): void {
  const lines = repository.read(path).split("\n");
  lines.splice(random(lines.length), random(3), `edited ${random(1000)}`);
  repository.write(path, lines.join("\n"));
}

function rename(path: string, to: string): void {
  if (existsSync(join(repository.root, to))) return;
  repository.write(to, repository.read(path));
  repository.remove(path);
}

function someCommits(random: Random): void {
  for (let commits = 1 + random(3); commits > 0; commits -= 1) {
    for (let deeds = 1 + random(2); deeds > 0; deeds -= 1) {
      changeSomething(random);
      repository.git("add", "--all");
    }
    repository.git("commit", "--quiet", "--allow-empty", "--message", "work");
  }
}

/** What git itself makes of it, in a clone; null: a conflict. */
function mergeInClone(): string | null {
  const clone = join(repository.root, "../clone");
  repository.git("clone", "--quiet", repository.root, clone);
  const git = (...args: string[]): string =>
    repository.git("-C", clone, "-c", "user.name=a", "-c", "user.email=a", ...args);
  try {
    git("merge", "--quiet", "--squash", "origin/work");
  } catch (error) {
    if (git("ls-files", "--unmerged") === "") throw error;
    return null;
  }
  return git("write-tree");
}

function prepare(how: MergeRequest["how"]): Promise<PreparedMerge> {
  const scratch = join(repository.root, "../scratch");
  const merging = createMerging({ root: repository.root, scratch });
  const request = { run: "r1", task: "T1", iteration: 1, title: "Work", base: "main", branch: "work" };
  return merging.prepare({ ...request, commit: repository.git("rev-parse", "work"), how, mark: null });
}

describe("a random branch and a random base", () => {
  test.each(Array.from({ length: 30 }, (_, seed) => seed + 1))(
    "of seed %i become what git makes of them",
    async (seed) => {
      const random = seeded(seed);
      repository = temporaryRepository();
      for (const path of PATHS) repository.write(path, content(random));
      repository.write(".gitattributes", "*.log merge=union\n");
      repository.commit();
      repository.git("checkout", "--quiet", "-b", "work");
      someCommits(random);
      repository.git("checkout", "--quiet", "main");
      someCommits(random);
      const expected = mergeInClone();
      const from = repository.git("rev-parse", "main");
      for (const how of ["squash", "merge", "rebase"] as const) {
        const prepared = await prepare(how);
        if (expected === null) expect(prepared).toMatchObject({ is: "conflict", from });
        else if (expected === repository.git("rev-parse", "main^{tree}")) expect(prepared.is).toBe("nothing");
        else {
          expect(prepared).toMatchObject({ is: "ready", from });
          const { to } = prepared as { to: string };
          expect(repository.git("rev-parse", `${to}^{tree}`)).toBe(expected);
          expect(repository.git("merge-base", "main", to)).toBe(from);
        }
      }
    },
  );
});
