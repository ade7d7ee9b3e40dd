import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Repository } from "../git/find-repository.ts";
import { findPlace, makePlace } from "./find-place.ts";

let folder: string;
let repository: Repository;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-place-")));
  const root = join(folder, "project");
  mkdirSync(join(root, ".git"), { recursive: true });
  repository = { root, gitDir: join(root, ".git"), commonDir: join(root, ".git") };
});
afterEach(() => rmSync(folder, { recursive: true }));

test("is below the state home, for nobody else to read", () => {
  const place = findPlace(join(folder, "state"), "id", repository);
  expect(place).toBe(join(folder, "state/ralph/id"));
  makePlace(place);
  expect(statSync(place).mode & 0o777).toBe(0o700);
});

test("a link on the way is followed", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "state"));
  expect(findPlace(join(folder, "state"), "id", repository)).toBe(join(folder, "real/ralph/id"));
});

test("a state home that only begins like the checkout is another one", () => {
  expect(findPlace(join(folder, "project-state"), "id", repository)).toContain("project-state");
});

test.each([
  ["the checkout", "project"],
  ["a folder of the checkout", "project/.state"],
  ["the main checkout, seen from a worktree", "project/state"],
])("%s is refused, with what to do", (_what, home) => {
  const lane = {
    ...repository,
    root: join(folder, "lane"),
    gitDir: join(folder, "project/.git/worktrees/lane"),
  };
  for (const seen of home === "project/state" ? [lane] : [repository]) {
    expect(() => findPlace(join(folder, home), "id", seen)).toThrow(
      expect.objectContaining({
        code: "not-writable",
        message: expect.stringContaining(`it lies inside the checkout ${join(folder, "project")}`) as string,
        hint: "set XDG_STATE_HOME to a folder outside of the repository",
      }),
    );
  }
});

test.each(["project/.git/state", "elsewhere/.git"])("below a git directory (%s) is refused", (home) => {
  expect(() => findPlace(join(folder, home), "id", repository)).toThrow("it lies below a git directory");
});

test("a git directory of another name is one", () => {
  const bare = join(folder, "store");
  expect(() => findPlace(bare, "id", { ...repository, gitDir: bare, commonDir: bare })).toThrow(
    "below a git",
  );
});

test("a link into the checkout does not hide it", () => {
  symlinkSync(join(folder, "project"), join(folder, "state"));
  expect(() => findPlace(join(folder, "state"), "id", repository)).toThrow("inside the checkout");
});

test("a file in the way is told", () => {
  expect(() => makePlace(join("/dev/null", "ralph"))).toThrow("cannot be written");
});
