import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { findRepository } from "./find-repository.ts";

let repository: TemporaryRepository;
let outside: string;

beforeEach(() => {
  repository = temporaryRepository();
  outside = realpathSync(mkdtempSync(join(tmpdir(), "ralph-outside-")));
});
afterEach(() => {
  repository.dispose();
  rmSync(outside, { recursive: true });
  delete process.env["GIT_DIR"];
  delete process.env["GIT_WORK_TREE"];
});

test("is found from the root, from a folder below and through a link", async () => {
  const { root } = repository;
  const expected = { root, gitDir: join(root, ".git"), commonDir: join(root, ".git") };
  symlinkSync(join(root, "src"), join(outside, "link"));
  for (const cwd of [root, join(root, "src"), join(outside, "link")]) {
    expect(await findRepository(cwd)).toEqual(expected);
  }
});

test("a worktree has a git directory of its own and shares the common one", async () => {
  const lane = join(outside, "lane");
  repository.git("worktree", "add", "--quiet", "-b", "lane", lane);
  expect(await findRepository(lane)).toEqual({
    root: lane,
    gitDir: join(repository.root, ".git/worktrees/lane"),
    commonDir: join(repository.root, ".git"),
  });
});

test("a git directory that is named by the environment is respected", async () => {
  process.env["GIT_DIR"] = join(repository.root, ".git");
  process.env["GIT_WORK_TREE"] = outside;
  expect(await findRepository(outside)).toMatchObject({
    root: outside,
    gitDir: join(repository.root, ".git"),
  });
});

test("outside of a repository the answer is one sentence and what to type", async () => {
  await expect(findRepository(outside)).rejects.toMatchObject({
    code: "no-repository",
    message: `${outside} is not inside a git repository`,
    hint: "git init",
  });
});

test("a bare repository and the inside of a git directory are none to work in", async () => {
  repository.git("clone", "--quiet", "--bare", repository.root, join(outside, "bare"));
  mkdirSync(join(outside, "odd"));
  repository.git("clone", "--quiet", "--bare", repository.root, join(outside, "odd/.git"));
  for (const cwd of [join(outside, "bare"), join(repository.root, ".git/refs"), join(outside, "odd")]) {
    await expect(findRepository(cwd)).rejects.toMatchObject({
      code: "no-repository",
      message: `${cwd} is in a git directory that has no work tree`,
    });
  }
});

test("a folder that does not exist is said to be so", async () => {
  await expect(findRepository(join(outside, "nowhere"))).rejects.toThrow("does not exist");
});
