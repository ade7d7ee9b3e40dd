import { transcriptName } from "../../core/views/ralph-files.ts";
import { constants, lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { TextHit, TextPage } from "../../core/views/overview.ts";
import type { IterationTexts, TextKind } from "../../engine/ports.ts";
import { namesIn } from "../process/look-at.ts";
import { safePath } from "../process/safe-path.ts";

/** Reads only what is asked for. `redact` takes secrets out of what is shown. */
export function createIterationTexts(ralphDir: string, redact: (text: string) => string): IterationTexts {
  const withText = <Result>(
    iteration: number,
    kind: TextKind,
    use: (file: FileHandle, size: number) => Promise<Result>,
  ): Promise<Result | null> => withFile(ralphDir, nameOf(iteration, kind), use);
  return {
    bytes: (iteration, kind) => withText(iteration, kind, async (_file, size) => size),
    read: (iteration, kind, from, limit) =>
      withText(iteration, kind, async (file, size) => {
        const piece = await readPiece(file, size, from, limit);
        return { ...piece, text: redact(stripEscapes(piece.text)) };
      }),
    search: (iteration, kind, words, signal) =>
      withText(iteration, kind, async (file) => {
        const hits = await searchText(file, words, signal);
        return hits.map((hit) => ({ ...hit, line: redact(hit.line) }));
      }),
  };
}

/** The file with what an agent printed; null when there is none, or only what leads elsewhere. */
export function transcriptFile(ralphDir: string, iteration: number): string | null {
  return findText(ralphDir, transcriptName(iteration));
}

function nameOf(iteration: number, kind: TextKind): string {
  const transcript = transcriptName(iteration);
  return kind === "transcript" ? transcript : transcript.replace(/\.log$/, ".prompt.md");
}

/** Where a text lies, or the latest of its copies in archived lists. A link that an agent put there is none. */
function findText(ralphDir: string, name: string): string | null {
  const archives = namesIn(join(ralphDir, "archive")).toSorted().toReversed();
  for (const place of [name, ...archives.map((archive) => join("archive", archive, name))]) {
    try {
      // A folder on the way may be a link as well; it must not lead outside.
      const path = join(safePath(ralphDir, dirname(place)), basename(place));
      if (lstatSync(path).isFile()) return path;
    } catch {
      // not there, or outside
    }
  }
  return null;
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

async function withFile<Result>(
  ralphDir: string,
  name: string,
  use: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result | null> {
  const path = findText(ralphDir, name);
  // Whatever an agent puts there between the look and the opening.
  const file = path === null ? null : await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch(() => null);
  try {
    const stats = await file?.stat();
    return file !== null && stats?.isFile() === true ? await use(file, stats.size) : null;
  } finally {
    await file?.close();
  }
}

async function readPiece(file: FileHandle, size: number, wanted: number, limit: number): Promise<TextPage> {
  const from = Math.min(size, wanted < 0 ? Math.max(0, size + wanted) : wanted);
  const to = Math.min(size, from + limit);
  const at = Math.max(0, from - MARGIN);
  const buffer = Buffer.alloc(Math.min(size, to + MARGIN) - at);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  const bytes = buffer.subarray(0, bytesRead);
  // Neither a character nor a terminal escape is cut in two.
  const start = from === 0 ? 0 : at + (cutAt(bytes, from - at)?.end ?? from - at);
  const read = Math.min(to, at + bytes.length);
  const before = read >= size ? read : at + (cutAt(bytes, read - at)?.start ?? read - at);
  const end = before > start ? before : Math.max(start, read);
  return { from: start, to: end, bytes: size, text: bytes.toString("utf8", start - at, end - at) };
}

const HITS_MAX = 200;
const CHUNK_BYTES = 256 * 1024;
/** A longer line is searched in parts. */
const LINE_BYTES_MAX = 64 * 1024;
const BEFORE = 80;
const LINE_LENGTH_MAX = 300;

/** The lines that hold the words, in any case, the first of very many; never more than a few pieces are in memory. */
async function searchText(
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

/** So many bytes beside a piece tell where characters and escapes begin and end. */
const MARGIN = 64;

/** Finds the character or terminal escape that a cut at this place would split; null if there is none. */
function cutAt(bytes: Buffer, place: number): { readonly start: number; readonly end: number } | null {
  const [start, end] = [characterEdge(bytes, place, -1), characterEdge(bytes, place, 1)];
  const escape = bytes.lastIndexOf(ESCAPE, start - 1);
  if (start > 0 && escape >= 0 && start - escape <= MARGIN) {
    const found = COLOUR_OR_CURSOR.exec(bytes.toString("latin1", escape, escape + MARGIN));
    const after = escape + (found?.[0].length ?? 0);
    if (after > start) return { start: escape, end: Math.max(end, after) };
  }
  return start < end ? { start, end } : null;
}

const CHARACTER_BYTES = 4;

/** The nearest place where a character begins; the place itself when this is no UTF-8. */
function characterEdge(bytes: Buffer, place: number, step: 1 | -1): number {
  for (let at = place, tries = 0; tries < CHARACTER_BYTES; at += step, tries += 1) {
    const byte = bytes[at];
    if (byte === undefined || (byte & 0b1100_0000) !== 0b1000_0000) return Math.min(at, bytes.length);
  }
  return place;
}

const ESCAPE = 0x1b;
// oxlint-disable-next-line no-control-regex -- escapes are what it is about
const COLOUR_OR_CURSOR = /^\x1b\[[0-?]*[ -/]*[@-~]/;
