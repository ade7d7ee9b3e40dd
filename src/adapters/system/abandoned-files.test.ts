import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeAbandonedIn } from "./abandoned-files.ts";
import { temporaryBeside } from "./atomic-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const { pid: dead } = spawnSync("true");

test("what a dead process was writing is removed; what a living one writes, and what is no file of ours, is not", () => {
  writeFileSync(temporaryBeside(join(folder, "status.json")), "half");
  writeFileSync(join(folder, `.ralph-tmp-${dead}-0a1b2c3d-status.json`), "half");
  writeFileSync(join(folder, "status.json"), "whole");
  mkdirSync(join(folder, `.ralph-tmp-${dead}-folder`));
  removeAbandonedIn(folder);
  const left = readdirSync(folder).toSorted();
  expect(left).toHaveLength(3);
  expect(left).toContain("status.json");
  expect(left).toContain(`.ralph-tmp-${dead}-folder`);
  expect(left.some((name) => name.startsWith(`.ralph-tmp-${process.pid}-`))).toBe(true);
});

test("an old one is nobody's, whoever has its number now", () => {
  for (const name of [`.ralph-tmp-${process.pid}-0a1b2c3d-a.json`, ".ralph-tmp-0a1b2c3d-b.json"]) {
    writeFileSync(join(folder, name), "half");
    utimesSync(join(folder, name), 1_000_000_000, 1_000_000_000);
  }
  removeAbandonedIn(folder);
  expect(readdirSync(folder)).toEqual([]);
});

test("a folder that is not there has nothing abandoned in it", () => {
  expect(() => removeAbandonedIn(join(folder, "missing"))).not.toThrow();
});
