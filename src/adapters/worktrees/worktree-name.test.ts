import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { worktreeName } from "./worktree-name.ts";

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
