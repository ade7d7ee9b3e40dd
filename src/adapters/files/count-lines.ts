import { closeSync, openSync, readSync } from "node:fs";

const PIECE_BYTES = 256 * 1024;
const NEWLINE = 10;

/** How many lines of a file are whole; its size does not matter. */
export function countLines(path: string): number {
  const file = openSync(path, "r");
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let lines = 0;
  try {
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
      const read = piece.subarray(0, length);
      for (let at = read.indexOf(NEWLINE); at >= 0; at = read.indexOf(NEWLINE, at + 1)) lines += 1;
    }
  } finally {
    closeSync(file);
  }
  return lines;
}
