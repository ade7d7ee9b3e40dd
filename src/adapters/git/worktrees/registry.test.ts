import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Repository } from "../find-repository.ts";
import { findPlace, makePlace, worktreeName } from "./registry.ts";

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

const nameOf = (task: string, foldsCase = false): string => worktreeName(task, { foldsCase }).folder;

test.each(["TASK-001", "login", "US-1.2", "größe", "任务", "a_b", "goal-1a2b3c", "Log-In"])(
  "%j is taken as it is",
  (task) => {
    expect(worktreeName(task, { foldsCase: false })).toEqual({ folder: task, branch: `ralph/${task}` });
  },
);

test.each([
  ["log in", /^log-in-[0-9a-f]{8}$/],
  ["a/b", /^a-b-[0-9a-f]{8}$/],
  ["../../etc/passwd", /^etc-passwd-[0-9a-f]{8}$/],
  ["a..b", /^a\.b-[0-9a-f]{8}$/],
  ["~^:?*[\\", /^task-[0-9a-f]{8}$/],
  ["--force", /^force-[0-9a-f]{8}$/],
  ["x.lock", /^x\.lock-[0-9a-f]{8}$/],
  ["x.LOCK", /^x\.LOCK-[0-9a-f]{8}$/],
  ["merged", /^merged-[0-9a-f]{8}$/],
  ["@{u}", /^u-[0-9a-f]{8}$/],
  ["", /^task-[0-9a-f]{8}$/],
  ["gro\u0308ße", /^größe-[0-9a-f]{8}$/],
  ["💥 boom", /^boom-[0-9a-f]{8}$/],
  ["x".repeat(300), /^x{50}-[0-9a-f]{8}$/],
  ["line\nbreak\0", /^line-break-[0-9a-f]{8}$/],
])("%j can be read and has a hash", (task, expected) => {
  expect(nameOf(task)).toMatch(expected);
});

test("an id that looks like another one with its hash is none", () => {
  expect(nameOf(nameOf("log in"))).not.toBe(nameOf("log in"));
});

test("where case does not count, ids that differ in nothing else have other names", () => {
  const names = ["login", "Login", "LOGIN", "größe", "Größe"].map((task) => nameOf(task, true).toLowerCase());
  expect(new Set(names).size).toBe(names.length);
  expect(nameOf("login", true)).toBe("login");
});

const anyId = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc
    .array(fc.constantFrom("a", "B", ".", "-", "/", " ", ".lock", "@{", "ä", "..", "\u{1F4A5}"), {
      maxLength: 80,
    })
    .map((parts) => parts.join("")),
);

test("no two ids share a name, and none is too long for a file system", () => {
  fc.assert(
    fc.property(anyId, anyId, fc.boolean(), (one, other, foldsCase) => {
      expect(Buffer.byteLength(nameOf(one, foldsCase))).toBeLessThan(240);
      expect(nameOf(one)).not.toMatch(/[@~/]|^[.-]/);
      const names = [one, other].map((task) => nameOf(task, foldsCase));
      if (one !== other)
        expect(new Set(foldsCase ? names.map((name) => name.toLowerCase()) : names).size).toBe(2);
    }),
    { seed: 20_261_115 },
  );
});

test("git takes every name as a branch", () => {
  fc.assert(
    fc.property(anyId, (task) => {
      const { branch } = worktreeName(task, { foldsCase: false });
      execFileSync("git", ["check-ref-format", "--branch", branch], { stdio: "ignore" });
    }),
    { seed: 20_261_115 },
  );
});
