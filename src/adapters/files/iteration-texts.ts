import { constants, lstatSync, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { transcriptName } from "../../core/projections/transcript-name.ts";
import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { safePath } from "../system/safe-path.ts";
import { searchText, type TextHit } from "./search-text.ts";
import { cutPiece, MARGIN } from "./text-piece.ts";

export type TextKind = "transcript" | "prompt";

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

// On Windows some of these are missing, which counts as nothing in a sum of bits.
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
