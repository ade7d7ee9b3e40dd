import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { outsidePath, safePath } from "./safe-path.ts";

let folder: string;
let root: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-test-")));
  root = join(folder, "root");
  mkdirSync(join(root, "docs"), { recursive: true });
  mkdirSync(join(folder, "outside"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("what lies inside is answered as it is, whether it exists or not", () => {
  expect(safePath(root, "docs/a.md")).toBe(join(root, "docs/a.md"));
  expect(safePath(root, "new/folder/a.md")).toBe(join(root, "new/folder/a.md"));
  expect(safePath(root, "docs/../a.md")).toBe(join(root, "a.md"));
  expect(safePath(root, "..a")).toBe(join(root, "..a"));
});

test("links inside are followed to the real place", () => {
  symlinkSync("docs", join(root, "link"));
  symlinkSync("link/a.md", join(root, "TODO.md"));
  symlinkSync(join(root, "docs/nothing.md"), join(root, "dangling.md"));
  expect(safePath(root, "TODO.md")).toBe(join(root, "docs/a.md"));
  expect(safePath(root, "link/b/../c.md")).toBe(join(root, "docs/c.md"));
  expect(safePath(root, "dangling.md")).toBe(join(root, "docs/nothing.md"));
});

test("the root may be reached through a link itself", () => {
  symlinkSync(root, join(folder, "alias"));
  expect(safePath(join(folder, "alias"), "docs/a.md")).toBe(join(root, "docs/a.md"));
});

test.each([
  ["two dots", "../outside/a"],
  ["an absolute path", "/etc/passwd"],
  ["a linked folder", "away/a"],
  ["a linked file", "secret"],
  ["a link to a link", "twice"],
  ["a link that points to nothing outside", "void"],
  ["a link in a circle", "circle"],
  ["a link with two dots", "docs/up/a"],
])("%s that leads outside is refused", (_name, path) => {
  writeFileSync(join(folder, "outside/secret"), "");
  symlinkSync(join(folder, "outside"), join(root, "away"));
  symlinkSync("../outside/secret", join(root, "secret"));
  symlinkSync("away/secret", join(root, "twice"));
  symlinkSync("/nonexistent/void", join(root, "void"));
  symlinkSync("circle", join(root, "circle"));
  symlinkSync("../../outside", join(root, "docs/up"));
  expect(() => safePath(root, path)).toThrow(
    expect.objectContaining({ code: "not-writable", message: `${path} leads outside of ${root}` }),
  );
});

test.each<[string, string, string]>([
  ["our own tools go", "/opt/ralph/node_modules/.bin:/usr/bin", "/usr/bin"],
  ["our own Node goes", "/usr/bin:/opt/ralph/node_modules/node/bin", "/usr/bin"],
  ["a slash at the end changes nothing", "/opt/ralph/node_modules/.bin/:/usr/bin", "/usr/bin"],
  ["a way round changes nothing", "/opt/x/../ralph/node_modules/.bin:/usr/bin", "/usr/bin"],
  [
    "the user's tools stay",
    "/home/me/app/node_modules/.bin:/usr/bin",
    "/home/me/app/node_modules/.bin:/usr/bin",
  ],
  [
    "tools beside ours stay",
    "/opt/ralph/bin:/opt/ralph2/node_modules/.bin",
    "/opt/ralph/bin:/opt/ralph2/node_modules/.bin",
  ],
  ["an empty entry stays", ":/usr/bin", ":/usr/bin"],
  ["nothing stays nothing", "", ""],
])("%s", (_, path, outside) => {
  expect(outsidePath(path, "/opt/ralph")).toBe(outside);
});
