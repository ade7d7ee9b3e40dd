import { transcriptName } from "../../core/projections/ralph-files.ts";
import { constants, lstatSync, readdirSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { safePath } from "../system/safe-path.ts";

type TextKind = "transcript" | "prompt";

/** What was said in an iteration, of any size. Null: the text is not there. */
export interface IterationTexts {
  bytes(iteration: number, kind: TextKind): Promise<number | null>;
  /** A negative `from` counts from the end. Whatever would move a terminal is left out of the text. */
  read(iteration: number, kind: TextKind, from: number, limit: number): Promise<TextPiece | null>;
  search(
    iteration: number,
    kind: TextKind,
    words: string,
    signal: AbortSignal,
  ): Promise<readonly TextHit[] | null>;
}

export interface TextPiece {
  readonly from: number;
  /** Where the next piece begins. */
  readonly to: number;
  /** Of the whole text. */
  readonly bytes: number;
  readonly text: string;
}

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
  for (const place of placesOf(ralphDir, transcriptName(iteration))) {
    try {
      const path = join(safePath(ralphDir, dirname(place)), basename(place));
      if (lstatSync(path).isFile()) return path;
    } catch {
      // not there, or outside
    }
  }
  return null;
}

function nameOf(iteration: number, kind: TextKind): string {
  const transcript = transcriptName(iteration);
  return kind === "transcript" ? transcript : transcript.replace(/\.log$/, ".prompt.md");
}

/** Where it lies, and where archived lists have their copies, the latest first. */
function* placesOf(ralphDir: string, name: string): Generator<string> {
  yield name;
  for (const archive of foldersIn(join(ralphDir, ARCHIVE))) yield join(ARCHIVE, archive, name);
}

const ARCHIVE = "archive";

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path).toSorted().toReversed();
  } catch {
    return []; // nothing was ever archived
  }
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Of the first place that has a file; a link or a pipe that an agent put there is none. */
async function withFile<Result>(
  ralphDir: string,
  name: string,
  use: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result | null> {
  for (const place of placesOf(ralphDir, name)) {
    const file = await openFile(ralphDir, place);
    if (file === null) continue;
    try {
      const stats = await file.stat();
      if (stats.isFile()) return await use(file, stats.size);
    } finally {
      await file.close();
    }
  }
  return null;
}

async function openFile(ralphDir: string, path: string): Promise<FileHandle | null> {
  try {
    // A folder on the way may be a link as well; it must not lead outside.
    const folder = safePath(ralphDir, dirname(path));
    return await open(join(folder, basename(path)), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch {
    return null; // not there, or not to be read: there is nothing to show
  }
}

async function readPiece(file: FileHandle, size: number, wanted: number, limit: number): Promise<TextPiece> {
  const from = Math.min(size, wanted < 0 ? Math.max(0, size + wanted) : wanted);
  const to = Math.min(size, from + limit);
  const at = Math.max(0, from - MARGIN);
  const buffer = Buffer.alloc(Math.min(size, to + MARGIN) - at);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
  const bytes = buffer.subarray(0, bytesRead);
  const piece = cutPiece({ bytes, at, from, to, size });
  return { ...piece, bytes: size, text: bytes.toString("utf8", piece.from - at, piece.to - at) };
}

interface TextHit {
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

/** Part of a file that was read, with some bytes before and after the wanted ones. */
interface Window {
  readonly bytes: Buffer;
  /** Where the window begins in the file. */
  readonly at: number;
  /** Positions in the file. */
  readonly from: number;
  readonly to: number;
  /** Of the whole file. */
  readonly size: number;
}

/** So many bytes beside a piece tell where characters and escapes begin and end. */
const MARGIN = 64;

/** The wanted bytes, moved so that neither a character nor a terminal escape is cut in two. */
function cutPiece(window: Window): { readonly from: number; readonly to: number } {
  const { bytes, at, size } = window;
  const from = startOf(bytes, window.from - at) + at;
  const wanted = Math.min(window.to, at + bytes.length);
  const to = wanted >= size ? wanted : endOf(bytes, wanted - at) + at;
  return { from, to: to > from ? to : Math.max(from, wanted) };
}

function startOf(bytes: Buffer, from: number): number {
  if (from === 0) return 0;
  const aligned = afterCharacter(bytes, from);
  const open = openEscape(bytes, aligned);
  return open === null ? aligned : Math.max(aligned, open.end);
}

function endOf(bytes: Buffer, to: number): number {
  const aligned = beforeCharacter(bytes, to);
  return openEscape(bytes, aligned)?.start ?? aligned;
}

function afterCharacter(bytes: Buffer, from: number): number {
  for (let at = from; at < from + CHARACTER_BYTES; at += 1) if (!isContinuation(bytes[at])) return at;
  return from; // this is not UTF-8
}

function beforeCharacter(bytes: Buffer, to: number): number {
  for (let at = to; at > to - CHARACTER_BYTES && at > 0; at -= 1) if (!isContinuation(bytes[at])) return at;
  return to;
}

const CHARACTER_BYTES = 4;

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

/** The escape that began before a place and goes on after it. */
function openEscape(bytes: Buffer, place: number): { readonly start: number; readonly end: number } | null {
  const start = bytes.lastIndexOf(ESCAPE, place - 1);
  if (place === 0 || start < 0 || place - start > MARGIN) return null;
  const length = COLOUR_OR_CURSOR.exec(bytes.toString("latin1", start, start + MARGIN))?.[0].length ?? 0;
  return start + length > place ? { start, end: start + length } : null;
}

const ESCAPE = 0x1b;
// oxlint-disable-next-line no-control-regex -- escapes are what it is about
const COLOUR_OR_CURSOR = /^\x1b\[[0-?]*[ -/]*[@-~]/;
