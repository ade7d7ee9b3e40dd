import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notesOf, releasedChangelog, requireNewer, withVersion } from "../../scripts/release-texts.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = ["package.json", "package-lock.json", "CHANGELOG.md"];

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "ralph-release-"));
  for (const file of FILES) copyFileSync(join(ROOT, file), join(copy, file));
  for (const file of ["release.ts", "release-texts.ts"])
    cpSync(join(ROOT, "scripts", file), join(copy, "scripts", file));
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "start");
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const ENV = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "You",
  GIT_AUTHOR_EMAIL: "you@example.com",
  GIT_COMMITTER_NAME: "You",
  GIT_COMMITTER_EMAIL: "you@example.com",
};

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: copy, env: ENV, encoding: "utf8" }).trimEnd();
}

function release(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const script = join(copy, "scripts", "release.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: copy,
    env: ENV,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

test("a dry run shows what would be done, and changes nothing", () => {
  const { code, stdout } = release("9.1.0", "--dry-run");
  expect(code).toBe(0);
  expect(stdout).toContain(
    "would run the checks, write package.json, package-lock.json, CHANGELOG.md, commit, and set the tag v9.1.0",
  );
  expect(stdout).toContain("### Added");
  expect(git("status", "--porcelain")).toBe("");
  expect(git("tag")).toBe("");
});

test("a release is one commit with a tag, and says how to publish it", () => {
  const { code, stdout } = release("9.1.0", "--without-checks");
  expect(code).toBe(0);
  expect(stdout).toContain("git push origin HEAD v9.1.0");
  expect(stdout).toContain("npm publish --provenance");
  expect(git("log", "--format=%s")).toBe("Release 9.1.0\nstart");
  expect(git("diff", "--stat", "HEAD~1").split("\n").at(-1)).toMatch(
    /3 files changed, 5 insertions\(\+\), 3 deletions/,
  );
  const lock = JSON.parse(readFileSync(join(copy, "package-lock.json"), "utf8")) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  expect([lock.version, lock.packages[""]?.version]).toEqual(["9.1.0", "9.1.0"]);
  expect(readFileSync(join(copy, "CHANGELOG.md"), "utf8")).toMatch(
    /^## \[Unreleased\]\n\n## \[9\.1\.0\] - \d{4}-\d\d-\d\d\n\n### Added$/m,
  );
  expect(git("tag", "--list", "--format=%(contents)", "v9.1.0")).toMatch(/^Ralph 9\.1\.0\n\n### Added\n/);
  expect(git("status", "--porcelain")).toBe("");
});

test.each([
  ["no version", [], "name one version"],
  ["a word", ["soon"], '"soon" is no version'],
  ["an older one", ["0.0.1"], "0.0.1 is not newer than 9.1.0"],
  ["one that is out", ["9.1.0"], "9.1.0 is not newer than 9.1.0"],
  ["nothing to tell", ["9.2.0"], 'CHANGELOG.md says nothing below "## [Unreleased]"'],
])("refused: %s", (_what, args, message) => {
  const { code, stderr } = release(...args);
  expect(code).toBe(64);
  expect(stderr).toContain(message);
});

test("refused: changes that are not committed", () => {
  const changelog = readFileSync(join(copy, "CHANGELOG.md"), "utf8");
  writeFileSync(
    join(copy, "CHANGELOG.md"),
    changelog.replace("## [Unreleased]\n", "## [Unreleased]\n\n- New.\n"),
  );
  expect(release("9.2.0").stderr).toContain("the work tree has uncommitted changes");
});

test("versions are compared as numbers, and a candidate comes before its version", () => {
  expect(() => requireNewer("0.10.0", "0.9.0", true)).not.toThrow();
  expect(() => requireNewer("1.0.0", "1.0.0-rc.2", true)).not.toThrow();
  expect(() => requireNewer("1.0.0-rc.10", "1.0.0-rc.2", true)).not.toThrow();
  expect(() => requireNewer("1.0.0-rc.1", "1.0.0", true)).toThrow("is not newer");
  expect(() => requireNewer("0.1.0", "0.1.0", false)).not.toThrow();
});

test("only our own version changes", () => {
  const lock =
    '{\n  "version": "1.0.0",\n  "packages": {\n    "": {\n      "version": "1.0.0"\n    },\n    "node_modules/a": {\n      "version": "1.0.0"\n    }\n  }\n}\n';
  expect(withVersion(lock, "2.0.0").match(/2\.0\.0/g)).toHaveLength(2);
  expect(withVersion(lock, "2.0.0")).toContain('"node_modules/a": {\n      "version": "1.0.0"');
});

test("the notes of a version end where the next one begins", () => {
  const text = "# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.0.0] - 2026-01-20\n\n- Old.\n";
  const released = releasedChangelog(text, "1.1.0", "2026-02-03");
  expect(notesOf(released, "1.1.0")).toBe("- New.");
  expect(notesOf(released, "1.0.0")).toBe("- Old.");
});
