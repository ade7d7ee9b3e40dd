import { findProgram } from "./process-table.ts";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  fileError,
  readSmallFile,
  removeAbandonedIn,
  temporaryBeside,
  writeFileAtomically,
} from "./atomic-file.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a new file is written whole, an old one replaced", () => {
  const path = join(folder, "a.json");
  writeFileAtomically(path, "one");
  writeFileAtomically(path, Buffer.from([0xff, 0x00]));
  expect(readFileSync(path)).toEqual(Buffer.from([0xff, 0x00]));
  writeFileAtomically(path, "three", { durable: false });
  expect(readFileSync(path, "utf8")).toBe("three");
  expect(readdirSync(folder)).toEqual(["a.json"]);
});

test("a reader who has the old file open keeps it, and the mode stays", () => {
  const path = join(folder, "run.sh");
  writeFileSync(path, "old");
  chmodSync(path, 0o751);
  const { ino } = statSync(path);
  writeFileAtomically(path, "new");
  expect(statSync(path).mode & 0o777).toBe(0o751);
  expect(statSync(path).ino).not.toBe(ino);
});

test("a failure names the path and leaves nothing behind", () => {
  const path = join(folder, "taken");
  mkdirSync(join(path, "inside"), { recursive: true });
  expect(() => writeFileAtomically(path, "x")).toThrow(expect.objectContaining({ code: "not-writable" }));
  expect(() => writeFileAtomically(path, "x")).toThrow(path);
  expect(readdirSync(folder)).toEqual(["taken"]);
});

test("a path below something that is no folder is refused in the same way", () => {
  writeFileSync(join(folder, "file"), "");
  expect(() => writeFileAtomically(join(folder, "file/x"), "x")).toThrow(
    expect.objectContaining({ code: "not-writable" }),
  );
});

describe("abandoned files", () => {
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
});

describe("reading a small file", () => {
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
});

test.each([
  ["ENOSPC", 0, "disk-full"],
  ["EDQUOT", constants.errno.EDQUOT, "disk-full"],
  ["ESTALE", constants.errno.ESTALE, "not-writable"],
  ["EMFILE", 0, "not-writable"],
])("%s is told in a sentence, also where Node has only its number", (name, errno, code) => {
  for (const shown of errno === 0 ? [name] : [name, `Unknown system error -${errno}`]) {
    const error = Object.assign(new Error(shown), { code: shown });
    const byNumber = Object.assign(new Error("unknown error"), { code: "UNKNOWN", errno: -errno });
    for (const one of errno === 0 ? [error] : [error, byNumber])
      expect(fileError(one, "/x")).toMatchObject({
        code,
        hint: expect.stringContaining("start ralph again"),
      });
  }
});
