import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "./find-program.ts";
import { readSmallFile } from "./read-end.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-small-"));
  writeFileSync(join(folder, "file"), "text");
  mkdirSync(join(folder, "folder"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(folder, "huge"), "");
  truncateSync(join(folder, "huge"), 2 ** 33);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a small file is read", () => {
  expect(readSmallFile(join(folder, "file"))).toBe("text");
});

test.each(["nothing", "folder", "pipe", "huge"])("%s is not, and nobody waits for it", (name) => {
  expect(readSmallFile(join(folder, name))).toBeNull();
});

test("a device has no end, and is no file", () => {
  expect(readSmallFile("/dev/zero")).toBeNull();
});

test("a folder of a program's name is not the program", () => {
  expect(findProgram("folder", "/", { PATH: folder })).toBeNull();
});
