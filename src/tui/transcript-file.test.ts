import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTranscript } from "./transcript-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-transcript-"));
  path = join(folder, "iteration-001.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("of a long transcript the end is read, from the beginning of a line", async () => {
  const long = Array.from({ length: 80_000 }, (_, index) => `line ${index} é\n`).join("");
  writeFileSync(path, long);
  const read = await readTranscript(path, null);
  expect(read).toMatchObject({ size: Buffer.byteLength(long), isCut: true });
  expect(read?.text).toMatch(/^line \d+ é\n/);
  expect(read?.text.endsWith("line 79999 é\n")).toBe(true);
});

test("a transcript that has not grown is not read again, and one that is not there is empty", async () => {
  expect(await readTranscript(path, null)).toEqual({ size: 0, text: "", isCut: false });
  writeFileSync(path, "abc\n");
  expect(await readTranscript(path, 4)).toBeNull();
  expect(await readTranscript(path, 3)).toEqual({ size: 4, text: "abc\n", isCut: false });
});

test("neither a link nor a pipe is followed, and nobody waits for one", async () => {
  writeFileSync(join(folder, "other"), "secret");
  symlinkSync(join(folder, "other"), path);
  await expect(readTranscript(path, null)).rejects.toMatchObject({ code: "ELOOP" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await readTranscript(join(folder, "pipe"), null)).toMatchObject({ text: "" });
  expect(await readTranscript(null, null)).toMatchObject({ size: 0, text: "" });
});
