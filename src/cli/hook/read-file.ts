import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

// On Windows it is missing, which counts as nothing in a sum of bits.
const { O_NONBLOCK, O_RDONLY } = constants;

export interface FileEnd {
  readonly text: string;
  /** Of the whole file. */
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** The last bytes of a file, whole lines of it; null for what is no file, or cannot be read. */
export function readEnd(path: string, bytesMax: number): FileEnd | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - bytesMax);
    const buffer = Buffer.alloc(stats.size - from);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    const isWhole = from === 0;
    return { text: isWhole ? text : text.slice(text.indexOf("\n") + 1), bytes: stats.size, isWhole };
  } catch {
    return null; // a hook goes by what it finds
  } finally {
    if (file !== null) closeSync(file);
  }
}

const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** The text of a file, without a byte order mark; null for what is no file, cannot be read, or is huge. */
export function readText(path: string): string | null {
  const end = readEnd(path, FILE_BYTES_MAX);
  return end?.isWhole === true ? end.text.replace(/^\uFEFF/, "") : null;
}

/** Undefined for what is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // others wrote it, and who asks knows what to do without
  }
}
