import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFileAtomically } from "./atomic-file.ts";

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
