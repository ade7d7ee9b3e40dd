import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { TranscriptSearch } from "./model.ts";
import { plainLine } from "./plain-line.ts";
import { type Piece, PIECE_BYTES } from "./pager.ts";

/** A piece from a byte on, or of the end; it begins and ends with whole lines. Null: the size is as before. */
export async function readPiece(
  path: string | null,
  from: number | null,
  unlessSize: number | null,
): Promise<Piece | null> {
  return withFile(path, { from: 0, to: 0, size: 0, text: "" }, async (file) => {
    const { size } = await file.stat();
    if (size === unlessSize) return null;
    const start = from ?? Math.max(0, size - PIECE_BYTES);
    const bytes = await bytesAt(file, start, PIECE_BYTES);
    const skipped = start === 0 ? 0 : beginOfLine(bytes);
    const isEnd = start + bytes.length >= size;
    const end = isEnd ? bytes.length : endOfLine(bytes, skipped);
    const text = bytes.subarray(skipped, end).toString("utf8");
    return { from: start + skipped, to: start + end, size, text };
  });
}

/** Where the next line begins that has the text in it; from the other end when there is none on this side. */
export async function findInTranscript(
  path: string | null,
  { text, from, direction }: TranscriptSearch,
): Promise<number | null> {
  return withFile(path, null, async (file) => {
    const wanted = text.toLowerCase();
    let before: number | null = null;
    let first: number | null = null;
    let last: number | null = null;
    for await (const { at, line } of linesOf(file)) {
      if (!plainLine(line).toLowerCase().includes(wanted)) continue;
      if (at > from && direction === "forward") return at;
      if (at < from) before = at;
      first ??= at;
      last = at;
    }
    return direction === "forward" ? first : (before ?? last);
  });
}

/** A longer line is looked at in parts. */
const LINE_BYTES_MAX = PIECE_BYTES;
const NEWLINE = 0x0a;

async function* linesOf(file: FileHandle): AsyncGenerator<{ readonly at: number; readonly line: string }> {
  let at = 0;
  for (;;) {
    const bytes = await bytesAt(file, at, LINE_BYTES_MAX);
    if (bytes.length === 0) return;
    const end = bytes.length < LINE_BYTES_MAX ? bytes.length : endOfLine(bytes, 0);
    let begin = 0;
    while (begin < end) {
      const newline = bytes.indexOf(NEWLINE, begin);
      const stop = newline < 0 || newline >= end ? end : newline;
      yield { at: at + begin, line: bytes.subarray(begin, stop).toString("utf8") };
      begin = stop + 1;
    }
    at += end;
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Behind the first newline; without one, where a character begins. */
function beginOfLine(bytes: Buffer): number {
  const newline = bytes.indexOf(NEWLINE);
  return newline < 0 ? beginOfCharacter(bytes, 0) : newline + 1;
}

/** Behind the last newline; without one, before the character that is cut. */
function endOfLine(bytes: Buffer, from: number): number {
  const newline = bytes.lastIndexOf(NEWLINE);
  if (newline >= from) return newline + 1;
  let end = bytes.length;
  while (end > from + 1 && end > bytes.length - 4 && isInsideCharacter(bytes[end - 1])) end -= 1;
  return (bytes[end - 1] ?? 0) >= 0xc0 ? end - 1 : bytes.length;
}

function beginOfCharacter(bytes: Buffer, from: number): number {
  let at = from;
  while (at < from + 4 && isInsideCharacter(bytes[at])) at += 1;
  return at;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

async function withFile<Result>(
  path: string | null,
  missing: Result,
  work: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  if (path === null) return missing;
  let file: FileHandle;
  try {
    // Neither a link nor a pipe that an agent has put there since.
    file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    // An agent that has printed nothing has no transcript yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return missing;
    throw error;
  }
  try {
    return (await file.stat()).isFile() ? await work(file) : missing;
  } finally {
    await file.close();
  }
}
