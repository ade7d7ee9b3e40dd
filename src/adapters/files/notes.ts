import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Notes } from "../../engine/ports.ts";
import { safePath } from "../system/safe-path.ts";

const CHARACTERS_KEPT = 8_000;

/** What agents noted for each other in `progress.txt`: its end, from the beginning of a line. */
export function createNotes(ralphDir: string): Notes {
  return { read: async () => readNotes(ralphDir) };
}

function readNotes(ralphDir: string): string {
  try {
    const path = safePath(ralphDir, "progress.txt");
    if (!statSync(path).isFile()) return "";
    return lastLines(readEnd(path));
  } catch {
    return ""; // notes are a help, never a condition
  }
}

/** At most four bytes a character. */
function readEnd(path: string): { text: string; isWhole: boolean } {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, 4 * CHARACTERS_KEPT));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return { text: bytes.subarray(0, length).toString("utf8"), isWhole: length === size };
  } finally {
    closeSync(file);
  }
}

function lastLines({ text, isWhole }: { text: string; isWhole: boolean }): string {
  if (isWhole && text.length <= CHARACTERS_KEPT) return text;
  const end = text.slice(-CHARACTERS_KEPT);
  const lineEnd = end.indexOf("\n");
  const from = lineEnd >= 0 && lineEnd < end.length - 1 ? lineEnd + 1 : 0;
  return end.slice(from).replace(/^[\uDC00-\uDFFF\uFFFD]+/, "");
}
