import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findInTranscript, readPiece } from "./transcript-file.ts";
import { PIECE_BYTES } from "./pager.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-transcript-"));
  path = join(folder, "iteration-001.log");
});
afterEach(() => rmSync(folder, { recursive: true }));

const LINES = 40_000;
const long = Array.from({ length: LINES }, (_, index) => `line ${index} é\n`).join("");

test("a piece begins and ends with whole lines, wherever it is asked for", async () => {
  writeFileSync(path, long);
  const size = Buffer.byteLength(long);
  const end = await readPiece(path, null, null);
  expect(end).toMatchObject({ to: size, size });
  expect(end?.text.endsWith(`line ${LINES - 1} é\n`)).toBe(true);
  const middle = await readPiece(path, 100_003, null);
  expect(middle?.text).toMatch(/^line \d+ é\n/);
  expect(middle?.text.endsWith(" é\n")).toBe(true);
  expect(Buffer.byteLength(middle?.text ?? "")).toBe((middle?.to ?? 0) - (middle?.from ?? 0));
  expect((middle?.to ?? 0) - (middle?.from ?? 0)).toBeLessThanOrEqual(PIECE_BYTES);
});

test("a line that is longer than a piece is cut between characters", async () => {
  writeFileSync(path, "漢".repeat(200_000));
  for (const from of [0, 100_000, 100_001, 100_002]) {
    const piece = await readPiece(path, from, null);
    expect(piece?.text).toMatch(/^漢+$/);
  }
});

test("a transcript that has not grown is not read again, and one that is not there is empty", async () => {
  expect(await readPiece(path, null, null)).toEqual({ from: 0, to: 0, size: 0, text: "" });
  expect(await findInTranscript(path, { text: "a", from: 0, direction: "forward" })).toBeNull();
  writeFileSync(path, "abc\n");
  expect(await readPiece(path, null, 4)).toBeNull();
  expect(await readPiece(path, null, 3)).toMatchObject({ text: "abc\n" });
});

test("a search looks through all of it, and goes on at the other end", async () => {
  writeFileSync(path, `first Hit\n${long}\x1b[31mh\x1b[0mit again\n`);
  const last = Buffer.byteLength(`first Hit\n${long}`);
  const find = (from: number, direction: "forward" | "back"): Promise<number | null> =>
    findInTranscript(path, { text: "hit", from, direction });
  expect(await find(0, "forward")).toBe(last);
  expect(await find(last, "forward")).toBe(0);
  expect(await find(last, "back")).toBe(0);
  expect(await find(0, "back")).toBe(last);
  expect(await findInTranscript(path, { text: "nowhere", from: 0, direction: "back" })).toBeNull();
});

test("neither a link nor a pipe is followed, and nobody waits for one", async () => {
  writeFileSync(join(folder, "other"), "secret");
  symlinkSync(join(folder, "other"), path);
  await expect(readPiece(path, null, null)).rejects.toMatchObject({ code: "ELOOP" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  expect(await readPiece(join(folder, "pipe"), null, null)).toMatchObject({ text: "" });
  expect(await readPiece(null, null, null)).toMatchObject({ size: 0, text: "" });
});
