import { stripVTControlCharacters } from "node:util";
import { withoutReturn } from "../../core/words/read-passage.ts";

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Hands over what came after the last newline. */
  end(): void;
}

interface SplitterOptions {
  readonly lineBytesMax?: number | undefined;
  /** Takes lines that came together, as they came, with a newline between them; else each goes alone. */
  readonly onPassage?: ((passage: string) => void) | undefined;
}

const LINE_BYTES_MAX = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const PIECES_HELD_MAX = 256;
const NEWLINE = 10;

/** Cuts bytes into lines in constant memory: the rest of a line that is too long is dropped. */
export function createLineSplitter(
  onLine: (line: string) => void,
  { lineBytesMax = LINE_BYTES_MAX, onPassage }: SplitterOptions = {},
): LineSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;

  const hold = (bytes: Buffer): void => {
    const kept = bytes.subarray(0, lineBytesMax - heldBytes);
    if (kept.length === 0) return;
    held.push(kept);
    heldBytes += kept.length;
    // A line that comes byte by byte must not become a million objects.
    if (held.length === PIECES_HELD_MAX) held = [Buffer.concat(held)];
  };
  const release = (): void => {
    onLine(withoutReturn(Buffer.concat(held).toString()));
    held = [];
    heldBytes = 0;
  };
  const takePassage =
    onPassage ??
    ((passage: string): void => {
      for (const line of passage.split("\n")) onLine(withoutReturn(line));
    });
  const pushPiece = (piece: Buffer): void => {
    const first = piece.indexOf(NEWLINE);
    if (first < 0) return hold(piece);
    const isWhole = heldBytes === 0;
    if (!isWhole) {
      hold(piece.subarray(0, first));
      release();
    }
    const start = isWhole ? 0 : first + 1;
    const last = piece.lastIndexOf(NEWLINE);
    // Decoding many lines at once is several times faster; a newline is never inside a character.
    if (last >= start) takePassage(piece.toString("utf8", start, last));
    if (last + 1 < piece.length) hold(Buffer.from(piece.subarray(last + 1)));
  };

  return {
    push(chunk) {
      const pieceBytes = Math.min(PIECE_BYTES, lineBytesMax);
      for (let at = 0; at < chunk.length; at += pieceBytes) pushPiece(chunk.subarray(at, at + pieceBytes));
    },
    end() {
      if (heldBytes > 0) release();
    },
  };
}

/** The end of what a command printed, on both its outputs, as they came. */
interface OutputTail {
  readonly take: (chunk: Buffer) => void;
  /** The last lines as plain text, secrets hidden by `redact`. */
  readonly text: (redact: (text: string) => string) => string;
}

const LINES_KEPT = 200;
const BYTES_SHOWN = 16_384;
/** More than is shown: hiding a secret needs all of it. */
const BYTES_KEPT = 4 * BYTES_SHOWN;

export function createOutputTail(): OutputTail {
  let kept: Buffer = Buffer.alloc(0);
  let isCut = false;
  return {
    take(chunk) {
      isCut ||= kept.length + chunk.length > BYTES_KEPT;
      kept = Buffer.concat([kept, chunk]).subarray(-BYTES_KEPT);
    },
    text(redact) {
      const all = kept.toString("utf8");
      return lastLines(redact(plain(isCut ? all.slice(all.indexOf("\n") + 1) : all)));
    },
  };
}

/** As a person would see it: no colours, and of a line that was rewritten only the last version. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .join("\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

function lastLines(text: string): string {
  const end = Buffer.from(text.trimEnd().split("\n").slice(-LINES_KEPT).join("\n"));
  if (end.length <= BYTES_SHOWN) return end.toString("utf8");
  const cut = end.subarray(-BYTES_SHOWN).toString("utf8");
  return cut.slice(cut.indexOf("\n") + 1).replace(/^\uFFFD+/, "");
}
