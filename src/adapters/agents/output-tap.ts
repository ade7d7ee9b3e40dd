import { createRedactor, KEY_BLOCK_LENGTH_MAX, openKeyBlock } from "../../core/redact.ts";
import { createLineSplitter, type LineSplitter } from "../process/line-splitter.ts";
import type { TextPiece } from "../../core/streams/stream-format.ts";
import type { AgentReader } from "./agent-adapter.ts";

interface OutputTapOptions {
  readonly secrets: readonly string[];
  readonly reader: AgentReader;
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly show: ((text: string) => void) | undefined;
}

/** Sends output to the signal reader, the transcript and whoever watches; secrets are taken out before. */
export function createOutputTap({ secrets, reader, write, show }: OutputTapOptions) {
  let bytes = 0;
  const showRaw = reader.showsItself === true ? undefined : show;
  const { lineBytesMax, stdoutPassage: onPassage } = reader;
  const words = createLineSplitter((line) => reader.stdoutLine(line), { lineBytesMax, onPassage });
  const pieces = reader.pieceIn && createPieceJoiner(reader.pieceIn, createRedactor(secrets));
  const stdout = createBranch(words, secrets, write, showRaw, pieces);
  const errors = createLineSplitter((line) => reader.stderrLine(line));
  const stderr = createBranch(errors, secrets, write, show);
  return {
    stdout: (chunk: Buffer) => {
      bytes += chunk.length;
      return stdout.push(chunk);
    },
    stderr: (chunk: Buffer) => {
      bytes += chunk.length;
      return stderr.push(chunk);
    },
    /** Lets go of what was held back, and adds a line of our own, which is none of the agent's words. */
    async end(note: string | null = null): Promise<void> {
      await stdout.end();
      await stderr.end();
      if (note === null) return;
      const line = `\nralph: ${createRedactor(secrets)(note)}\n`;
      show?.(line);
      await write(Buffer.from(line));
    },
    bytes: () => bytes,
  };
}

function createBranch(
  lines: LineSplitter,
  secrets: readonly string[],
  write: OutputTapOptions["write"],
  show: OutputTapOptions["show"],
  pieces?: ReturnType<typeof createPieceJoiner>,
) {
  const redacting = createRedactingStream(secrets);
  const decoder = new TextDecoder();
  return {
    push(chunk: Buffer): Promise<void> | void {
      const parts = redacting.push(chunk).map((part) => pieces?.push(part) ?? part);
      const written = parts.map((clean) => {
        lines.push(clean);
        show?.(decoder.decode(clean, { stream: true }));
        return write(clean);
      });
      // Each of them may fail, and a failure that nobody waits for would end the program and leave the agent.
      return written.length < 2 ? written[0] : Promise.all(written).then(() => {});
    },
    async end(): Promise<void> {
      const rest = redacting.end();
      const clean = pieces === undefined ? rest : Buffer.concat([pieces.push(rest), pieces.end()]);
      lines.push(clean);
      lines.end();
      show?.(decoder.decode(clean));
      if (clean.length > 0) await write(clean);
    },
  };
}

interface HeldPiece {
  readonly bytes: Buffer;
  readonly piece: TextPiece;
}

/** Takes secrets out of texts that a stream tells piece by piece; a piece waits until its line of the text ends. */
function createPieceJoiner(find: (line: string) => TextPiece | null, redact: Redact) {
  let line = NOTHING;
  let held: readonly HeldPiece[] = [];
  const release = (from = 0): readonly Buffer[] => {
    const clean = withoutSecrets(held, redact);
    held = from === 0 ? [] : clean.slice(from);
    return (from === 0 ? clean : clean.slice(0, from)).map(({ bytes }) => bytes);
  };
  const take = (bytes: Buffer): readonly Buffer[] => {
    const piece = bytes.length > LINE_HELD_BYTES ? null : find(bytes.toString());
    if (piece === null) return [...release(), bytes];
    const before = held.length > 0 && held[0]?.piece.of !== piece.of ? release() : [];
    held = [...held, { bytes, piece }];
    const text = joined(held);
    if (text.length > KEY_BLOCK_LENGTH_MAX) return [...before, ...release()];
    const lines = text.slice(0, text.lastIndexOf("\n") + 1);
    const isEndOfLine = piece.text.includes("\n") && openKeyBlock(lines) < 0;
    return isEndOfLine && held.length > 1 ? [...before, ...release(held.length - 1)] : before;
  };
  return {
    push(bytes: Buffer): Buffer {
      const all = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
      const out: Buffer[] = [];
      let start = 0;
      for (let end = all.indexOf(NEWLINE); end >= 0; end = all.indexOf(NEWLINE, start)) {
        out.push(...take(all.subarray(start, end + 1)));
        start = end + 1;
      }
      line = Buffer.from(all.subarray(start));
      if (line.length <= LINE_HELD_BYTES) return Buffer.concat(out);
      // So long a line has no piece.
      out.push(...release(), line);
      line = NOTHING;
      return Buffer.concat(out);
    },
    end: () => Buffer.concat([...release(), line]),
  };
}

