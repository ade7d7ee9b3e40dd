import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

// On Windows it is missing, which counts as nothing in a sum of bits.
const { O_NONBLOCK, O_RDONLY } = constants;
const BYTES_MAX = 1024 * 1024;

/** The text of a file; null for what is none (a pipe would wait for ever), is huge, or cannot be read. */
export function readSmallFile(path: string): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= BYTES_MAX ? readFileSync(file, "utf8") : null;
  } catch {
    return null; // not there, or not ours to read: either way it tells nothing
  } finally {
    if (file !== null) closeSync(file);
  }
}
