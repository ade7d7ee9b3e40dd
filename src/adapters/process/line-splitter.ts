import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { withoutReturn } from "../../core/words/read-passage.ts";
import { afterPendingInput } from "./idle-watch.ts";

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

const LINES_KEPT = 200;
const BYTES_SHOWN = 16_384;
/** More than is shown: hiding a secret needs all of it. */
const BYTES_KEPT = 4 * BYTES_SHOWN;

/** The end of what a command printed, on both its outputs, as they came. */
export function createOutputTail() {
  let kept: Buffer = Buffer.alloc(0);
  let isCut = false;
  return {
    take: (chunk: Buffer): void => {
      isCut ||= kept.length + chunk.length > BYTES_KEPT;
      kept = Buffer.concat([kept, chunk]).subarray(-BYTES_KEPT);
    },
    /** The last lines as plain text, secrets hidden by `redact`. */
    text(redact: (text: string) => string): string {
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

type Sink = (chunk: Buffer) => void | Promise<void>;

/** One output of a process on its way to a sink, never faster than the sink. */
export interface OutputPump {
  readonly stream: Readable;
  /** Resolves when the output has ended, which may be never. */
  readonly ended: Promise<void>;
  hasEnded: boolean;
  /** Chunks handed over so far. */
  chunks: number;
  /** What the sink has been given and not taken yet. */
  readonly pending: Set<Promise<void>>;
  failure: { readonly error: unknown } | null;
}

/** The sink may lag behind by so much before the process has to wait for it. */
const PENDING_BYTES_MAX = 512 * 1024;
const LOOK_MS = 25;
/**
 * So many looks in a row without a byte: counted in looks and not in time, because on a busy machine we may not
 * have been given the chance to read. Nobody of ours is left to hold the pipe, so its end usually comes at once.
 */
const QUIET_LOOKS = 40;
/** A process that exited cannot have left more than this in its pipes; only after both do we stop listening. */
const DRAIN_MAX_MS = 2_000;
const DRAIN_MAX_CHUNKS = 64;

export function pumpOutput(stream: Readable, sink: Sink, onFailure: () => void): OutputPump {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const pump: OutputPump = { stream, ended, hasEnded: false, chunks: 0, pending: new Set(), failure: null };
  let pendingBytes = 0;
  const end = (): void => {
    pump.hasEnded = true;
    resolve();
  };
  const fail = (error: unknown): void => {
    pump.failure ??= { error };
    stream.destroy();
    onFailure();
  };
  stream.on("data", (chunk: Buffer) => {
    pump.chunks += 1;
    const taken = offer(sink, chunk);
    if (taken === undefined) return;
    pendingBytes += chunk.length;
    if (pendingBytes > PENDING_BYTES_MAX) stream.pause();
    const given = taken.catch(fail).finally(() => {
      pump.pending.delete(given);
      pendingBytes -= chunk.length;
      if (pendingBytes <= PENDING_BYTES_MAX) stream.resume();
    });
    pump.pending.add(given);
  });
  stream.on("end", end).on("close", end).on("error", end);
  return pump;
}

/**
 * Takes what the outputs of a finished process still hold, to their end, then closes them. An output that does not
 * end, quiet or endless, belongs to somebody who got away.
 */
export async function drainOutputs(outputs: readonly OutputPump[]): Promise<void> {
  const allEnded = Promise.all(outputs.map(({ ended }) => ended));
  const isWaiting = (): boolean => outputs.some(({ pending }) => pending.size > 0);
  const countChunks = (): number => outputs.reduce((sum, { chunks }) => sum + chunks, 0);
  const deadlineMs = performance.now() + DRAIN_MAX_MS;
  const first = countChunks();
  let quietLooks = 0;
  while (!outputs.every(({ hasEnded }) => hasEnded) && quietLooks < QUIET_LOOKS) {
    const before = countChunks();
    const wasBusy = isWaiting();
    await Promise.race([allEnded, quietMoment()]);
    quietLooks = wasBusy || isWaiting() || countChunks() > before ? 0 : quietLooks + 1;
    if (countChunks() > first + DRAIN_MAX_CHUNKS && performance.now() > deadlineMs) break;
  }
  for (const { stream } of outputs) stream.destroy();
  await Promise.all(outputs.flatMap(({ pending }) => [...pending]));
}

async function quietMoment(): Promise<void> {
  await sleep(LOOK_MS);
  await new Promise<void>((resolve) => afterPendingInput(resolve));
}

function offer(sink: Sink, chunk: Buffer): Promise<void> | undefined {
  try {
    return sink(chunk) ?? undefined;
  } catch (error) {
    return Promise.reject(error);
  }
}