function joined(held: readonly HeldPiece[]): string {
  return held.map(({ piece }) => piece.text).join("");
}

/** Where a secret is in several of them, the first gets the text without it, but for its last line, which may go on. */
function withoutSecrets(held: readonly HeldPiece[], redact: Redact): readonly HeldPiece[] {
  const text = joined(held);
  const clean = redact(text);
  if (clean === text) return held;
  const cut = held.length === 1 ? clean.length : clean.lastIndexOf("\n") + 1;
  return held.map(({ piece }, index) => {
    const part = index === 0 ? clean.slice(0, cut) : index === held.length - 1 ? clean.slice(cut) : "";
    const bytes = Buffer.from(`${piece.lineWith(part)}\n`);
    return { bytes, piece: { ...piece, text: part } };
  });
}

/** The longest unfinished line that is held back whole. */
const LINE_HELD_BYTES = 64 * 1024;
/** Of a longer one so much is held back: longer than any token. */
const TAIL_HELD_BYTES = 16 * 1024;
const CUT_STEP_BYTES = 512;
const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/** Takes bytes as they come and gives them back without secrets; what holds none passes byte for byte. */
export function createRedactingStream(secrets: readonly string[]) {
  // Every byte is read as one character and comes back as it was; the redactor knows secrets in this form as well.
  const redact = createRedactor(secrets);
  const longest = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)));
  const tailBytes = Math.max(TAIL_HELD_BYTES, 2 * longest);
  let held: Buffer = NOTHING;
  const take = (more: Buffer): Buffer => {
    const bytes = held.length === 0 ? more : Buffer.concat([held, more]);
    const lineStart = bytes.lastIndexOf(NEWLINE) + 1;
    const isLong = bytes.length - lineStart > Math.max(LINE_HELD_BYTES, 2 * tailBytes);
    const text = bytes.toString("latin1", 0, isLong ? bytes.length : lineStart);
    const cut = isLong ? findCutInLine(text, tailBytes, redact) : findCut(text);
    held = cut === bytes.length ? NOTHING : Buffer.from(bytes.subarray(cut));
    return redactBytes(bytes.subarray(0, cut), text.slice(0, cut), redact);
  };
  return {
    /** What can be given out now: mostly up to the last newline, since no secret goes on after one. */
    push(chunk: Buffer): readonly Buffer[] {
      // The end of a line that waits goes first, so that all the rest need not be copied.
      const lineEnd = held.length === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
      const parts = lineEnd === 0 ? [chunk] : [chunk.subarray(0, lineEnd), chunk.subarray(lineEnd)];
      return parts.map(take).filter((part) => part.length > 0);
    },
    /** The rest. */
    end(): Buffer {
      const rest = redactBytes(held, held.toString("latin1"), redact);
      held = NOTHING;
      return rest;
    },
  };
}

type Redact = (text: string) => string;

function redactBytes(bytes: Buffer, text: string, redact: Redact): Buffer {
  const clean = redact(text);
  return clean === text ? bytes : Buffer.from(clean, "latin1");
}

/** How much of whole lines can go without cutting a secret in two. */
function findCut(text: string): number {
  const open = openKeyBlock(text);
  return open >= 0 && text.length - open < KEY_BLOCK_LENGTH_MAX ? open : text.length;
}

function findCutInLine(text: string, tailBytes: number, redact: Redact): number {
  const clean = redact(text);
  const latest = text.length - tailBytes;
  if (clean === text) return latest;
  for (let cut = latest; cut > 0 && cut > latest - tailBytes; cut -= CUT_STEP_BYTES) {
    if (redact(text.slice(0, cut)) + redact(text.slice(cut)) === clean) return cut;
  }
  return text.length; // one endless token: no cut is right, and this one keeps memory bounded
}
