import { dirname, join, relative } from "node:path";
import type { Notes } from "../../engine/ports.ts";
import { type FileEnd, readEnd } from "../process/atomic-file.ts";
import { safePath } from "../process/safe-path.ts";

const CHARACTERS_KEPT = 8_000;

/** What agents noted for each other in `progress.txt`: its end, from the beginning of a line. */
export function createNotes(ralphDir: string, root = dirname(ralphDir)): Notes {
  const path = join(relative(root, ralphDir), "progress.txt");
  return { path, read: async () => readNotes(ralphDir) };
}

function readNotes(ralphDir: string): string {
  try {
    const end = readEnd(safePath(ralphDir, "progress.txt"), { followsLinks: true });
    return end === null ? "" : lastLines(end);
  } catch {
    return ""; // notes are a help, never a condition
  }
}

function lastLines({ text, isWhole }: FileEnd): string {
  if (isWhole && text.length <= CHARACTERS_KEPT) return text;
  const end = text.slice(-CHARACTERS_KEPT);
  const lineEnd = end.indexOf("\n");
  const from = lineEnd >= 0 && lineEnd < end.length - 1 ? lineEnd + 1 : 0;
  return end.slice(from).replace(/^[\uDC00-\uDFFF\uFFFD]+/, "");
}
