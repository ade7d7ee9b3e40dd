import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { Transcript } from "./pager.ts";

const KEPT_BYTES = 512 * 1024;
const HEAD_BYTES = 64 * 1024;
const EMPTY: Transcript = { size: 0, text: "", isCut: false };
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** The end of a transcript, from the beginning of a line. Null: it still has the size that is known. */
export async function readTranscript(path: string | null, known: number | null): Promise<Transcript | null> {
  if (path === null) return EMPTY;
  let file: FileHandle;
  try {
    // Neither a link nor a pipe that an agent has put there since.
    file = await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    // An agent that has printed nothing has no transcript yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
    throw error;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return EMPTY;
    const { size } = stat;
    if (size === known) return null;
    const from = Math.max(0, size - KEPT_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const text = buffer.toString("utf8", 0, bytesRead);
    if (from === 0) return { size, isCut: false, text };
    const head = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return {
      size,
      isCut: true,
      text: text.slice(text.indexOf("\n") + 1),
      head: head.buffer.toString("utf8", 0, head.bytesRead),
    };
  } finally {
    await file.close();
  }
}
