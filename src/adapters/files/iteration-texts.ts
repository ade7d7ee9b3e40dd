import { transcriptName } from "../../core/views/ralph-files.ts";
import { constants, lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { EntryHit, TextPage } from "../../core/views/overview.ts";
import type { IterationTexts, TextKind } from "../../engine/ports.ts";
import { namesIn } from "../process/look-at.ts";
import { safePath } from "../process/safe-path.ts";
import { readEntryPage, searchEntries } from "./read-entries.ts";

const HITS_MAX = 200;

/** Reads only what is asked for. `redact` takes secrets out of what is shown. */
export function createIterationTexts(
  ralphDir: string,
  redact: (text: string) => string,
  workspace: string | null = null,
): IterationTexts {
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
    entries: (iteration, from, limit) =>
      withText(iteration, "transcript", (file, size) =>
        readEntryPage(file, size, { from, limit }, { redact, workspace }),
      ),
    search: (iteration, words, signal) =>
      withText(iteration, "transcript", async (file) => {
        const hits: EntryHit[] = [];
        for await (const { at, line } of searchEntries(file, words, { redact, workspace }, signal)) {
          hits.push({ at, line });
          if (hits.length === HITS_MAX) break;
        }
        return hits;
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
