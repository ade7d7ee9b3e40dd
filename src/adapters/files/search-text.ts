import type { FileHandle } from "node:fs/promises";
import { stripEscapes } from "../../core/report/strip-escapes.ts";

export interface TextHit {
  /** The byte at which it begins. */
  readonly at: number;
  /** What stands around it. */
  readonly line: string;
}

const HITS_MAX = 200;
const CHUNK_BYTES = 256 * 1024;
/** A longer line is searched in parts. */
const LINE_BYTES_MAX = 64 * 1024;
const BEFORE = 80;
const LINE_LENGTH_MAX = 300;

/** The lines that hold the words, in any case, the first of very many; never more than a few pieces are in memory. */
export async function searchText(
  file: Pick<FileHandle, "read">,
  words: string,
  signal: AbortSignal,
): Promise<readonly TextHit[]> {
  const wanted = words.toLowerCase();
  const hits: TextHit[] = [];
  const overlap = Buffer.byteLength(words) * 2;
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  for (;;) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at + rest.length);
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (const end of lineEnds(bytes, bytesRead === 0, overlap)) {
      const hit = hitIn(bytes.subarray(start, end), wanted);
      if (hit !== null && hits.at(-1)?.at !== at + start + hit.at)
        hits.push({ at: at + start + hit.at, line: hit.line });
      if (hits.length >= HITS_MAX) return hits;
      start = bytes[end - 1] === NEWLINE || end === bytes.length ? end : end - overlap;
    }
    if (bytesRead === 0) return hits;
    rest = bytes.subarray(start);
    at += start;
  }
}

const NEWLINE = 0x0a;

/** Where lines end, or the parts of a line that is too long; the unfinished rest only when nothing follows. */
function* lineEnds(bytes: Buffer, isLast: boolean, overlap: number): Generator<number> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (end - start > LINE_BYTES_MAX) {
      yield start + LINE_BYTES_MAX;
      start += LINE_BYTES_MAX - overlap;
      continue;
    }
    if (newline < 0 && !isLast) return;
    yield end;
    start = end;
  }
}

function hitIn(bytes: Buffer, wanted: string): TextHit | null {
  const raw = bytes.toString("utf8");
  const shown = stripEscapes(raw);
  const found = shown.toLowerCase().indexOf(wanted);
  if (found < 0) return null;
  const inRaw = shown === raw ? found : Math.max(0, raw.toLowerCase().indexOf(wanted));
  const from = Math.max(0, found - BEFORE);
  return {
    at: Buffer.byteLength(raw.slice(0, inRaw)),
    line: shown.slice(from, from + LINE_LENGTH_MAX).trimEnd(),
  };
}
