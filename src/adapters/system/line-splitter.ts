export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Hands over what came after the last newline. */
  end(): void;
  /** Bytes left out because their line was too long. */
  droppedBytes(): number;
}

const LINE_BYTES_MAX = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const PIECES_HELD_MAX = 256;
const NEWLINE = 10;

/**
 * Cuts bytes into lines of text, in constant memory: the rest of a line that is too long is dropped and counted.
 * Bytes that are no UTF-8 become replacement characters.
 */
export function createLineSplitter(
  onLine: (line: string) => void,
  lineBytesMax = LINE_BYTES_MAX,
): LineSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let droppedBytes = 0;

  const hold = (bytes: Buffer): void => {
    const kept = bytes.subarray(0, lineBytesMax - heldBytes);
    droppedBytes += bytes.length - kept.length;
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
  const pushPiece = (piece: Buffer): void => {
    const first = piece.indexOf(NEWLINE);
    if (first < 0) return hold(piece);
    hold(piece.subarray(0, first));
    release();
    const last = piece.lastIndexOf(NEWLINE);
    // Decoding many lines at once is several times faster; a newline is never inside a character.
    if (last > first)
      for (const line of piece.toString("utf8", first + 1, last).split("\n")) onLine(withoutReturn(line));
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
    droppedBytes: () => droppedBytes,
  };
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
