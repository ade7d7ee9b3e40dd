import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { EntryHit, EntryPage } from "../../core/views/overview.ts";
import {
  beginningOf,
  readTranscriptLines,
  type TranscriptBeginning,
  type TranscriptEntry,
  type TranscriptOptions,
  type TranscriptReading,
} from "../../core/views/transcript.ts";

type Readable = Pick<FileHandle, "read">;
type Options = Omit<TranscriptOptions, "onEntry">;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const CHUNK_BYTES = 256 * 1024;
/** Of a longer line only the beginning is read, as while the agent ran. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 10;

interface Line {
  readonly text: string;
  /** Its bytes, with the newline. */
  readonly at: number;
  readonly end: number;
  /** The file ends before its newline. */
  readonly isCut: boolean;
}

/** The lines from a byte on, in bounded memory. */
async function* linesFrom(file: Readable, from: number): AsyncGenerator<Line> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let held: Buffer[] = [];
  let heldBytes = 0;
  let at = from;
  let read = from;
  const take = (end: number, isCut: boolean): Line => {
    const text = Buffer.concat(held)
      .toString("utf8")
      .replace(/\r?\n$/, "");
    const line = { text, at, end, isCut };
    held = [];
    heldBytes = 0;
    at = end;
    return line;
  };
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, read);
    if (bytesRead === 0) break;
    let start = 0;
    while (start < bytesRead) {
      const newline = buffer.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const end = newline < 0 ? bytesRead : newline + 1;
      const piece = buffer.subarray(start, Math.min(end, start + LINE_BYTES_MAX - heldBytes));
      if (piece.length > 0) held.push(Buffer.from(piece));
      heldBytes += piece.length;
      if (newline >= 0) yield take(read + end, false);
      start = end;
    }
    read += bytesRead;
  }
  if (read > at) yield take(read, true);
}

const BEGINNING_BYTES = 256 * 1024;

async function readBeginning(file: Readable): Promise<TranscriptBeginning> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
  return beginningOf(buffer.toString("utf8", 0, bytesRead).split("\n"));
}

/** A page may be longer by so much, so that calls and messages are complete. */
const MORE_BYTES = 1024 * 1024;

/** The entries of a part of a transcript; a negative `wanted` counts from the end. */
export async function readEntryPage(
  file: Readable,
  size: number,
  { from: wanted, limit }: { readonly from: number; readonly limit: number },
  options: Options,
): Promise<EntryPage> {
  const beginning = await readBeginning(file);
  const entries: TranscriptEntry[] = [];
  const reading = readTranscriptLines(beginning, { ...options, onEntry: (entry) => entries.push(entry) });
  const from = await lineStart(file, Math.min(size, wanted < 0 ? Math.max(0, size + wanted) : wanted));
  let to = from;
  let cutAt = Infinity;
  for await (const line of linesFrom(file, from)) {
    const isEnough = line.at - from >= limit && !reading.isMidway();
    if (isEnough || line.at - from >= limit + MORE_BYTES) break;
    to = line.end;
    // The rest of an event is still to come, or never.
    if (!line.isCut || beginning.format === "text") reading.line(line.text, line.at);
    else cutAt = line.at;
  }
  const isEnd = to >= size;
  // What is under way is read again with what comes next.
  const [open] = reading.open().filter(({ state }) => state === "open");
  reading.end();
  return { from, to: isEnd ? Math.min(open?.place ?? to, cutAt) : to, bytes: size, isEnd, entries };
}

/** The first line that begins at this byte or after it. */
async function lineStart(file: Readable, byte: number): Promise<number> {
  if (byte === 0) return 0;
  for await (const line of linesFrom(file, byte - 1)) return line.end;
  return byte;
}

const BEFORE = 60;
const LINE_LENGTH = 240;

export interface FoundEntry extends EntryHit {
  readonly entry: TranscriptEntry;
}

/** The entries that hold the words, in any case; words that an agent says once for each line that does. */
export async function* searchEntries(
  file: Readable,
  words: string,
  options: Options,
  signal?: AbortSignal,
): AsyncGenerator<FoundEntry> {
  const wanted = words.toLowerCase();
  let hits: FoundEntry[] = [];
  const onEntry = (entry: TranscriptEntry): void => {
    const { title, brief, input, result, diff, place } = entry;
    const all = [title, brief, input, result, diff].flatMap((text) => linesWith(wanted, text));
    const isCall = entry.kind === "tool" || entry.kind === "edit";
    for (const line of isCall ? all.slice(0, 1) : all) hits.push({ at: place, line, entry });
  };
  const reading = readTranscriptLines(await readBeginning(file), { ...options, onEntry });
  for await (const line of linesFrom(file, 0)) {
    signal?.throwIfAborted();
    reading.line(line.text, line.at);
    yield* hits;
    hits = [];
  }
  reading.end();
  yield* hits;
}

function linesWith(wanted: string, text: string): readonly string[] {
  if (!text.toLowerCase().includes(wanted)) return [];
  return text.split("\n").flatMap((line) => {
    const found = line.toLowerCase().indexOf(wanted);
    const from = Math.max(0, found - BEFORE);
    return found < 0
      ? []
      : [
          line
            .slice(from, from + LINE_LENGTH)
            .trim()
            .toWellFormed(),
        ];
  });
}

/** Reads a transcript from its beginning, and goes on when it has grown. */
export class TranscriptFile {
  readonly #file: FileHandle;
  readonly #options: Options;
  #reading: TranscriptReading | null = null;
  #format: TranscriptBeginning["format"] = "text";
  #entries: TranscriptEntry[] = [];
  #to = 0;

  private constructor(file: FileHandle, options: Options) {
    this.#file = file;
    this.#options = options;
  }

  /** A link or a pipe that an agent put there is refused. */
  static async open(path: string, options: Options): Promise<TranscriptFile> {
    return new TranscriptFile(await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW), options);
  }

  get format(): TranscriptBeginning["format"] {
    return this.#format;
  }

  /** The oldest entry that is under way. */
  get head(): TranscriptEntry | undefined {
    return this.#reading?.open()[0];
  }

  /** The entries that are complete since the last call; with `isLast` all that are left. */
  async *entries(isLast: boolean): AsyncGenerator<TranscriptEntry> {
    const reading = await this.#current();
    for await (const { text, at, end, isCut } of linesFrom(this.#file, this.#to)) {
      if (isCut && !isLast) break;
      reading.line(text, at);
      this.#to = end;
      yield* this.#taken();
    }
    if (isLast) reading.end();
    yield* this.#taken();
  }

  search(words: string): AsyncGenerator<FoundEntry> {
    return searchEntries(this.#file, words, this.#options);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #taken(): readonly TranscriptEntry[] {
    const taken = this.#entries;
    if (taken.length > 0) this.#entries = [];
    return taken;
  }

  /** A program may print a warning before its first event. */
  async #current(): Promise<TranscriptReading> {
    const isSettled = this.#format !== "text" || this.#to > BEGINNING_BYTES;
    if (this.#reading !== null && isSettled) return this.#reading;
    const beginning = await readBeginning(this.#file);
    if (this.#reading !== null && beginning.format === "text") return this.#reading;
    this.#reading?.end();
    this.#format = beginning.format;
    const onEntry = (entry: TranscriptEntry): void => void this.#entries.push(entry);
    return (this.#reading = readTranscriptLines(beginning, { ...this.#options, onEntry }));
  }
}
