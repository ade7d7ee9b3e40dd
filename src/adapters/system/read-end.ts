import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const BYTES_MAX = 1024 * 1024;

export interface FileEnd {
  readonly text: string;
  readonly isWhole: boolean;
}

/**
 * The text of a file, of a huge one the last lines; null for what is no file (a pipe would wait for ever) or cannot be
 * read.
 */
export function readEnd(path: string, { followsLinks }: { readonly followsLinks: boolean }): FileEnd | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - BYTES_MAX);
    const buffer = Buffer.alloc(stats.size - from);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    return { text: from === 0 ? text : text.slice(text.indexOf("\n") + 1), isWhole: from === 0 };
  } catch {
    return null; // not there, or not ours to read: either way it tells nothing
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** The whole text of a file that is not huge. */
export function readSmallFile(path: string): string | null {
  const end = readEnd(path, { followsLinks: true });
  return end?.isWhole === true ? end.text : null;
}
